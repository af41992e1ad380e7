"""Failures of DataLoader workers as the main process meets them: an exception of theirs, or the end of a process.

On the thread that takes a batch. The exception itself is another process's: PyTorch sends its type and traceback as text.
"""
from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import Fact

CAUGHT = re.compile(r'Caught (\w+) in DataLoader worker process (\d+)\.')
"""The first line of an error that PyTorch makes of a worker's; the worker's traceback follows."""
ENDED = re.compile(r'DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\) (?:is killed by signal: ([^.]+)|exited)')
"""The error for a process that is gone: by a signal, if C++ has noticed, else seen when a batch did not come."""
_FRAME = re.compile(r'^  File "(.*)", line (\d+), in (.*)$')
_MOST, _LONGEST = 256, 300


class _Error(NamedTuple):
    """An exception of a worker, as the program gets it; attributes are those of the fact."""

    filename: str
    line: int
    worker: int
    type: str
    surfaced: str
    message: str
    function: str
    batch: int
    items: str


class _Death(NamedTuple):
    """The end of a worker process; attributes are those of the fact."""

    filename: str
    line: int
    pid: int
    worker: int
    signal: str
    code: int
    message: str


class WorkerFailures:
    """The failures of one process's workers, each once."""

    def __init__(self) -> None:
        self._errors: dict[_Error, int] = {}
        self._deaths: dict[_Death, int] = {}

    def note(self, error: BaseException, line: Frame, processes: Mapping[int, tuple[int, Any]], batch: int,
             items: str) -> None:
        """Note an exception that came instead of a batch, if it is about a worker.

        Args:
            error: The exception.
            line: The program's line that takes the batch.
            processes: Number of the worker and the process, by pid.
            batch: Number of the batch, from 0; -1 if unknown.
            items: Which items it is of, '' if unknown.
        """
        try:
            text = str(error)
        except Exception:                       # the program's own `__str__`
            return
        if (caught := CAUGHT.match(text)) is not None:
            message, function = _last_error(text, caught[1])
            self._count(self._errors, _Error(line.filename, line.line, int(caught[2]), caught[1], type(error).__name__,
                                             message, function, batch, items))
        elif (ended := ENDED.search(text)) is not None:
            for pid in map(int, re.findall(r'\d+', ended[1])):
                worker, process = processes.get(pid, (-1, None))
                code = _exit_code(pid, process)
                name = signal_name(ended[2] or '') if code >= 0 else signal.Signals(-code).name
                self._count(self._deaths, _Death(line.filename, line.line, pid, worker, name, max(code, 0),
                                                 text.splitlines()[0][:_LONGEST]))

    def facts(self) -> Iterator[Fact]:
        """All failures so far."""
        for error, count in list(self._errors.items()):
            yield Fact('torch worker error', 0, error.filename, error.line,
                       {**dict(zip(error._fields[2:], error[2:], strict=True)), 'count': count})
        for death, count in list(self._deaths.items()):
            yield Fact('torch worker death', 0, death.filename, death.line,
                       {**dict(zip(death._fields[2:], death[2:], strict=True)), 'count': count})

    @staticmethod
    def _count(counts: dict[Any, int], failure: NamedTuple) -> None:
        if failure in counts or len(counts) < _MOST:
            counts[failure] = counts.get(failure, 0) + 1


def _last_error(text: str, error_type: str) -> tuple[str, str]:
    """Message of the exception below the last traceback of a text, and the innermost function of that traceback."""
    lines = text.splitlines()
    frames = [(at, match) for at, line in enumerate(lines) if (match := _FRAME.match(line)) is not None]
    last, function = (frames[-1][0], frames[-1][1][3]) if frames else (0, '')
    name = re.compile(rf'(?:[\w.]*\.)?{re.escape(error_type)}(?:: (.*))?$')
    named = [match[1] or '' for line in lines[last:] if (match := name.match(line)) is not None]
    return (named[0] if named else '')[:_LONGEST], function[:_LONGEST]


def _exit_code(pid: int, process: Any) -> int:
    """The exit code of a process that has ended, negative for a signal; 0 if unknown. It is left for PyTorch to reap."""
    code = getattr(getattr(process, '_popen', None), 'returncode', None)
    if isinstance(code, int):
        return code
    with contextlib.suppress(OSError, AttributeError):      # not our child: the fork server's; no waitid: Windows
        state = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if state is not None:
            return int(state.si_status if state.si_code == os.CLD_EXITED else -state.si_status)
    return 0


def signal_name(description: str) -> str:
    """The name of a signal that C describes as 'Bus error': 'SIGBUS'; the description itself if it is unknown."""
    return next((one.name for one in signal.Signals if signal.strsignal(one) == description.strip()), description.strip())
