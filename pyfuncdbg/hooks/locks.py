"""Fork-safe locks: free in a forked child, where the thread that held one in the parent is not.

Made wherever threads of calls meet, on any thread. One from `threading` that another thread holds at a fork would stay
locked in the child for ever, and the child's next call, or its end, would wait for it.
"""
from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_locks: list[weakref.ref[Any]] = []
"""Not a `WeakSet`: that runs Python code where a lock ends, which a user who steps through a program would stop in."""
_prune_above = 256
_pruning = threading.Lock()
"""Never waited for: in a child it may stay locked."""


def new_lock() -> threading.Lock:
    """A lock as `threading.Lock` makes it. No code of the program may run while it is held: that code might fork."""
    lock = threading.Lock()
    _register(lock)
    return lock


def new_rlock() -> threading.RLock:
    """A lock as `threading.RLock` makes it; a thread that forks while it holds one holds it in the child, too."""
    lock = threading.RLock()
    _register(lock)
    return lock


def _register(lock: Any) -> None:
    global _prune_above
    _locks.append(weakref.ref(lock))
    if len(_locks) > _prune_above and _pruning.acquire(blocking=False):
        references = list(_locks)
        alive = [reference for reference in references if reference() is not None]
        _locks[:len(references)] = alive             # what other threads have added meanwhile stays behind
        _prune_above = 2 * len(alive) + 256
        _pruning.release()


def _free_in_child() -> None:
    for reference in list(_locks):
        lock = reference()
        if lock is not None and not (hasattr(lock, '_is_owned') and lock._is_owned()):
            lock._at_fork_reinit()              # as `threading` and `logging` do it


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_free_in_child)
