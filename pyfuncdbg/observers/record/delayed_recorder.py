"""Delayed start of a recorder, which takes longer to load than a short program to run, NumPy most of it.

A hook that makes the recorder when a host asks for the first time whether a call is wanted, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Callable

from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run
from pyfuncdbg.hooks.chain import Hook, Outputs, hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.transparent_frames import transparent

_waiting: list[DelayedRecorder] = []


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

    def install(self) -> None:
        """Wait for the first call."""
        _waiting.append(self)
        hooks.add(self)

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
