"""`%load_ext pyfuncdbg`: everything that is put into an IPython shell, and taken out again.

The front door calls `load` and `unload`, on the main thread, for a terminal or a notebook.

`%debug` and `%pdb` after an error of a host begin in the function that raised the original: a host raises its own error
from that. The debugger gets the original with the frames of both: below is the function, `up` leads to the cell. For the
completion of `%pyfunc` and `%%pyfunc` lines IPython calls the function that `matcher` makes, between cells.
"""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts import attach_all
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.inspecting.stack import original_error
from pyfuncdbg.ui.commands.completion import completions
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, options_of, parser_of
from pyfuncdbg.ui.ipython.magics import PyfuncMagics, ShellCells, outside
from pyfuncdbg.ui.ipython.options import CELL
from pyfuncdbg.ui.ipython.recordings import Recordings
from pyfuncdbg.ui.prompt.install import install

_loaded: WeakKeys[Any, ExitStack] = WeakKeys()
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
    undo = _loaded.pop(shell)
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


class OriginalError:
    """Replacement for `shell.debugger`, which examines the program's original exception.

    Args:
        shell: IPython's.
        debugger: What it was before.
    """

    def __init__(self, shell: Any, debugger: Callable[..., Any]) -> None:
        self._shell = shell
        self._debugger = debugger

    def __call__(self, force: bool = False) -> Any:
        last_error = getattr(sys, 'last_exc', None) or getattr(sys, 'last_value', None)
        original = original_error(last_error) if isinstance(last_error, BaseException) else None
        if last_error is None or original is None or original is last_error:
            return self._debugger(force=force)
        with _in_place_of(last_error, original), self._without_traceback():
            return self._debugger(force=force)

    @contextmanager
    def _without_traceback(self) -> Iterator[None]:
        """IPython has kept the traceback of the error that it showed: it asks `sys` for the last one instead."""
        shower = self._shell.InteractiveTB
        if hasattr(shower, 'tb'):
            shower.tb = None
        yield


@contextmanager
def _in_place_of(shown: BaseException, original: BaseException) -> Iterator[None]:
    """The original is the last error, and has the frames of both."""
    names = [name for name in ('last_type', 'last_value', 'last_exc', 'last_traceback') if hasattr(sys, name)]
    before = {name: getattr(sys, name) for name in names}
    traceback = original.__traceback__
    original.__traceback__ = _join_tracebacks(shown.__traceback__, traceback) or traceback
    for name, value in (('last_type', type(original)), ('last_value', original), ('last_exc', original),
                        ('last_traceback', original.__traceback__)):
        if name in before:
            setattr(sys, name, value)
    try:
        yield
    finally:
        original.__traceback__ = traceback
        for name, value in before.items():
            setattr(sys, name, value)


def _join_tracebacks(outer: TracebackType | None, inner: TracebackType | None) -> TracebackType | None:
    """One traceback of the program's frames in two, without those of what runs and watches it."""
    entries = [entry for traceback in (outer, inner) for entry in _entries(traceback)
               if not is_machinery(entry.tb_frame.f_code.co_filename)]
    joined = None
    for entry in reversed(entries):
        joined = TracebackType(joined, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return joined


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


_MAGIC = re.compile(r'^\s*(?:[\w.,\s]*=\s*)?(%?%pyfunc)\s(.*)$', re.DOTALL)


def matcher(recordings: Recordings, table: CommandTable) -> Any:
    """The matcher for IPython's completer.

    Args:
        recordings: Whose trace has the names.
        table: The commands of `%pyfunc`.
    """
    @context_matcher(identifier='pyfuncdbg')  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> SimpleMatcherResult:
        matched = _MAGIC.match(context.text_until_cursor)
        if matched is None:
            return SimpleMatcherResult(completions=[], suppress=False)
        text = matched[2]
        try:
            if matched[1] == CELL.name:
                word, words = _of_cell(text, recordings)
            else:
                word, words = _of_line(text, recordings, table)
        except PyfuncdbgError:
            word, words = '', ()
        return SimpleMatcherResult(completions=[SimpleCompletion(name, type='pyfunc') for name in words],
                                   matched_fragment=word, suppress=True)
    return match


_OWN_FIRST = re.compile(r'\s*(\S+)\s')


def _of_line(text: str, recordings: Recordings, table: CommandTable) -> tuple[str, Iterable[str]]:
    """Behind `%pyfunc`."""
    first = _OWN_FIRST.match(text)
    if first is not None and first[1] == 'open':
        return _paths(text)
    word = text.rpartition(' ')[2]
    if first is not None and first[1] in ('on', 'off', 'status'):
        command = table.find(first[1])
        return (word, ()) if command is None or not word.startswith('-') else _options(command, word)
    got = completions(text, recordings.context(100, of_program=True))
    word, words = text[got.start:], got.words
    if first is None or first[1] == 'help':
        commands = (entry.names[0] for entry in table.entries)
        names = {name for name in (*words, *commands) if name.startswith(word) and name != word}
        return word, sorted(name for name in names if name.isidentifier())
    return word, words


def _of_cell(text: str, recordings: Recordings) -> tuple[str, Iterable[str]]:
    """Behind `%%pyfunc`: its options, and places behind `--break`."""
    before, _, word = text.rpartition(' ')
    last = before.split()[-1] if before.split() else ''
    actions = options_of(parser_of(CELL))
    if last in actions and actions[last].choices:
        return word, [str(choice) for choice in actions[last].choices or () if str(choice).startswith(word)]
    if last == '--break':
        got = completions(f'break {word}', recordings.context(100, of_program=True))
        return word, [name for name in got.words if not name.startswith('-')]
    if last == '--record':
        return _paths(text)
    return _options(CELL, word)


def _options(command: Command, word: str) -> tuple[str, Iterable[str]]:
    return word, sorted(name for name in options_of(parser_of(command)) if name.startswith(word or '--') and name != word)


def _paths(text: str) -> tuple[str, Iterable[str]]:
    """Folders; those of traces are whole."""
    word = text.rpartition(' ')[2]
    folder, _, start = word.rpartition('/')
    where = os.path.expanduser(f'{folder}/' if folder or word.startswith('/') else '.')
    try:
        names = sorted(entry.name for entry in os.scandir(where) if entry.is_dir() and entry.name.startswith(start)
                       and (start or not entry.name.startswith('.')))
    except OSError:
        return word, ()
    prefix = word[:len(word) - len(start)]
    return word, [f'{prefix}{name}' if name.endswith('.pfd') else f'{prefix}{name}/' for name in names]
