"""Native id of the forking thread in the parent: a forked child finds its own calls and stops by it.

The handlers run on the thread that forks; several threads may fork at once, so each has its own note.
"""
from __future__ import annotations

import os
import threading

_thread = threading.local()


def parent_thread_id() -> int:
    """The native id in the parent of the thread that forked; asked on that thread in the child."""
    return _thread.id  # type: ignore[no-any-return]


def _store_id() -> None:
    _thread.id = threading.get_native_id()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(before=_store_id)
