"""What `%pyfunc` commands are about: the newest recording of this session, or a trace that was opened.

Asked on the main thread, cell by cell.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.commands.command import Context
from pyfuncdbg.debug.debugger import Debugger, debugger
from pyfuncdbg.errors import CommandError
from pyfuncdbg.record.recorder import Recorder, recorders
from pyfuncdbg.record.records import SiteRecord
from pyfuncdbg.record.trace import Trace


class Subject:
    """Finds the trace that a command looks at."""

    def __init__(self) -> None:
        self._recorder: Recorder | None = None  # whose trace is open
        self._trace: Trace | None = None
        self._chosen = False                    # by the user: `open`

    def context(self, width: int) -> Context:
        """What a command acts on now."""
        program: Debugger | None = None if self._chosen else debugger
        return Context(self._current(), None, width, program)

    def _current(self) -> Any:
        if self._chosen:
            return self._trace
        on = recorders()
        if on and on[-1] is not self._recorder:
            on[-1].flush()
            self._show(Trace.open(on[-1].path))
            self._recorder = on[-1]
        if self._trace is None:
            return Nothing()
        if self._recorder is not None:
            self._recorder.flush()
            self._trace.refresh()
        return self._trace

    def _show(self, trace: Trace | None) -> None:
        before, self._trace = self._trace, trace
        self._recorder = None
        if before is not None:
            before.close()


class Nothing:
    """The trace of a session that has not recorded yet: it knows no site, and to other questions says how to begin."""

    def sites(self) -> list[SiteRecord]:
        return []

    def __getattr__(self, name: str) -> Any:
        raise CommandError("nothing is recorded yet: '%%pyfunc' above a cell records it, '%pyfunc on' records every cell, "
                           "'%pyfunc open TRACE' shows a trace")
