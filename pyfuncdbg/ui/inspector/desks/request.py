"""A cancellable request to a desk, also before the desk has begun and after it has answered.

Made on the main thread of the app, which breaks it off; the desk answers it on a worker thread.
"""
from __future__ import annotations

import threading
from collections.abc import Callable


class DeskRequest:
    """A command line or a completion that a desk is asked for.

    Attributes:
        broken_off: Whether the answer is no longer wanted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._way: Callable[[], None] | None = None
        self.broken_off = False

    def break_off(self) -> None:
        """The answer is no longer wanted. Never blocks for long."""
        with self._lock:
            self.broken_off, way = True, self._way
        if way is not None:
            way()

    def under_way(self, way: Callable[[], None]) -> None:
        """It has begun, and this breaks it off: at once, where that was asked for already."""
        with self._lock:
            self._way = way
            too_late = self.broken_off
        if too_late:
            way()
