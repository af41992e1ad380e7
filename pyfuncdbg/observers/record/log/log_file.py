"""The framing of a log file: a header, then length-prefixed, checksummed records, appended and never changed.

Written by the recorder's writer, read by traces of any process. A record counts once the `write` that carried it has
returned, so a killed process leaves at most one torn record, at the end, where reading stops.
"""
# long: the format of a log with its writer and its reader; a third is documentation
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
from pyfuncdbg.observers.record.log.read_window import ReadWindow, read_at

VERSION = 9
"""Version of the whole format: manifest, framing and record contents. A reader reads its own and all older ones."""

PROCESS, SITE, PLAN, RUNS, CALLS, RUNNING, BLOB, DROPPED, NOTE, END, SOURCE, STATE, REMOVED = range(1, 14)
"""Kinds of records."""

MAGIC = b'PFDLOG\r\n'
_HEADER = struct.Struct('<8sII')
_FRAME = struct.Struct('<IB3sQ')
"""Length and kind; of a blob a checksum of these and its key, else zeros, as in all logs until version 5; the checksum.

That of a blob is the checksum of its key, which is the hash of its bytes; until version 8 it was that of all."""
FRAME_SIZE = _FRAME.size
HEADER_SIZE = _HEADER.size
KEY_SIZE = 16

LARGEST_RECORD = 64 << 20
"""Bytes of the largest record that is not a blob; a longer one is damage."""

_CHUNK = 1 << 20
_LONG = 64 << 10
"""Bytes from which on pieces are written from where they lie."""
_PASSED_OVER = 4 << 10
"""Bytes of the largest blob that is read with the log; to pass over a smaller one costs more."""
_TORN = 'ends in the middle of a record'
_AT_ONCE = 512
"""Pieces of one `writev`; systems take 1,024."""


def newer_version_error(path: Path, version: int) -> TraceVersionError:
    """The error for what a newer version wrote.

    Args:
        path: Of the file or trace.
        version: Of its format.

    Returns:
        An error to raise.
    """
    return TraceVersionError(f'{path}: written by format version {version}, this pyfuncdbg reads up to {VERSION}; '
                             'install a newer pyfuncdbg')


class LogFrame(NamedTuple):
    """One whole record. `payload` of a blob is its key only; its bytes are at `position`."""

    start: int
    kind: int
    payload: bytes
    position: int
    length: int


def frame(kind: int, *parts: bytes | memoryview) -> list[bytes | memoryview]:
    """Frame a record.

    Args:
        kind: Of the record.
        *parts: Its payload.

    Returns:
        Pieces to write, one after the other.
    """
    length = sum(map(len, parts))
    if kind == BLOB and len(parts[0]) == KEY_SIZE:
        return [_blob_head(length, bytes(parts[0])), *parts]
    check = xxhash.xxh3_64(seed=length << 8 | kind)
    for part in parts:
        check.update(part)
    return [_FRAME.pack(length, kind, b'', check.intdigest()), *parts]


def _blob_head(length: int, key: bytes) -> bytes:
    """The frame of a blob, before its key: its checksum is that of the key alone, which is a hash of the bytes."""
    return _FRAME.pack(length, BLOB, blob_guard(length, key), _blob_checksum(length, key))


def _blob_checksum(length: int, key: bytes) -> int:
    return xxhash.xxh3_64_intdigest(key, seed=length << 8 | BLOB)


def blob_guard(length: int, key: bytes) -> bytes:
    """The checksum of the beginning of a blob: readers of a log pass over the bytes behind it, if they are many.

    They check those by the key, when they are asked for.

    Args:
        length: Of the record.
        key: Content hash.

    Returns:
        Three bytes, not all zero.
    """
    return (_blob_checksum(length, key) & 0xFFFFFF | 1).to_bytes(3, 'little')


class LogFile:
    """The end of a log that is being written. One thread at a time.

    Attributes:
        size: Bytes of the whole records in it.
        written: Bytes given to the system so far, those of a record in the making included.
    """

    __slots__ = ('_file', '_margin', '_size_refused', 'path', 'size', 'written')

    def __init__(self, path: Path) -> None:
        """Create the file at `path`.

        Raises:
            OSError: It exists or cannot be written.
        """
        self.path = path
        self._file = Descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self.size = self.written = 0
        self._margin = disk_room.margin(self._file.fileno())
        self._size_refused: tuple[int, int] | None = None
        try:
            self.append([_HEADER.pack(MAGIC, VERSION, 0)])
        except OSError:
            self.close()
            raise

    def largest_size(self) -> tuple[int, int]:
        """The size to which the disk lets it grow, as far as is known.

        Returns:
            The size in bytes, and the `errno` of what would prevent more.
        """
        by_disk = disk_room.largest_size(self._file.fileno(), self.size, self._margin)
        return by_disk if self._size_refused is None else min(by_disk, self._size_refused)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it.

        Returns:
            False if its folder was removed, moved or replaced.
        """
        return self._file.is_at(self.path)

    def append(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Write whole records; all or nothing stays in the file.

        Args:
            pieces: Of the records, from `frame`.

        Raises:
            OSError: The disk is full, say; the file ends where it ended before.
        """
        with self._all_or_nothing() as number:
            # Most are few bytes each. Those that are many are not copied together: a megabyte in fresh memory takes 0.4 ms.
            for part in _portions(pieces):
                size = sum(map(len, part))
                done = self._count(os.writev(number, part)) if size > _LONG else 0
                if done < size:
                    data = memoryview(b''.join(part))
                    while done < size:
                        done += self._count(os.write(number, data[done:]))

    def append_blob(self, key: bytes, length: int, chunks: Iterable[bytes]) -> bool:
        """Write a blob whose bytes come in pieces.

        Args:
            key: Content hash.
            length: How many bytes there are.
            chunks: The bytes.

        Returns:
            False, and nothing written, if the bytes are no longer those of the key.

        Raises:
            OSError: As `append`.
        """
        total = KEY_SIZE + length
        content = xxhash.xxh3_128()
        start, last = self.size, b''
        with self._all_or_nothing() as number:
            self._write(number, _blob_head(total, key) + key)
            for chunk in chunks:
                self._write(number, last)
                last = chunk
                content.update(chunk)
            if content.digest() != key:         # readers see a torn record until the last piece is there
                self._cut(number, start)
                return False
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
    def _all_or_nothing(self) -> Iterator[int]:
        """The descriptor to write to; what was written stays only if the block ends well."""
        number, before = self._file.fileno(), self.written
        try:
            yield number
        except BaseException as error:
            done = self.written - before
            if isinstance(error, OSError) and error.errno in disk_room.FULL:
                self._size_refused = self.size + done, error.errno
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

    __slots__ = ('_fd', '_identity', 'path', 'stop_reason')

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
        self.stop_reason = ''
        """Why the last `frames` stopped before the end of the file, '' if it did not."""
        self._identity: tuple[int, int] | None = None
        number = self._open_descriptor()
        try:
            self._check_header(os.pread(number, HEADER_SIZE, 0))
        except BaseException:
            os.close(number)
            raise
        if keep:
            self._fd = number
        else:
            os.close(number)

    def _open_descriptor(self) -> int:
        """A descriptor of its own of the file that was there first."""
        if self._fd >= 0:
            return os.dup(self._fd)
        try:
            number = open_regular(self.path)
        except OSError as error:
            raise TraceError(f'{self.path}: cannot be read: {error.strerror}') from error
        status = os.fstat(number)
        identity = status.st_dev, status.st_ino
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
        number = self._open_descriptor()
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
            raise newer_version_error(self.path, version)

    def is_in_place(self) -> bool:
        """Whether its path still leads to the file that was opened.

        Returns:
            False if that was removed, moved or replaced.
        """
        try:
            status = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        with self._open() as number:
            return os.fstat(number).st_size

    def frames(self, start: int, base: int = 0) -> Iterator[LogFrame]:
        """Read whole records; stops, and sets `stop_reason`, at the first that is torn or damaged.

        Args:
            start: Byte of the first.
            base: Is added to the places in the records.

        Yields:
            Each record.

        Raises:
            TraceError: The file cannot be opened again, or was replaced.
        """
        self.stop_reason = ''
        self.stop_reason = yield from self._frames(start, base)

    def _frames(self, start: int, base: int = 0) -> Generator[LogFrame, None, str]:
        """Whole records; returns why it stopped before the end of the file, '' if it did not."""
        position = max(start, HEADER_SIZE)
        with self._open() as number:
            window, end = ReadWindow(number), os.fstat(number).st_size
            while position < end:
                head = window.read(position, FRAME_SIZE)
                if len(head) < FRAME_SIZE:
                    return _TORN
                length, kind, guard, checksum = _FRAME.unpack(head)
                if length > end - position - FRAME_SIZE:
                    return _TORN
                body = position + FRAME_SIZE
                payload = _read_blob_key(window, body, length, guard, checksum) if kind == BLOB else \
                    _read_payload(window, body, length, kind, checksum)
                if payload is None:
                    return 'a record is damaged'
                yield LogFrame(base + position, kind, payload, base + body, length)
                position = body + length
        return ''

    def read(self, position: int, length: int) -> bytes:
        """Read bytes.

        Args:
            position: Of the first.
            length: How many.

        Returns:
            The bytes; fewer at the end of the file.
        """
        with self._open() as number:
            return read_at(number, position, length)

    def record(self, start: int) -> LogFrame:
        """Read the record at a known place.

        Args:
            start: Its first byte.

        Returns:
            The record.

        Raises:
            TraceError: There is no whole record.
        """
        for frame in self._frames(start):
            return frame
        raise TraceError(f'{self.path}: no whole record at byte {start}')

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()                            # of a trace that was not closed


def _read_payload(window: ReadWindow, position: int, length: int, kind: int, checksum: int) -> bytes | None:
    """The payload of a record that is no blob; None if it is damaged."""
    payload = window.read(position, length) if length <= LARGEST_RECORD else b''
    fits = len(payload) == length and xxhash.xxh3_64_intdigest(payload, seed=length << 8 | kind) == checksum
    return payload if fits else None


def _read_blob_key(window: ReadWindow, position: int, length: int, guard: bytes, checksum: int) -> bytes | None:
    """The key of a blob; None if its beginning is damaged, or, of a small one or one without a guard, anything of it."""
    key = window.read(position, min(length, KEY_SIZE))
    if any(guard) and length > _PASSED_OVER:
        return key if guard == blob_guard(length, key) else None
    check, content = xxhash.xxh3_64(seed=length << 8 | BLOB), xxhash.xxh3_128()
    for at in range(0, length, _CHUNK):
        chunk = window.read(position + at, min(_CHUNK, length - at))
        check.update(chunk)                     # until version 8 the checksum was that of all
        content.update(chunk if at else chunk[KEY_SIZE:])
    if checksum == _blob_checksum(length, key) and content.digest() == key:
        return key
    return key if check.intdigest() == checksum else None
