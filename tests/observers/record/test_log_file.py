"""The end of a log: every byte of every piece, in order, however little the system takes at once."""
from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest

from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.log_file import LogFile, LogReader

PIECES = [os.urandom(size) for size in (0, 16, 40_000, 3, 70_000, *[24, 16, 0, 900] * 700)]


def content(log: LogFile) -> bytes:
    return log.path.read_bytes()[log_file.HEADER_SIZE:]


def test_many_pieces_of_all_sizes(tmp_path: Path) -> None:
    log = LogFile(tmp_path / 'log')
    for pieces in (PIECES, PIECES[:3], PIECES[-3:], [memoryview(PIECES[2])[7:]]):
        log.append(pieces)
    assert content(log) == b''.join([*PIECES, *PIECES[:3], *PIECES[-3:], PIECES[2][7:]])
    assert log.size == log.path.stat().st_size
    log.close()


def test_a_system_that_takes_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, write = random.Random(1), os.write
    monkeypatch.setattr(os, 'writev', lambda fd, parts: write(fd, b''.join(parts)[:chance.randrange(50_000)]))
    monkeypatch.setattr(os, 'write', lambda fd, data: write(fd, data[:chance.randrange(1, 20_000)]))
    log = LogFile(tmp_path / 'log')
    log.append(PIECES)
    log.append(PIECES[:4])
    assert content(log) == b''.join(PIECES + PIECES[:4])
    assert log.size == log.path.stat().st_size


def test_the_checksum_of_a_blob_is_that_of_its_key(tmp_path: Path) -> None:
    """The key is a hash of the bytes: they are not hashed twice."""
    data = os.urandom(100)
    head, *_ = log_file.frame(log_file.BLOB, digest(data), memoryview(data))
    assert log_file.frame(log_file.BLOB, digest(data), memoryview(bytes(100)))[0] == head
    log = LogFile(tmp_path / 'log')
    assert log.append_blob(digest(data), len(data), [data[:60], data[60:]])
    assert content(log) == bytes(head) + digest(data) + data
    log.close()


@pytest.mark.parametrize('size', [0, 100, 4000])
def test_each_changed_byte_of_a_small_blob_is_damage(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    log = LogFile(tmp_path / 'log')
    log.append(log_file.frame(log_file.BLOB, digest(data), memoryview(data)))
    log.close()
    whole = log.path.read_bytes()
    assert [found.payload for found in LogReader(log.path).frames(0)] == [digest(data)]
    for place in {log_file.HEADER_SIZE + at for at in (8, log_file.FRAME_SIZE, log_file.FRAME_SIZE + 15)} | (
            {len(whole) - size, len(whole) - 1} if size else set()):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        log.path.write_bytes(damaged)
        reader = LogReader(log.path)
        assert [*reader.frames(0)] == [] and reader.stop_reason == 'a record is damaged'


@pytest.mark.parametrize('failing', range(4))
def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                       failing: int) -> None:
    log = LogFile(tmp_path / 'log')
    log.append(PIECES[:3])
    before, calls, writev = content(log), iter(range(100)), os.writev

    def full(fd: int, parts: list[bytes]) -> int:
        if next(calls) == failing:
            raise OSError(errno.ENOSPC, 'full')
        return writev(fd, parts)
    monkeypatch.setattr(os, 'writev', full)
    monkeypatch.setattr(log_file, '_AT_ONCE', 64)
    with pytest.raises(OSError, match='full'):
        log.append([piece * 100 for piece in PIECES[5:]] if failing else PIECES)
    assert content(log) == before and log.size == log.path.stat().st_size
    log.append([b'next'])
    assert content(log) == before + b'next'


def test_a_signal_handler_that_raises_behind_a_write_leaves_whole_records(tmp_path, monkeypatch):
    log = log_file.LogFile(tmp_path / '1-0001.log')
    log.append(log_file.frame(log_file.NOTE, b'first'))
    real = os.write

    def interrupted(number, data):
        real(number, bytes(data)[:9])
        raise KeyboardInterrupt                 # as a handler does before the count of the bytes is known
    monkeypatch.setattr(os, 'write', interrupted)
    with pytest.raises(KeyboardInterrupt):
        log.append(log_file.frame(log_file.NOTE, b'second'))
    monkeypatch.setattr(os, 'write', real)
    log.append(log_file.frame(log_file.NOTE, b'third'))
    log.close()
    reader = log_file.LogReader(log.path)
    assert [found.payload for found in reader.frames(0)] == [b'first', b'third'] and not reader.stop_reason
    reader.close()
