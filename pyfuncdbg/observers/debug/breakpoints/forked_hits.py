"""Hits of breakpoints in forked processes, as the process knows them that has forked.

Children note them in memory that is shared from the first breakpoint on. Any thread.
"""
from __future__ import annotations

import mmap
import os

_SIZE = 1 << 12
_memory: list[mmap.mmap] = []
_forks = 0


def share() -> None:
    """Share the memory with the processes that are forked from now on."""
    if not _memory:
        _memory.append(mmap.mmap(-1, _SIZE))


def note_hit(number: int) -> None:
    """A breakpoint was hit in this process."""
    if _memory and number < _SIZE:
        _memory[0][number] = 1


def was_hit(number: int) -> bool:
    """Whether a breakpoint was hit in a process that shares the memory."""
    return bool(_memory) and number < _SIZE and bool(_memory[0][number])


def forks() -> int:
    """How often this process has forked."""
    return _forks


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_parent=_count_fork)
