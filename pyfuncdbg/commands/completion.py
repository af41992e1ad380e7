"""How a line that is being typed could go on: commands, options, nodes, tensors, calls, and Python names at a stop.

Every face that takes lines asks here, on the stopped thread: the values of the program are looked at.
"""
from __future__ import annotations

import argparse
import contextlib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.commands.arguments import OneOf
from pyfuncdbg.commands.command import Command, Context, options_of, parser_of
from pyfuncdbg.commands.help import find_command
from pyfuncdbg.commands.table import TABLE
from pyfuncdbg.debug.evaluate import Names
from pyfuncdbg.debug.scope import Tensors, scope_of
from pyfuncdbg.errors import CommandError, PyfuncdbgError

_MOST = 500
_NEWEST = 50
"""Calls whose numbers are offered."""
_DOTTED = re.compile(r'(?:([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.)?([A-Za-z_]\w*)?$')


@dataclass(frozen=True, slots=True)
class Completions:
    """What may stand at the end of the text.

    Attributes:
        start: From where on it replaces the text.
        words: The words, sorted; at most 500.
    """

    start: int
    words: tuple[str, ...]


def completions(text: str, context: Context) -> Completions:
    """The words that could stand at the end of a text.

    Args:
        text: The line up to the cursor.
        context: What the line will act on.
    """
    line = text[text.rfind(';;') + 2:] if ';;' in text else text
    first, blank, _ = line.lstrip().partition(' ')
    word = '' if not line or line[-1].isspace() else line.split()[-1]
    if not blank:
        start, found = _python(line, context)
        if start == len(line) - len(word):
            found = {*found, *_commands()} if word else set(_commands())
        return _chosen(text, line[start:], found)
    try:
        command = find_command(first, TABLE)
    except CommandError:
        start, found = _python(line, context)
        return _chosen(text, line[start:], found)
    before = line.split()[:-1 if word else None]
    option = options_of(parser_of(command)).get(before[-1]) if before else None
    if option is not None and isinstance(option.type, OneOf):
        return _chosen(text, word, option.type.names)
    if word.startswith('-'):
        return _chosen(text, word, options_of(parser_of(command)))
    if command.name == 'help':
        return _chosen(text, word, _commands())
    named = _chosen(text, word, {*_choices(command), *_of_graph(context), *_numbers(command, context),
                                 *_files(command, context)})
    if not command.expression or (named.words and '.' not in word and '(' not in word and word):
        return named
    start, found = _python(line, context)
    return _chosen(text, line[start:], found)


def _chosen(text: str, word: str, found: Iterable[str]) -> Completions:
    hidden = not word.startswith('_')
    words = sorted(name for name in found
                   if name.startswith(word) and name != word and not (hidden and name.startswith('_')))
    return Completions(len(text) - len(word), tuple(words[:_MOST]))


def _commands() -> Iterator[str]:
    for command in TABLE:
        yield from (name for name in (command.name, *command.aliases) if len(name) > 1)


def _choices(command: Command) -> Iterator[str]:
    for action in parser_of(command)._actions:
        if not isinstance(action, argparse._HelpAction) and action.choices:
            yield from map(str, action.choices)


def _numbers(command: Command, context: Context) -> Iterator[str]:
    """Numbers of what a command takes by number: stops, breakpoints."""
    if context.debugger is None:
        return
    if command.name == 'switch':
        yield from (str(stop.number) for stop in context.debugger.broker.stops)
    elif command.name in ('enable', 'disable', 'clear'):
        yield from map(str, context.debugger.breakpoints.entries)


def _of_graph(context: Context) -> Iterator[str]:
    """Nodes and tensors of the run, and what the trace has of calls."""
    if context.stop is not None:
        tensors = Tensors(context.stop, context.stop.run)
        yield from tensors.names()
        yield from (site.name for site in tensors.sites())
    try:
        for site in context.trace.sites():
            yield site.name
            if site.kind == 'python':
                yield from site.outputs or (f'{site.name}:0',)
            if site.function:
                yield site.function
        for call in context.trace.calls(newest_first=True, limit=_NEWEST):
            yield call.label
            yield f'#{call.number}'
    except PyfuncdbgError:
        return                                  # a trace that cannot be read is told of by the command


def _files(command: Command, context: Context) -> Iterator[str]:
    """Source files of the trace, for the commands that take one."""
    if command.name in ('ps', 'lp'):
        with contextlib.suppress(PyfuncdbgError):
            for site in context.trace.sites():
                for filename in (site.filename, *(frame.filename for frame in site.stack)):
                    yield filename.replace('\\', '/').rpartition('/')[2]


def _python(line: str, context: Context) -> tuple[int, Iterable[str]]:
    """Names and attributes for the dotted name at the end of a line, and where the last part of it begins."""
    match = _DOTTED.search(line)
    if match is None:
        return len(line), ()
    start = len(line) - len(match[2] or '')
    if context.stop is None:
        return start, ()
    if start > 0 and line[start - 1] == '.' and match[1] is None:
        return len(line), ()                    # an attribute of something that would have to be computed
    try:
        names = scope_of(context.stop, '')[1]
        if match[1] is None:
            return start, {name for name in names.known() if isinstance(name, str)}
        return start, _attributes(names, match[1])
    except Exception:                           # values of the program may raise anything when looked at
        return len(line), ()


def _attributes(names: Names, dotted: str) -> Iterable[str]:
    """The attributes of a value; nothing is called to get it, not even a property."""
    first, *rest = dotted.split('.')
    value: Any = names.get_name(first)
    for name in rest:
        if isinstance(inspect.getattr_static(type(value), name, None), property):
            return ()
        value = getattr(value, name)
    return [name for name in dir(value) if isinstance(name, str)]
