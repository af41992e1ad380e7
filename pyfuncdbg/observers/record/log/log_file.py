"""The framing of a log file: a header, then length-prefixed, checksummed records, appended and never changed.

Written by the recorder's writer, read by traces of any process. A record counts once the `write` that carried it has
returned, so a killed process leaves at most one torn record, at the end, where reading stops.
"""
from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import xxhash

from pyfuncdbg.errors import NotATraceError, TraceError, TraceVersionError
from pyfuncdbg.observers.record.log import disk_room
from pyfuncdbg.observers.record.log.descriptor import Descriptor, open_regular

VERSION = 5
"""Version of the whole format: manifest, framing and record contents. A reader reads its own and all older ones."""

PROCESS, SITE, PLAN, RUNS, CALLS, RUNNING, BLOB, DROPPED, NOTE, END, SOURCE = range(1, 12)
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
_TORN = 'ends in the middle of a record'
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
    """The end of a log that is being written. One thread at a time.

    Attributes:
        size: Bytes of the whole records in it.
        written: Bytes given to the system so far, those of a record in the making included.
    """

    __slots__ = ('_file', '_margin', '_refused', 'path', 'size', 'written')

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            OSError: It exists or cannot be written.
        """
        self.path = path
        self._file = Descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self.size = self.written = 0
        self._margin = disk_room.margin(self._file.fileno())
        self._refused: tuple[int, int] | None = None
        try:
            self.append([_HEADER.pack(MAGIC, VERSION, 0)])
        except OSError:
            self.close()
            raise

    def largest_size(self) -> tuple[int, int]:
        """The size to which the disk lets it grow, as far as is known, and the `errno` of what would prevent more."""
        known = disk_room.largest_size(self._file.fileno(), self.size, self._margin)
        return known if self._refused is None else min(known, self._refused)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it: its folder was neither removed nor moved nor replaced."""
        return self._file.is_at(self.path)

    def append(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Write whole records; all or nothing stays in the file.

        Raises:
            OSError: The disk is full, say; the file ends where it ended before.
        """
        with self._whole() as number:
            # Most are few bytes each. Those that are many are not copied together: a megabyte in fresh memory takes 0.4 ms.
            for part in _portions(pieces):
                size = sum(map(len, part))
                done = self._count(os.writev(number, part)) if size > _LONG else 0
                if done < size:
                    data = memoryview(b''.join(part))
                    while done < size:
                        done += self._count(os.write(number, data[done:]))

    def append_blob(self, key: bytes, length: int, chunks: Iterable[bytes]) -> bool:
        """Write a blob whose bytes come in pieces; False, and nothing, if they turn out to be others than those of its key.

        Raises:
            OSError: As `append`.
        """
        total = KEY_SIZE + length
        check, content = xxhash.xxh3_64(key, seed=total << 8 | BLOB), xxhash.xxh3_128()
        start, last = self.size, b''
        with self._whole() as number:
            self._write(number, _FRAME.pack(total, BLOB, 0) + key)
            for chunk in chunks:
                self._write(number, last)
                last = chunk
                check.update(chunk)
                content.update(chunk)
            if content.digest() != key:
                self._cut(number, start)
                return False
            # Readers see a torn record until the last piece is there, so the checksum may come late.
            os.pwrite(number, _FRAME.pack(total, BLOB, check.intdigest()), start)
            self._write(number, last)
        return True

    def _write(self, number: int, data: bytes) -> None:
        done = 0
        while done < len(data):
            done += self._count(os.write(number, memoryview(data)[done:]))

    def _count(self, count: int) -> int:
        self.written += count
        return count

    @contextlib.contextmanager
    def _whole(self) -> Iterator[int]:
        """The descriptor to write to; what was written stays only if the block ends well."""
        number, before = self._file.fileno(), self.written
        try:
            yield number
        except BaseException as error:
            done = self.written - before
            if isinstance(error, OSError) and error.errno in disk_room.FULL:
                self._refused = self.size + done, error.errno
            with contextlib.suppress(OSError):
                # A signal handler may have raised behind a write that was not counted.
                if done or os.lseek(number, 0, os.SEEK_CUR) != self.size:
                    self._cut(number, self.size)
            raise
        self.size = os.lseek(number, 0, os.SEEK_CUR)

    def _cut(self, number: int, size: int) -> None:
        os.ftruncate(number, size)
        os.lseek(number, size, os.SEEK_SET)

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        self._file.close()


def _portions(pieces: Sequence[bytes | memoryview]) -> Iterator[Sequence[bytes | memoryview]]:
    """Pieces for one `writev` each: not too many, and not so large that a slow disk seems to hang."""
    for start in range(0, len(pieces), _AT_ONCE):
        part = pieces[start:start + _AT_ONCE]
        if sum(map(len, part)) <= _CHUNK:
            yield part
            continue
        portion: list[bytes | memoryview] = []
        size = 0
        for piece in part:
            for at in range(0, len(piece), _CHUNK):
                view = memoryview(piece)[at:at + _CHUNK]
                if size + len(view) > _CHUNK and portion:
                    yield portion
                    portion, size = [], 0
                portion.append(view)
                size += len(view)
        yield portion


class LogReader:
    """A log file as far as it is whole. One thread at a time."""

    __slots__ = ('_fd', '_identity', 'path', 'tail')

    def __init__(self, path: Path, keep: bool = True) -> None:
        """Open a log; only a regular file is touched, never a link or a pipe.

        Args:
            path: The file.
            keep: Leave it open until `close`; else each use opens it again. A trace may have more logs than a process
                may have open files.

        Raises:
            NotATraceError, TraceVersionError, TraceError: It is no log, from a newer version, or unreadable.
        """
        self._fd = -1
        self.path = path
        self.tail = ''
        """Why the last `frames` stopped before the end of the file, '' if it did not."""
        self._identity: tuple[int, int] | None = None
        number = self._opened()
        try:
            self._check_header(os.pread(number, HEADER_SIZE, 0))
        except BaseException:
            os.close(number)
            raise
        if keep:
            self._fd = number
        else:
            os.close(number)

    def _opened(self) -> int:
        """A descriptor of its own of the file that was there first."""
        if self._fd >= 0:
            return os.dup(self._fd)
        try:
            number = open_regular(self.path)
        except OSError as error:
            raise TraceError(f'{self.path}: cannot be read: {error.strerror}') from error
        found = os.fstat(number)
        identity = found.st_dev, found.st_ino
        if self._identity not in (None, identity):
            os.close(number)
            raise TraceError(f'{self.path}: was replaced by another file')
        self._identity = identity
        return number

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        if self._fd >= 0:
            yield self._fd
            return
        number = self._opened()
        try:
            yield number
        finally:
            os.close(number)

    def _check_header(self, head: bytes) -> None:
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
        with self._open() as number:
            return os.fstat(number).st_size

    def frames(self, start: int) -> Iterator[FoundFrame]:
        """Whole records from byte `start` on; stops, and sets `tail`, at the first that is torn or damaged."""
        self.tail = ''
        self.tail = yield from self._frames(start)

    def _frames(self, start: int) -> Generator[FoundFrame, None, str]:
        """Whole records; returns why it stopped before the end of the file, '' if it did not."""
        position = max(start, HEADER_SIZE)
        with open(self._opened(), 'rb', buffering=_CHUNK) as file:
            file.seek(position)
            end = os.fstat(file.fileno()).st_size
            while position < end:
                head = file.read(FRAME_SIZE)
                if len(head) < FRAME_SIZE:
                    return _TORN
                length, kind, checksum = _FRAME.unpack(head)
                if length > end - position - FRAME_SIZE:
                    return _TORN
                payload = None if kind != BLOB and length > LARGEST_RECORD else _checked(file, kind, length, checksum)
                if payload is None:
                    return 'a record is damaged'
                yield FoundFrame(position, kind, payload, position + FRAME_SIZE, length)
                position += FRAME_SIZE + length
        return ''

    def read(self, position: int, length: int) -> bytes:
        """Bytes of the file; fewer at its end."""
        with self._open() as number:
            return os.pread(number, length, position)

    def record(self, start: int) -> FoundFrame:
        """The record at a known place.

        Raises:
            TraceError: There is no whole record.
        """
        for found in self._frames(start):
            return found
        raise TraceError(f'{self.path}: no whole record at byte {start}')

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()                            # of a trace that was not closed


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
