"""`%load_ext pyfuncdbg`: everything that is put into an IPython shell, and taken out again.

The front door calls `load` and `unload`, on the main thread, for a terminal or a notebook.
"""
from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pyfuncdbg.ipython.magic import PyfuncMagics
from pyfuncdbg.ipython.subject import Subject

_loaded: dict[int, ExitStack] = {}
"""By shell: what undoes it."""


def load(shell: Any) -> None:
    """Put the magics into a shell; where they are already there nothing happens."""
    if id(shell) in _loaded:
        return
    undo = ExitStack()
    subject = Subject()
    _register_magics(shell, PyfuncMagics(shell, subject), undo)
    _loaded[id(shell)] = undo


def unload(shell: Any) -> None:
    """Take everything out of a shell again: it is as it was before."""
    undo = _loaded.pop(id(shell), None)
    if undo is not None:
        undo.close()


def _register_magics(shell: Any, magics: PyfuncMagics, undo: ExitStack) -> None:
    for kind, function in (('line', magics.line),):
        table: dict[str, Callable[..., Any]] = shell.magics_manager.magics[kind]
        _replace(table, 'pyfunc', function, undo)


def _replace(table: dict[str, Any], key: str, value: Any, undo: ExitStack) -> None:
    """Put a value into a table; `undo` puts back what was there."""
    had, before = key in table, table.get(key)
    table[key] = value

    def restore() -> None:
        if table.get(key) is not value:
            return                              # somebody else's by now
        if had:
            table[key] = before
        else:
            del table[key]
    undo.callback(restore)
