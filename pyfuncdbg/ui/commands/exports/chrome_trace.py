"""Timeline for Perfetto and chrome://tracing: calls and runs by process and thread, arrows from calls to their gradients.

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


class _EventFile:
    """The events of a trace, one a line."""

    def __init__(self, calls: ExportedCalls, file: IO[str]) -> None:
        self._calls = calls
        self._file = file
        self._info = calls.trace.info()
        self._pids = dict(enumerate(self._info.processes, 1))
        self._named_threads: set[tuple[int, int]] = set()
        self._open: dict[tuple[int, int], list[_OpenCall]] = {}
        self._run_ends: dict[tuple[int, int], float] = {}
        self._separator = ''

    def begin(self, call: CallRecord) -> None:
        """A call, in order of the starts: what it is not in has ended on its thread."""
        stack = self._open.setdefault((call.process, call.thread), [])
        while stack and stack[-1].call.number != call.parent:
            self._end(stack)
        stack.append(_OpenCall(call))

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
            common = {'cat': 'run', 'name': f'{run.label} #{run.id}', 'id': run.id, 'pid': pid, 'tid': 0}
            self._write({**common, 'ph': 'b', 'ts': run.started * 1e6})
            self._write({**common, 'ph': 'e', 'ts': end * 1e6})

    def _end(self, stack: list[_OpenCall]) -> None:
        ended = stack.pop()
        call, pid = ended.call, self._pids.get(ended.call.process, ended.call.process)
        if stack:
            stack[-1].end = max(stack[-1].end, ended.end)
        run = call.process, call.run
        self._run_ends[run] = max(self._run_ends.get(run, 0.0), ended.end)
        self._name_thread(pid, call.thread)
        how = status(call)
        event = {'ph': 'X', 'cat': call.site.kind, 'name': call.label, 'pid': pid, 'tid': call.thread,
                 'ts': call.started * 1e6, 'dur': (ended.end - call.started) * 1e6, 'args': _arguments(call, how)}
        self._write({**event, 'cname': _COLORS[how]} if how in _COLORS else event)
        if call.forward and self._calls.chosen is None:
            with contextlib.suppress(CommandError):         # the forward call was not recorded
                self._write_arrow(self._calls.trace.call(call.forward), call, pid)

    def _write_arrow(self, forward: CallRecord, gradient: CallRecord, pid: int) -> None:
        common = {'cat': 'gradient', 'name': 'gradient', 'id': gradient.number}
        self._write({**common, 'ph': 's', 'pid': self._pids.get(forward.process, forward.process), 'tid': forward.thread,
                     'ts': forward.started * 1e6})
        self._write({**common, 'ph': 'f', 'bp': 'e', 'pid': pid, 'tid': gradient.thread, 'ts': gradient.started * 1e6})

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
