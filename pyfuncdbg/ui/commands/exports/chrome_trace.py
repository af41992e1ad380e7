"""Timeline for Perfetto and chrome://tracing: calls and runs by process and thread, with arrows between calls.

Source: Trace Event Format, Google, 2016: complete events (X), metadata (M), nestable async events (b, e) for runs, which may
overlap, and flows (s, f); times are in microseconds.
"""
from __future__ import annotations

import contextlib
import json
from typing import IO, Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls, status

_RUNS = 64
"""Runs whose tensors are remembered for arrows: of a few that overlap, out of millions."""
_GRADIENTS = 10_000
"""Gradient steps that are remembered for arrows to later ones."""
_COLORS = {'error': 'terrible', 'nan': 'bad'}
"""Names of colours that the format has."""


def write_chrome_trace(calls: ExportedCalls, file: IO[str]) -> int:
    """Write all events as one JSON object.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many calls were written.
    """
    events = _EventFile(calls, file)
    file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
    count = 0
    for call in calls:
        events.begin(call)
        count += 1
    events.end_all()
    events.write_runs()
    file.write('\n]}\n')
    return count


class _OpenCall:
    """Call in which others may still begin.

    Durations leave out what watching cost, so that its end is that of the last call in it.
    """

    def __init__(self, call: CallRecord) -> None:
        self.call = call
        self.end = call.started + (call.duration or 0.0)


class _Producers:
    """The calls that have made the tensors of the last runs, by name."""

    def __init__(self) -> None:
        self._runs: dict[tuple[int, int], dict[str, CallRecord]] = {}

    def add(self, call: CallRecord) -> None:
        """A call that has ended."""
        names = [tensor.name for tensor in call.outputs if tensor.name]
        if names:
            run = self._runs.setdefault((call.process, call.run), {})
            run.update(dict.fromkeys(names, call))
            if len(self._runs) > _RUNS:
                del self._runs[next(iter(self._runs))]

    def of_inputs(self, call: CallRecord) -> dict[str, CallRecord]:
        """The calls that made the inputs of one in the same run, by number."""
        run = self._runs.get((call.process, call.run), {})
        makers = (run.get(tensor.name) for tensor in call.inputs if tensor.name)
        return {maker.number: maker for maker in makers if maker is not None and maker.number != call.number}


class _EventFile:
    """The events of a trace, one a line."""

    def __init__(self, calls: ExportedCalls, file: IO[str]) -> None:
        self._calls = calls
        self._file = file
        self._info = calls.trace.info()
        self._pids = dict(enumerate(self._info.processes, 1))
        self._named_threads: set[tuple[int, int]] = set()
        self._open: dict[tuple[int, int], list[_OpenCall]] = {}
        self._producers = _Producers()
        self._gradients: dict[str, CallRecord] = {}
        self._run_ends: dict[tuple[int, int], float] = {}
        self._separator = ''

    def begin(self, call: CallRecord) -> None:
        """A call, in order of the starts: what it is not in has ended on its thread."""
        stack = self._open.setdefault((call.process, call.thread), [])
        while stack and stack[-1].call.number != call.parent:
            self._end(stack)
        stack.append(_OpenCall(call))
        if self._calls.chosen is None:
            self._write_arrows(call)
            self._producers.add(call)

    def end_all(self) -> None:
        """No further call begins."""
        for stack in self._open.values():
            while stack:
                self._end(stack)

    def write_runs(self) -> None:
        """The runs, which have a track of their own."""
        for run in self._calls.runs():
            pid = self._pids.get(run.process, run.process)
            end = max(run.started + (run.duration or 0.0), self._run_ends.get((run.process, run.id), 0.0))
            common = {'cat': 'run', 'name': f'{run.label} #{run.id}', 'id': f'{run.process}.{run.id}', 'pid': pid, 'tid': 0}
            self._write({**common, 'ph': 'b', 'ts': run.started * 1e6})
            self._write({**common, 'ph': 'e', 'ts': end * 1e6})

    def _end(self, stack: list[_OpenCall]) -> None:
        span = stack.pop()
        call, pid = span.call, self._pids.get(span.call.process, span.call.process)
        if stack:
            stack[-1].end = max(stack[-1].end, span.end)
        run = call.process, call.run
        self._run_ends[run] = max(self._run_ends.get(run, 0.0), span.end)
        self._name_thread(pid, call.thread)
        how = status(call)
        event = {'ph': 'X', 'cat': call.site.kind, 'name': call.label, 'pid': pid, 'tid': call.thread,
                 'ts': call.started * 1e6, 'dur': (span.end - call.started) * 1e6, 'args': _arguments(call, how)}
        self._write({**event, 'cname': _COLORS[how]} if how in _COLORS else event)

    def _write_arrows(self, call: CallRecord) -> None:
        """Arrows from the calls that made its inputs, the gradients it got, and the call that it differentiates."""
        for maker in self._producers.of_inputs(call).values():
            self._write_arrow('data', maker, call)
        for number in call.sources:
            source = self._gradients.get(number)
            if source is not None:
                self._write_arrow('backward', source, call)
        if call.site.kind == 'gradient':
            self._gradients[call.number] = call
            if len(self._gradients) > _GRADIENTS:
                del self._gradients[next(iter(self._gradients))]
        if call.forward:
            with contextlib.suppress(CommandError):         # the forward call was not recorded
                self._write_arrow('gradient', self._calls.trace.call(call.forward), call)

    def _write_arrow(self, name: str, tail: CallRecord, head: CallRecord) -> None:
        common = {'cat': name, 'name': name, 'id': f'{tail.number} {head.number}'}
        for phase, call in (({'ph': 's'}, tail), ({'ph': 'f', 'bp': 'e'}, head)):
            self._write({**common, **phase, 'pid': self._pids.get(call.process, call.process), 'tid': call.thread,
                         'ts': call.started * 1e6})

    def _name_thread(self, pid: int, thread: int) -> None:
        """The names of a process and a thread, once."""
        if not any(process == pid for process, _ in self._named_threads):
            self._write({'ph': 'M', 'name': 'process_name', 'pid': pid, 'tid': 0,
                         'args': {'name': ' '.join(self._info.argv) or 'python'}})
        if (pid, thread) not in self._named_threads:
            self._named_threads.add((pid, thread))
            self._write({'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': thread, 'args': {'name': f'thread {thread}'}})

    def _write(self, event: dict[str, Any]) -> None:
        self._file.write(self._separator + json.dumps(event))
        self._separator = ',\n'


def _arguments(call: CallRecord, how: str) -> dict[str, Any]:
    values: dict[str, Any] = {'call': f'#{call.number}', 'run': call.run, 'status': how}
    if call.site.function:
        values['function'] = f'{call.site.function} {call.site.filename}:{call.site.line}'
    for side, tensors in (('in', call.inputs), ('out', call.outputs)):
        for slot, tensor in enumerate(tensors):
            name = f'{side} {slot}' + (f' {tensor.name}' if tensor.name else '')
            values[name] = f'{tensor.dtype}{list(tensor.shape)}'
    if call.error is not None:
        values['error'] = f'{call.error.type}: {call.error.message}'
    return values
