"""Memory that the processes of a program share.

Made before the first of them starts: forked ones have it, those that start afresh open it by its path. Any thread.
"""
from __future__ import annotations

import mmap
import os

HITS = 0
"""Where the hits of breakpoints begin: a byte for each number."""
MOST_HITS = 1 << 12
LENGTH = HITS + MOST_HITS
"""Where the length of the list of changes is."""
HALT = LENGTH + 8
"""Where the process is named that has the prompt while all others wait; 0 for none."""
PROMPT = LENGTH + 16
"""Where the process is named that is at the prompt on the terminal; 0 for none."""
PROCESSES = LENGTH + 64
"""Where the table of processes begins."""
CHANGES = 1 << 16
"""Where the list of changes begins."""
SIZE = 1 << 22
"""Bytes; the system gives those that are used."""
_memory: list[mmap.mmap] = []
_path = ''


def share() -> None:
    """Share the memory with the processes that are started from now on."""
    global _path
    if _memory:
        return
    if not hasattr(os, 'memfd_create'):         # only Linux; forked processes have the memory all the same
        _memory.append(mmap.mmap(-1, SIZE))
        return
    descriptor = os.memfd_create('pyfuncdbg processes')
    os.ftruncate(descriptor, SIZE)
    _memory.append(mmap.mmap(descriptor, SIZE))
    _path = f'/proc/{os.getpid()}/fd/{descriptor}'


def path() -> str:
    """The path by which another process of the user opens the memory; '' without one."""
    return _path


def join(path: str) -> None:
    """Share the memory of the process that has started this one.

    Args:
        path: Of the memory.

    Raises:
        OSError: That process has ended.
    """
    global _path
    with open(path, 'r+b') as file:
        _memory[:] = [mmap.mmap(file.fileno(), SIZE)]
    _path = path


def memory() -> mmap.mmap | None:
    """The memory; None as long as it is not shared."""
    return _memory[0] if _memory else None
