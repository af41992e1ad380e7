"""Read window of a file: large pieces while all of it is read, small ones behind a gap.

Used by `LogReader`, one thread at a time. The file is not mapped into memory: its writer may cut off a record that had no
room, and a page of a mapping that is no longer there kills the process that reads it.
"""
from __future__ import annotations

import os

_SMALLEST = 4096
_LARGEST = 1 << 20


def read_at(descriptor: int, position: int, length: int) -> bytes:
    """Read bytes, however few the system gives at once: Linux 2 GB.

    Args:
        descriptor: Of the file.
        position: Of the first.
        length: How many.

    Returns:
        The bytes; fewer at the end of the file.

    Raises:
        OSError: They cannot be read.
    """
    data = os.pread(descriptor, length, position)
    if len(data) == length or not data:
        return data
    pieces, done = [data], len(data)
    while done < length and (data := os.pread(descriptor, length - done, position + done)):
        pieces.append(data)
        done += len(data)
    return b''.join(pieces)


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
            self._data = rest + read_at(self._descriptor, position + len(rest), max(self._size, length - len(rest)))
            self._start, at = position, 0
        return self._data[at:at + length]
