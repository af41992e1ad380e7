# cython: annotation_typing=False, auto_pickle=False
"""Memory for what waits to be written: a bounded allowance, and buffers that stay warm.

Used by the threads of the calls (take) and by the writer thread (give). Copying into pages that were never touched is 20
to 130 times slower than into used ones, so large copies go into buffers that return here. The pool's lock is re-entrant, for
a signal handler or a finalizer may run a recorded call while its thread holds it. Compiled by `snapshot_memory.pxd`.
"""
from __future__ import annotations

from collections import deque

import numpy as np

from pyfuncdbg.hooks.locks import new_rlock


class Allowance:
    """Bytes that may wait in memory; `take` refuses beyond the limit, it never waits.

    No lock: CPython lets another thread run, or a signal handler, where a function begins or a loop repeats, and here is
    neither. With one it was a tenth of what a recorded call costs.
    """

    __slots__ = ('limit', 'used')

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def take(self, size: int) -> bool:
        """Reserve bytes.

        Args:
            size: How many.

        Returns:
            False, and nothing reserved, if they do not fit.
        """
        if self.used + size > self.limit:
            return False
        self.used += size
        return True

    def give(self, size: int) -> None:
        """Return reserved bytes.

        Args:
            size: How many.
        """
        self.used -= size


class BufferPool:
    """Warm byte buffers in sizes of powers of two; at most `idle_limit` bytes lie unused."""

    __slots__ = ('_free', '_idle', '_lock', 'idle_limit')

    def __init__(self, idle_limit: int = 32 << 20) -> None:
        self.idle_limit = idle_limit
        self._idle = 0
        self._free: dict[int, deque[np.ndarray]] = {}
        self._lock = new_rlock()

    def take(self, size: int) -> np.ndarray:
        """Take a buffer.

        Args:
            size: How many bytes it must have.

        Returns:
            A uint8 array of at least `size` bytes, contents undefined.
        """
        bucket = 1 << max(size - 1, 1).bit_length()
        with self._lock:
            free = self._free.get(bucket)
            if free:
                self._idle -= bucket
                return free.pop()
        return np.empty(bucket, np.uint8)

    def give(self, buffer: np.ndarray) -> None:
        """Put a buffer back; freed instead if enough are unused.

        Args:
            buffer: From `take`.
        """
        with self._lock:
            if self._idle + buffer.size <= self.idle_limit:
                self._idle += buffer.size
                self._free.setdefault(buffer.size, deque()).append(buffer)

    def clear(self) -> None:
        """Free what lies unused, and from now on what is put back."""
        with self._lock:
            self.idle_limit = self._idle = 0
            self._free.clear()
