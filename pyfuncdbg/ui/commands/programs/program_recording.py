"""Recording of a program by `pyfuncdbg run`: its trace is made before the program, its recorder when that has work.

A recorder takes longer to load than a short program to run, NumPy most of it. Called on the program's main thread, and
where it first imports a framework.
"""
from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.import_watch import ImportWatch
from pyfuncdbg.hosts import FRAMEWORKS
from pyfuncdbg.observers.record.delayed_recorder import DelayedRecorder
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.log_names import logs
from pyfuncdbg.observers.record.log.trace_folders import create_trace
from pyfuncdbg.observers.record.processes.abrupt_ends import commit_before_ends
from pyfuncdbg.observers.record.processes.followed_process import FollowedProcess, offer

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.recorder import Recorder

BUDGET = 256 << 20
_CHECKED_HERE = {'budget', 'ops'}
"""Options of a recorder that need no recorder to be checked."""


class ProgramRecording:
    """The trace of a program, and this process's part in it.

    Attributes:
        path: The folder, absolute.
        recorder: None before there is something to record.
        id: Of the trace.
    """

    def __init__(self, path: Path, command: Iterable[str], options: Mapping[str, Any], *, at_once: bool,
                 children: bool) -> None:
        """Make the trace.

        Args:
            path: Its folder.
            command: The program and its arguments.
            options: As for `Recorder`.
            at_once: Make the recorder now: a debugger or the inspector reads the trace while it grows.
            children: Follow the processes that the program starts.

        Raises:
            NoRoomError: The disk is full.
            TraceError: The trace cannot be made there, or an option is not valid.
        """
        self.recorder: Recorder | None = None
        self._options = dict(options)
        self._owner = os.getpid()
        budget = self._options.setdefault('budget', BUDGET)
        trace_folder.check_budget(budget)
        if self._options.keys() - _CHECKED_HERE:
            self._new_recorder(path)
        self.path, self._is_new = create_trace(path, 'error', budget, options=self._options)
        self.path = self.path.resolve()
        self._identity = trace_folder.identity(self.path)
        try:
            if at_once or options.get('ops'):
                self._make()
        except OSError as error:
            trace_folder.remove(self.path, self._is_new)
            raise trace_folder.cannot_record_error(self.path, error) from error
        self.id = trace_folder.read_manifest(self.path).id
        self._process: FollowedProcess = offer(
            str(self.path), self.id, [*FRAMEWORKS, __name__.partition('.')[0]],
            [name for framework in FRAMEWORKS.values() for name in framework.rank_variables], list(command), ImportWatch,
            commit_before_ends, children)
        if self.recorder is None:
            DelayedRecorder(self._begin).install()

    def _new_recorder(self, path: Path) -> Recorder:
        from pyfuncdbg.observers.record.recorder import Recorder
        return Recorder(path, **self._options)

    def _make(self, waiting: DelayedRecorder | None = None) -> Recorder:
        self.recorder = self._new_recorder(self.path).join(self._identity, is_first=os.getpid() == self._owner,
                                                           replaced=waiting)
        atexit.unregister(self.recorder.stop)       # `finish` does, after what the program itself does at its exit
        return self.recorder

    def _begin(self, waiting: DelayedRecorder) -> Recorder | None:
        """The first call, or something else to record."""
        self._process.list_ranks()
        try:
            return self._make(waiting)
        except OSError as error:                # a full disk, or the trace was removed meanwhile
            from pyfuncdbg.hooks.notice import say
            say(f'{trace_folder.cannot_record_error(self.path, error)}. The program runs unrecorded.')
            return None

    def finish(self, error: str) -> bool:
        """This process ends: close its log.

        Args:
            error: The exception that ended it, '' for none.

        Returns:
            Whether it is the one that was started, and the trace is still there, so that a report can be drawn.
        """
        gone = False
        if self.recorder is not None:
            self.recorder.stop()
            gone = self.recorder.gone
        self._process.end(error)
        return os.getpid() == self._owner and not gone

    @property
    def is_empty(self) -> bool:
        """Whether no process of the program had anything to record."""
        try:
            return self.recorder is None and not logs(self.path)
        except TraceError:
            return False
