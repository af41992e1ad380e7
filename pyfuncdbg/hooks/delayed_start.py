"""Delayed start of a recorder, which takes longer to load than a short program to run.

Begun by what watches a program: the attachment to a framework, our own runtime, a debugger. Any thread.
"""
from __future__ import annotations

from collections.abc import Callable

_waiting: list[Callable[[], object]] = []


def delay(start: Callable[[], object]) -> None:
    """Call a function when the program first has something to watch.

    Args:
        start: Called once, on the thread that finds it.
    """
    _waiting.append(start)


def begin() -> None:
    """There is something to watch now: call the functions that wait."""
    while _waiting:
        try:
            start = _waiting.pop(0)
        except IndexError:                      # another thread took it
            return
        start()
