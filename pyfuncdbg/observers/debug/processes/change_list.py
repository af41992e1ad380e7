"""List of changes in the shared memory: plain records.

They are appended by one process at a time and never altered. The length is written after a record, so that readers need no
lock.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import struct
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pyfuncdbg.observers.debug.processes.shared_memory import CHANGES, LENGTH, SIZE

_WORD = struct.Struct('=Q')
_PATIENCE = 1.0
"""Seconds that a process waits for another one to append."""


def length(memory: mmap.mmap) -> int:
    """The length of the list, in bytes."""
    size: int = _WORD.unpack_from(memory, LENGTH)[0]
    return size


def append(memory: mmap.mmap, change: Mapping[str, Any]) -> bool:
    """Append a record, whose process holds `exclusive`.

    Args:
        memory: The shared memory.
        change: What can be written as JSON.

    Returns:
        Whether there was room for it.
    """
    text = json.dumps(change).encode()
    size = length(memory)
    start = CHANGES + size
    end = start + _WORD.size + len(text)
    if end > SIZE:
        return False
    memory[start:end] = _WORD.pack(len(text)) + text
    _WORD.pack_into(memory, LENGTH, end - CHANGES)
    return True


def record_at(memory: mmap.mmap, position: int) -> tuple[dict[str, Any], int]:
    """The record at a position below the length, and the position of the next one."""
    start = CHANGES + position + _WORD.size
    size, = _WORD.unpack_from(memory, start - _WORD.size)
    return json.loads(memory[start:start + size]), position + _WORD.size + size


@contextlib.contextmanager
def exclusive(path: str) -> Iterator[None]:
    """Wait until no other process appends, for a short time: one that is suspended must not hold up the others.

    Args:
        path: Of the memory; the system frees the lock of a process that dies.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)      # each time: the program may close all files that it can
    except OSError:                             # the process that has made it has ended: do not wait
        yield
        return
    try:
        end = time.monotonic() + _PATIENCE
        while not _take(file) and time.monotonic() < end:
            time.sleep(_PATIENCE / 1000)
        yield
    finally:
        os.close(file)


def _take(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)    # of POSIX kind, which a forked process does not share
    except OSError:
        return False
    return True
