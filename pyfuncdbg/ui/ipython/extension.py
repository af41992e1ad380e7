"""`%load_ext pyfuncdbg`: everything that is put into an IPython shell, and taken out again.

The front door calls `load` and `unload`, on the main thread, for a terminal or a notebook.
"""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from weakref import WeakKeyDictionary

from pyfuncdbg.hosts import attach_all
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.ipython.completion import matcher
from pyfuncdbg.ui.ipython.magics import PyfuncMagics, ShellCells, outside
from pyfuncdbg.ui.ipython.original_error import OriginalError
from pyfuncdbg.ui.ipython.recordings import Recordings
from pyfuncdbg.ui.prompt.install import install

_loaded: WeakKeyDictionary[Any, ExitStack] = WeakKeyDictionary()
"""By shell: what undoes it."""


def load(shell: Any) -> None:
    """Put everything into a shell; where it is already there nothing happens."""
    if shell in _loaded:
        return
    if getattr(shell, 'kernel', None) is not None:
        install(debugger)                       # a cell lasts until its stops are decided; only then is it over for `after`
    undo = ExitStack()
    if not debugger.on:
        undo.callback(_leave)
    for attachment in attach_all():
        undo.callback(attachment.detach)
    recordings = Recordings()
    undo.callback(recordings.close)
    cells = ShellCells(shell, recordings)
    undo.callback(cells.close)
    magics = PyfuncMagics(shell, recordings, cells)
    for kind, function in (('line', magics.line), ('cell', magics.cell)):
        _replace(shell.magics_manager.magics[kind], 'pyfunc', function, undo)
    _append(shell.input_transformers_cleanup, cells, undo)
    _append(shell.input_transformers_post, outside, undo)
    _append(shell.Completer.custom_matchers, matcher(recordings, magics.table), undo)
    for event, call in (('pre_run_cell', cells.before), ('post_run_cell', cells.after)):
        shell.events.register(event, call)
        undo.callback(shell.events.unregister, event, call)
    _replace(vars(shell), 'debugger', OriginalError(shell, shell.debugger), undo)
    _loaded[shell] = undo


def unload(shell: Any) -> None:
    """Take everything out of a shell again: it is as it was before."""
    undo = _loaded.pop(shell, None)
    if undo is not None:
        undo.close()


def _leave() -> None:
    """Watch no calls; breakpoints are kept, asleep. `breakpoint()` works as before. What stops recorded is not what one who
    loads the extension again looks at."""
    left = debugger.left
    debugger.leave()
    debugger.live.end()
    debugger.left = left


def _append(values: list[Any], value: Any, undo: ExitStack) -> None:
    values.append(value)

    def remove() -> None:
        if value in values:
            values.remove(value)
    undo.callback(remove)


def _replace(table: dict[str, Any], key: str, value: Any, undo: ExitStack) -> None:
    """Put a value into a table; `undo` puts back what was there."""
    had, before = key in table, table.get(key)
    table[key] = value

    def restore() -> None:
        if table.get(key) is not value:
            return                              # replaced by other code meanwhile
        if had:
            table[key] = before
        else:
            del table[key]
    undo.callback(restore)
