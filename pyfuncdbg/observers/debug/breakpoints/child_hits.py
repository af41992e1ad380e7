"""Hits of breakpoints in other processes, as the process knows them that has started these.

Children note them in memory that is shared from the first breakpoint on: forked ones have it, those that start afresh open
it by its path. Any thread.
"""
from __future__ import annotations

import mmap
import os

_SIZE = 1 << 12
_memory: list[mmap.mmap] = []
_path = ''
_children = 0


def share() -> None:
    """Share the memory with the processes that are started from now on."""
    global _path
    if _memory:
        return
    if not hasattr(os, 'memfd_create'):         # only Linux; forked processes have the memory all the same
        _memory.append(mmap.mmap(-1, _SIZE))
        return
    descriptor = os.memfd_create('pyfuncdbg hits')
    os.ftruncate(descriptor, _SIZE)
    _memory.append(mmap.mmap(descriptor, _SIZE))
    _path = f'/proc/{os.getpid()}/fd/{descriptor}'


def path() -> str:
    """The path by which another process of the user opens the memory; '' without one."""
    return _path


def join(path: str) -> None:
    """Note hits in the memory of the process that has started this one.

    Args:
        path: Of the memory.

    Raises:
        OSError: That process has ended.
    """
    global _path
    with open(path, 'r+b') as file:
        _memory[:] = [mmap.mmap(file.fileno(), _SIZE)]
    _path = path


def note_hit(number: int) -> None:
    """A breakpoint was hit in this process."""
    if _memory and number < _SIZE:
        _memory[0][number] = 1


def was_hit(number: int) -> bool:
    """Whether a breakpoint was hit in a process that shares the memory."""
    return bool(_memory) and number < _SIZE and bool(_memory[0][number])


def children() -> int:
    """The number of processes that this one has started with its breakpoints."""
    return _children


def count_child() -> None:
    """Count a process that starts with the breakpoints of this one."""
    global _children
    _children += 1


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_parent=count_child)
