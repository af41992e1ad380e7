"""Thread that delivers ops that have waited for long: those of an execution that hangs, or of a dataset.

Started by `op_calls` where a recorder gets ops in batches. It ends by itself when none does.
"""
from __future__ import annotations

import os
import time
from collections.abc import Callable

from pyfuncdbg.hooks.bare_thread import BareThread

_PERIOD = 0.1
"""Seconds."""


class DeliveryThread:
    """One thread at most in a process.

    Args:
        deliver: Delivers what waits.
        age: Gives the seconds for which the oldest op has waited; 0 where none waits.
        is_wanted: Whether ops wait at all.
    """

    __slots__ = ('_age', '_deliver', '_is_wanted', '_process')

    def __init__(self, deliver: Callable[[], None], age: Callable[[], float], is_wanted: Callable[[], bool]) -> None:
        self._deliver = deliver
        self._age = age
        self._is_wanted = is_wanted
        self._process = 0

    def start(self) -> None:
        """Start it, if it does not run in this process."""
        process, self._process = self._process, os.getpid()
        if process != self._process:
            try:
                BareThread().start(self._work)
            except RuntimeError:                # the interpreter is ending
                self._process = 0

    def _work(self) -> None:
        while self._is_wanted():
            time.sleep(_PERIOD)
            if self._age() > _PERIOD:
                self._deliver()
        self._process = 0
