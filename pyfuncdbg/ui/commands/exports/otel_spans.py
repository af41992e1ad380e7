"""Calls as OpenTelemetry spans: OTLP as lines of JSON, which collectors read with the `otlpjsonfile` receiver.

The program is the root span, below it are runs, below them calls. Ids are made of the trace's own facts, so that two exports
of it have the same.

Source: OpenTelemetry Protocol File Exporter and the JSON encoding of OTLP 1.x (ids in hexadecimal, 64-bit integers as
strings); Semantic Conventions for exceptions and code attributes.
"""
from __future__ import annotations

import hashlib
import json
from typing import IO, Any

from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, RunRecord, TensorRecord
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls, has_bad_values, plain_text, status

_LINE = 500
"""Spans of a line."""
_INTERNAL, _ERROR = 1, 2
"""SpanKind and StatusCode."""


def write_otel_spans(calls: ExportedCalls, file: IO[str]) -> int:
    """Write lines of `TracesData`.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many calls were written.
    """
    spans = _SpanFile(calls, file)
    spans.write_programs()
    count = 0
    for call in calls:
        spans.add(call.process, spans.of_call(call))
        count += 1
    spans.flush()
    return count


class _SpanFile:
    """The spans of a trace; a line holds those of one process."""

    def __init__(self, calls: ExportedCalls, file: IO[str]) -> None:
        self._file = file
        self._calls = calls
        self._info = calls.trace.info()
        facts = [self._info.started, self._info.host_name, self._info.argv, self._info.processes]
        self._trace = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
        self._runs = {(run.process, run.id) for run in calls.runs()}
        self._waiting: dict[int, list[dict[str, Any]]] = {}

    def write_programs(self) -> None:
        """A root span for each process, and one for each run."""
        whole = self._calls.chosen is None
        for process in range(1, len(self._info.processes) + 1) if whole else ():
            name = ' '.join(self._info.argv) or 'python'
            self.add(process, self._span(f'process {process}', '', name, 0.0, self._info.duration, []))
        for run in self._calls.runs():
            self.add(run.process, self._of_run(run))

    def add(self, process: int, span: dict[str, Any]) -> None:
        """One more span; those of a process are written when a line is full."""
        waiting = self._waiting.setdefault(process, [])
        waiting.append(span)
        if len(waiting) >= _LINE:
            self._write(process)

    def flush(self) -> None:
        """Write what is left."""
        for process in list(self._waiting):
            self._write(process)

    def of_call(self, call: CallRecord) -> dict[str, Any]:
        """The span of a call, in the call, run or program that made it."""
        parent = f'call {call.parent}' if call.parent else (
            f'run {call.process}.{call.run}' if (call.process, call.run) in self._runs else f'process {call.process}')
        attributes = [
            _attribute('thread.id', call.thread), _attribute('pyfuncdbg.call', call.number),
            _attribute('pyfuncdbg.kind', call.site.kind), _attribute('pyfuncdbg.op_type', call.site.op_type),
            _attribute('pyfuncdbg.run', call.run), _attribute('pyfuncdbg.status', status(call)),
            _attribute('pyfuncdbg.inputs', [_type_of(tensor) for tensor in call.inputs]),
            _attribute('pyfuncdbg.outputs', [_type_of(tensor) for tensor in call.outputs]),
            _attribute('pyfuncdbg.bad_elements', sum(tensor.stats.bad for tensor in (*call.inputs, *call.outputs)
                                                     if has_bad_values(tensor) and tensor.stats is not None))]
        if call.site.function:
            attributes += [_attribute('code.function.name', call.site.function),
                           _attribute('code.file.path', call.site.filename), _attribute('code.line.number', call.site.line)]
        span = self._span(f'call {call.number}', parent if self._calls.chosen is None else '', call.label, call.started,
                          call.duration, attributes)
        events = [self._event(call.started + one.offset, one.kind, [_attribute('text', one.text)]) for one in call.output]
        if call.forward:
            span['links'] = [{'traceId': self._trace, 'spanId': self._id(f'call {call.forward}'),
                              'attributes': [_attribute('pyfuncdbg.link', 'gradient of')]}]
        return self._failed(span, call.started + (call.duration or 0.0), call.error, events)

    def _of_run(self, run: RunRecord) -> dict[str, Any]:
        span = self._span(f'run {run.process}.{run.id}', f'process {run.process}', f'{run.label} #{run.id}', run.started,
                          run.duration, [_attribute('pyfuncdbg.run', run.id)])
        return self._failed(span, run.started + (run.duration or 0.0), run.error, [])

    def _failed(self, span: dict[str, Any], end: float, error: ErrorRecord | None,
                events: list[dict[str, Any]]) -> dict[str, Any]:
        """The span with its events, the last of them the exception."""
        if error is not None:
            events.append(self._event(end, 'exception', [
                _attribute('exception.type', error.type), _attribute('exception.message', error.message),
                _attribute('exception.stacktrace', error.traceback)]))
            span['status'] = {'code': _ERROR, 'message': plain_text(f'{error.type}: {error.message}')}
        return {**span, 'events': events} if events else span

    def _span(self, key: str, parent: str, name: str, started: float, duration: float | None,
              attributes: list[dict[str, Any]]) -> dict[str, Any]:
        if duration is None:
            attributes.append(_attribute('pyfuncdbg.unfinished', True))
        return {'traceId': self._trace, 'spanId': self._id(key), 'parentSpanId': self._id(parent) if parent else '',
                'name': plain_text(name), 'kind': _INTERNAL, 'startTimeUnixNano': self._time(started),
                'endTimeUnixNano': self._time(started + (duration or 0.0)), 'attributes': attributes}

    def _event(self, at: float, name: str, attributes: list[dict[str, Any]]) -> dict[str, Any]:
        return {'timeUnixNano': self._time(at), 'name': name, 'attributes': attributes}

    def _time(self, seconds: float) -> str:
        """Nanoseconds since 1970; a damaged trace may have any times."""
        return str(max(0, round(self._info.started * 1e9) + round(min(max(seconds, 0.0), 1e9) * 1e9)))

    def _id(self, key: str) -> str:
        return hashlib.sha256(f'{self._trace} {key}'.encode()).hexdigest()[:16]

    def _write(self, process: int) -> None:
        pids = self._info.processes
        resource = [_attribute('service.name', (self._info.argv or ('python',))[0]),
                    _attribute('process.command_args', list(self._info.argv)), _attribute('host.name', self._info.host_name),
                    _attribute('process.runtime.name', 'python'), _attribute('process.runtime.version', self._info.python),
                    *([_attribute('process.pid', pids[process - 1])] if process <= len(pids) else [])]
        spans = self._waiting.pop(process)
        data = {'resourceSpans': [{'resource': {'attributes': resource},
                                   'scopeSpans': [{'scope': {'name': 'pyfuncdbg'}, 'spans': spans}]}]}
        self._file.write(json.dumps(data) + '\n')


def _attribute(key: str, value: str | int | bool | list[str]) -> dict[str, Any]:
    return {'key': key, 'value': _value(value)}


def _value(value: str | int | bool | list[str]) -> dict[str, Any]:
    """OTLP's `AnyValue`."""
    if isinstance(value, list):
        return {'arrayValue': {'values': list(map(_value, value))}}
    if isinstance(value, bool):
        return {'boolValue': value}
    return {'intValue': str(value)} if isinstance(value, int) else {'stringValue': plain_text(value)}


def _type_of(tensor: TensorRecord) -> str:
    return f'{tensor.name or "tensor"} {tensor.dtype}{list(tensor.shape)}'
