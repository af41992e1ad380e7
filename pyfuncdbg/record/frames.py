"""The framing of a log file: a header, then length-prefixed, checksummed records, appended and never changed.

Written by the recorder's writer thread, read by traces of any process. A record counts once the `write` that carried it has
returned, so a killed process leaves at most one torn record, at the end, where reading stops.
"""
from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import xxhash

from pyfuncdbg.errors import NotATraceError, TraceError, TraceVersionError

VERSION = 2
"""Version of the whole format: manifest, framing and record contents. A reader reads its own and all older ones."""

PROCESS, SITE, PLAN, RUNS, CALLS, RUNNING, BLOB, DROPPED, NOTE, END = range(1, 11)
"""Kinds of records."""

MAGIC = b'PFDLOG\r\n'
_HEADER = struct.Struct('<8sII')
_FRAME = struct.Struct('<IB3xQ')
FRAME_SIZE = _FRAME.size
HEADER_SIZE = _HEADER.size
KEY_SIZE = 16

LARGEST_RECORD = 64 << 20
"""Bytes of the largest record that is not a blob; a longer one is damage."""

_CHUNK = 1 << 20
_LONG = 64 << 10
"""Bytes from which on pieces are written from where they lie."""
_AT_ONCE = 512
"""Pieces of one `writev`; systems take 1,024."""


def newer(path: Path, version: int) -> TraceVersionError:
    """The error for what a newer version wrote."""
    return TraceVersionError(f'{path}: written by format version {version}, this pyfuncdbg reads up to {VERSION}; '
                             'install a newer pyfuncdbg')


class FoundFrame(NamedTuple):
    """One whole record. `payload` of a blob is its key only; its bytes are at `position`."""

    start: int
    kind: int
    payload: bytes
    position: int
    length: int


def frame(kind: int, *parts: bytes | memoryview) -> list[bytes | memoryview]:
    """A record as pieces to write, one after the other."""
    length = sum(map(len, parts))
    check = xxhash.xxh3_64(seed=length << 8 | kind)
    for part in parts:
        check.update(part)
    return [_FRAME.pack(length, kind, check.intdigest()), *parts]


class LogFile:
    """The end of a log that is being written. One thread at a time."""

    __slots__ = ('_fd', 'path', 'size')

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            OSError: It exists or cannot be written.
        """
        self.path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self.size = 0
        self.append([_HEADER.pack(MAGIC, VERSION, 0)])

    def append(self, pieces: list[bytes | memoryview]) -> None:
        """Write whole records; all or nothing stays in the file.

        Raises:
            OSError: The disk is full, say; the file ends where it ended before.
        """
        done = 0
        try:
            # Most are few bytes each. Those that are many are not copied together: a megabyte in fresh memory takes 0.4 ms.
            for start in range(0, len(pieces), _AT_ONCE):
                part = pieces[start:start + _AT_ONCE]
                size = sum(map(len, part))
                written = os.writev(self._fd, part) if size > _LONG else 0
                done += written
                if written < size:
                    data = memoryview(b''.join(part))
                    while written < size:
                        count = os.write(self._fd, data[written:])
                        written, done = written + count, done + count
        except BaseException:
            if done:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, self.size)
                    os.lseek(self._fd, self.size, os.SEEK_SET)
            raise
        self.size += done

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class LogReader:
    """A log file as far as it is whole. One thread at a time."""

    __slots__ = ('_fd', 'path', 'tail')

    def __init__(self, path: Path) -> None:
        """Open a log; only a regular file is touched, never a link or a pipe.

        Raises:
            NotATraceError, TraceVersionError, TraceError: It is no log, from a newer version, or unreadable.
        """
        self.path = path
        self.tail = ''
        """Why the last `frames` stopped before the end of the file, '' if it did not."""
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise TraceError(f'{path}: cannot be read: {error.strerror}') from error
        try:
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):
                raise NotATraceError(f'{path}: not a regular file')
            self._check_header()
        except TraceError:
            self.close()
            raise

    def _check_header(self) -> None:
        head = os.pread(self._fd, HEADER_SIZE, 0)
        if not head or (MAGIC.startswith(head[:8]) and len(head) < HEADER_SIZE):
            return                              # killed between creating the file and its first write
        if head[:8] != MAGIC:
            raise NotATraceError(f'{self.path}: not a log of pyfuncdbg')
        version = _HEADER.unpack(head)[1]
        if version > VERSION:
            raise newer(self.path, version)

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def frames(self, start: int) -> Iterator[FoundFrame]:
        """Whole records from byte `start` on; stops, and sets `tail`, at the first that is torn or damaged."""
        self.tail = ''
        position = max(start, HEADER_SIZE)
        with open(os.dup(self._fd), 'rb', buffering=_CHUNK) as file:
            file.seek(position)
            end = self.size
            while position < end:
                head = file.read(FRAME_SIZE)
                if len(head) < FRAME_SIZE:
                    self.tail = 'ends in the middle of a record'
                    return
                length, kind, checksum = _FRAME.unpack(head)
                if length > end - position - FRAME_SIZE:
                    self.tail = 'ends in the middle of a record'
                    return
                payload = None if kind != BLOB and length > LARGEST_RECORD else _checked(file, kind, length, checksum)
                if payload is None:
                    self.tail = 'a record is damaged'
                    return
                yield FoundFrame(position, kind, payload, position + FRAME_SIZE, length)
                position += FRAME_SIZE + length

    def read(self, position: int, length: int) -> bytes:
        """Bytes of the file; fewer at its end."""
        return os.pread(self._fd, length, position)

    def record(self, start: int) -> FoundFrame:
        """The record at a known place.

        Raises:
            TraceError: There is no whole record.
        """
        for found in self.frames(start):
            return found
        raise TraceError(f'{self.path}: no whole record at byte {start}')

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _checked(file: object, kind: int, length: int, checksum: int) -> bytes | None:
    """The payload (of a blob: its key), or None if the checksum does not fit. Reads in pieces, whatever `length` says."""
    read = file.read  # type: ignore[attr-defined]
    check = xxhash.xxh3_64(seed=length << 8 | kind)
    kept: list[bytes] = []
    left = length
    while left:
        piece = read(min(left, _CHUNK))
        if not piece:
            return None
        check.update(piece)
        if kind != BLOB or not kept:
            kept.append(piece[:KEY_SIZE] if kind == BLOB else piece)
        left -= len(piece)
    return b''.join(kept) if check.intdigest() == checksum else None
