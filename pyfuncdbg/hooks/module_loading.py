"""Event: the code of a module is about to run. Observers may replace it by code with tests.

A launcher calls `code_to_run` for a script, the import system for modules while there are watchers. On the thread that
loads.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable
from importlib import _bootstrap_external
from types import CodeType
from typing import Any

Watcher = Callable[[CodeType], CodeType]
_watchers: tuple[weakref.WeakMethod[Watcher], ...] = ()
_SYSTEM: Any = _bootstrap_external.SourceLoader
_get_code: Any = _SYSTEM.get_code


def watch(watcher: Watcher) -> None:
    """Call a bound method for the code of each module that is loaded from its source, as long as its object lives.

    Args:
        watcher: Returns the code to run instead.
    """
    global _watchers
    _watchers = (*(reference for reference in _watchers if reference() is not None), weakref.WeakMethod(watcher))
    _SYSTEM.get_code = get_code


def code_to_run(code: CodeType) -> CodeType:
    """The code to run instead of a module's; the same code if no observer replaces it."""
    for reference in _watchers:
        watcher = reference()
        if watcher is not None:
            code = watcher(code)
    return code


def get_code(self: Any, fullname: str) -> Any:
    """The code of a module, in place of the import system's function of this name.

    Args:
        self: The loader.
        fullname: Name of the module.
    """
    code = _get_code(self, fullname)
    return code_to_run(code) if code is not None else None


# Python leaves its import system out of tracebacks by the name of its file, and only where no other frame is in between.
get_code.__code__ = get_code.__code__.replace(co_filename=_get_code.__code__.co_filename)
get_code.__module__, get_code.__qualname__ = _get_code.__module__, _get_code.__qualname__
get_code.__doc__ = _get_code.__doc__
