"""Bare thread: one of ours, which `threading` does not list, so that the program does not see it.

Ended before the program forks: Python 3.12 warns of a process of several threads that does.
"""
from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable


class BareThread:
    """One thread.

    Attributes:
        ident: `threading.get_ident()` of it; 0 before it has started.
    """

    __slots__ = ('_done', '_native', 'ident')

    def __init__(self) -> None:
        self.ident = self._native = 0
        self._done = _thread.allocate_lock()
        self._done.acquire()

    def start(self, work: Callable[[], None]) -> None:
        """Do the work on it.

        Args:
            work: What it does.

        Raises:
            RuntimeError: No thread can start: the interpreter is ending.
        """
        self.ident = _thread.start_new_thread(self._run, (work,))

    def _run(self, work: Callable[[], None]) -> None:
        self._native = threading.get_native_id()
        try:
            work()
        finally:
            self._done.release()

    def wait(self, seconds: float) -> None:
        """Wait until the system has the thread no more, as far as it says so: Python 3.12 counts it at a fork.

        Args:
            seconds: To wait at most.
        """
        end = time.monotonic() + seconds
        if self._done.acquire(timeout=seconds):
            while time.monotonic() < end and os.path.exists(f'/proc/self/task/{self._native}'):
                time.sleep(0.0001)
