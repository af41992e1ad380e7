"""Hits of breakpoints in other processes, as the processes know them that share the memory. Any thread."""
from __future__ import annotations

import os

from pyfuncdbg.observers.debug.processes.shared_memory import HITS, MOST_HITS, memory

_children = 0


def note_hit(number: int) -> None:
    """A breakpoint was hit in this process."""
    shared = memory()
    if shared is not None and number < MOST_HITS:
        shared[HITS + number] = 1


def was_hit(number: int) -> bool:
    """Whether a breakpoint was hit in a process that shares the memory."""
    shared = memory()
    return shared is not None and number < MOST_HITS and bool(shared[HITS + number])


def children() -> int:
    """The number of processes that this one has started with its breakpoints."""
    return _children


def count_child() -> None:
    """Count a process that starts with the breakpoints of this one."""
    global _children
    _children += 1


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_parent=count_child)
