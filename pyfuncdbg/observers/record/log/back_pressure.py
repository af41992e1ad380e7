"""Back-pressure: a calling thread waits for the writer while memory is short and the writer makes progress.

One per queue. Threads of calls wait; the writer, on whatever thread it works, reports each batch that it has written.
"""
from __future__ import annotations

import _thread
import contextlib
import threading
import time
from collections.abc import Callable

from pyfuncdbg.hooks.locks import new_rlock

PATIENCE = 5.0
"""Seconds without progress of the writer after which nothing waits for it any more: a disk that hangs must not hang the
program."""

_SLICE = 0.1


class WakeEvent:
    """Wakes one thread. A signal handler or a finalizer may set it within `set`: in an `Event` that waits for itself."""

    __slots__ = ('_asleep',)

    def __init__(self) -> None:
        self._asleep = _thread.allocate_lock()
        self._asleep.acquire()

    def is_set(self) -> bool:
        """Whether the thread is to wake, or has just done so.

        Returns:
            False once `wait` has returned.
        """
        return not self._asleep.locked()

    def set(self) -> None:
        """Wake it, or let its next `wait` return at once."""
        with contextlib.suppress(RuntimeError):             # set already
            self._asleep.release()

    def wait(self, seconds: float) -> None:
        """Wait until it is set; from then on it is not set.

        Args:
            seconds: At most so long.
        """
        self._asleep.acquire(timeout=seconds)


class BackPressure:
    """Waiting for one writer.

    Attributes:
        busy: Whether the writer has something to write on another thread than the caller's; else waiting is useless.
        progress: A number that grows with each piece written, also in the middle of a batch.
        stalled: It made no progress for `PATIENCE`; until it has written something nothing waits again.
        wake: Tells the writer's thread that there is work.
    """

    __slots__ = ('_written', 'busy', 'progress', 'stalled', 'wake')

    def __init__(self) -> None:
        self.busy: Callable[[], bool] = bool
        self.progress: Callable[[], int] = int
        self.stalled = False
        self.wake = WakeEvent()
        self._written = threading.Condition(new_rlock())

    def report_written(self) -> None:
        """A batch is written and its memory given back."""
        with self._written:
            self.stalled = False
            self._written.notify_all()

    def wait_for(self, condition: Callable[[], bool]) -> bool:
        """Wait until a condition is true.

        Args:
            condition: Tested before and after each batch is written.

        Returns:
            False if the writer has nothing left to write, or stalls.
        """
        is_met = False
        end = time.monotonic() + 2 * PATIENCE   # writing may free nothing: running calls may hold the memory

        def attempt(seconds: float) -> bool:
            nonlocal is_met
            with self._written:
                is_met = condition()
                if is_met or not self.busy() or time.monotonic() > end:
                    return True
                self.wake.set()
                self._written.wait(seconds)
                is_met = condition()
            return is_met
        self.retry_until_stalled(attempt)
        return is_met

    def retry_until_stalled(self, attempt: Callable[[float], bool], *, despite_stall: bool = False) -> bool:
        """Repeat an attempt until it succeeds or the writer stalls.

        Slices without progress are counted, not seconds: a program that was stopped for a minute has not waited for one.

        Args:
            attempt: Waits for so many seconds at most; whether it succeeded.
            despite_stall: Wait also where others have given up.

        Returns:
            False if the writer stalls.
        """
        progress, idle = self.progress(), 0
        while not attempt(_SLICE if despite_stall or not self.stalled else 0):
            if self.stalled and not despite_stall:
                return False
            now = self.progress()
            idle = idle + 1 if now == progress else 0
            progress = now
            if idle * _SLICE >= PATIENCE:
                self.stalled = True
                return False
        return True
