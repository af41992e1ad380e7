"""Read window of a file: large pieces while all of it is read, small ones behind a gap.

Used by `LogReader`, one thread at a time. The file is not mapped into memory: its writer may cut off a record that had no
room, and a page of a mapping that is no longer there kills the process that reads it.
"""
from __future__ import annotations

import os

_SMALLEST = 4096
_LARGEST = 1 << 20


class ReadWindow:
    """The part of a file that was read last.

    Args:
        descriptor: Of the file.
    """

    __slots__ = ('_data', '_descriptor', '_size', '_start')

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start, self._data, self._size = 0, b'', _SMALLEST

    def read(self, position: int, length: int) -> bytes:
        """Read bytes.

        Args:
            position: Of the first.
            length: How many.

        Returns:
            The bytes; fewer at the end of the file.
        """
        at = position - self._start
        if not 0 <= at <= at + length <= len(self._data):
            follows = 0 <= at <= len(self._data)
            self._size = min(2 * self._size, _LARGEST) if follows else _SMALLEST
            rest = self._data[at:] if follows else b''
            self._data = rest + os.pread(self._descriptor, max(self._size, length - len(rest)), position + len(rest))
            self._start, at = position, 0
        return self._data[at:at + length]
