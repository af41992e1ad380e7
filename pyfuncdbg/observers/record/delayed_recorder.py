"""Delayed start of a recorder, which takes longer to load than a short program to run, NumPy most of it.

A hook that makes the recorder when a host asks for the first time whether a call is wanted, on the thread that asks.
"""
from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run
from pyfuncdbg.hooks.chain import Hook, Outputs, hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.transparent_frames import transparent

_waiting: list[DelayedRecorder] = []
_RECORDER = 'pyfuncdbg.observers.record.recorder'
_MANY = 2
"""Forks of a program that has made no call: from then on its children, which may make some, find the recorder loaded."""


class DelayedRecorder:
    """Hook that becomes a recorder with the first call.

    Args:
        make: Makes and starts it, to replace this hook; returns None where that cannot be. Called once in each process.
    """

    passive = True
    kinds: frozenset[Kind] = frozenset(('python', 'gradient', 'run'))

    def __init__(self, make: Callable[[DelayedRecorder], Hook | None]) -> None:
        self._make = make
        self._lock = new_rlock()
        self._is_waiting = True
        self._recorder: Hook | None = None
        self._forks = 0

    def install(self) -> None:
        """Wait for the first call."""
        _waiting.append(self)
        hooks.add(self)
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(after_in_parent=self._load_for_children)

    def begin(self) -> Hook | None:
        """Make the recorder, if it is not made. Other threads that have a call wait: none goes unrecorded.

        Returns:
            The recorder; None if it cannot be made.
        """
        with self._lock:
            if self._is_waiting:
                self._is_waiting = False
                _waiting.remove(self)
                self._recorder = self._make(self)
                hooks.remove(self)
            return self._recorder

    def _load_for_children(self) -> None:
        """Load the recorder where each of many children would, which takes longer than all else that recording adds there.

        Not before the fork: modules such as `logging` register for forks, and would be called for this one by half.
        """
        self._forks += 1
        if self._is_waiting and self._forks >= _MANY and 'numpy' in sys.modules and _RECORDER not in sys.modules:
            importlib.import_module(_RECORDER)

    def wants(self, site: CallSite, run: Run) -> bool:
        """There is a call: the recorder takes it.

        Args:
            site: The call's.
            run: It is part of that.

        Returns:
            True.
        """
        self.begin()
        return True

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """As `wants`, where another hook takes every call without being asked.

        Args:
            call: The call.
            proceed: Executes it.

        Returns:
            Its outputs.
        """
        recorder = self.begin()
        return proceed() if recorder is None else recorder.around(call, proceed)


def begin_all() -> None:
    """Make the recorders that wait: something else than a call is to be recorded."""
    for recorder in list(_waiting):
        recorder.begin()
