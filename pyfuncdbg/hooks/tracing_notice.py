"""Event: a host is about to run Python functions outside of any call, to trace them.

Observers that look for functions watch it. On the thread that traces.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

BLOCK_SUFFIXES = ('.<if>', '.<else>', '.<body>', '.<test>', '.<operand>')
"""Ends of qualified names of blocks that a host made functions."""
ADDED_PREFIX = 'ag__'
"""Begins the names that a host adds to functions that it converts."""
_watchers: tuple[weakref.WeakMethod[Callable[[CodeType], Any]], ...] = ()


def watch(watcher: Callable[[CodeType], Any]) -> None:
    """Call a bound method with the code of each function that is about to be traced, as long as its object lives.

    Args:
        watcher: The method.
    """
    global _watchers
    _watchers = (*(reference for reference in _watchers if reference() is not None), weakref.WeakMethod(watcher))


def notify_tracing(code: CodeType) -> None:
    """Announce that a function with this code, which lives, is about to be traced."""
    for reference in _watchers:
        watcher = reference()
        if watcher is not None:
            watcher(code)


def is_block(code: CodeType) -> bool:
    """Whether a code object is a block of a function that a host runs as a function of its own."""
    return code.co_qualname.endswith(BLOCK_SUFFIXES)


def function_name(name: str) -> str:
    """The qualified name of the function that a block of this qualified name belongs to; of no block the same."""
    while name.endswith(BLOCK_SUFFIXES):
        name = name.rpartition('.')[0]
    return name
