"""Completion of `%pyfunc` and `%%pyfunc` lines, in a terminal and for a kernel's front end.

IPython calls the function that `matcher` makes, on the main thread, between cells.
"""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.commands.completion import completions
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, options_of, parser_of
from pyfuncdbg.ui.ipython.options import CELL
from pyfuncdbg.ui.ipython.recordings import Recordings

_MAGIC = re.compile(r'^\s*(?:[\w.,\s]*=\s*)?(%?%pyfunc)\s(.*)$', re.DOTALL)
_OWN_FIRST = re.compile(r'\s*(\S+)\s')


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
