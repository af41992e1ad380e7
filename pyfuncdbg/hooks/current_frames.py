"""The frame that each thread is in."""
from __future__ import annotations

import gc
import sys
from types import FrameType


def current_frames() -> dict[int, FrameType]:
    """The innermost frame of every thread that has one.

    `sys._current_frames` of CPython 3.11 before 3.11.9 may collect garbage while it holds the lock of the list of
    threads. A finalizer that lets another thread run then stops the program for ever, if that thread ends: gh-106883.

    Returns:
        The frames by `threading.get_ident()` of their threads.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()  # noqa: TID251 - the one place
    finally:
        if collects:
            gc.enable()
