"""Completion of a typed line: commands, options, nodes, tensors, calls, and Python names at a stop.

Every face that takes lines asks here, on the stopped thread: the values of the program are looked at.
"""
from __future__ import annotations

import argparse
import contextlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.observers.debug.conditions.function_names import function_names
from pyfuncdbg.observers.debug.conditions.vocabulary import VOCABULARY
from pyfuncdbg.observers.debug.inspecting.displays import displays
from pyfuncdbg.observers.debug.inspecting.evaluate import Namespace
from pyfuncdbg.observers.debug.inspecting.scope import RunTensors, scope_of
from pyfuncdbg.observers.record.log.trace_folders import traces_in
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.ui.commands.alias import aliases
from pyfuncdbg.ui.commands.engine.arguments import OneOf
from pyfuncdbg.ui.commands.engine.command import Command, Context, options_of, parser_of
from pyfuncdbg.ui.commands.execute import is_of_prompt, name_of
from pyfuncdbg.ui.commands.help import find_command
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.commands.topics import TOPICS

_MOST = 500
_NEWEST = 50
"""Calls whose numbers are offered."""
_INDENT = '    '
_OF_TENSORS = re.compile(r'[:#`/]')
"""Characters that no name of Python has."""
_DOTTED = re.compile(r'(?:([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.)?([A-Za-z_]\w*)?$')


@dataclass(frozen=True, slots=True)
class Completions:
    """Completions of the last word of the text.

    Attributes:
        start: From where on it replaces the text.
        words: The words, sorted; at most 500.
    """

    start: int
    words: tuple[str, ...]


def completions(text: str, context: Context, before: str = '') -> Completions:
    """Completions of the last word of a text, by its command.

    Args:
        text: The line up to the cursor.
        context: What the line will act on.
        before: Earlier lines of the same command: a block of Python, or the list of `commands`.
    """
    if context.stop is not None and context.stop.remote is not None and not is_of_prompt(text):
        reply = context.stop.remote.ask(complete=text, position=len(text))
        return Completions(min(max(reply['start'], 0), len(text)), tuple(reply['completions']))
    line = text[text.rfind(';;') + 2:] if ';;' in text else text
    if before and name_of(before.partition('\n')[0]) != 'commands':
        if not line.strip():
            return Completions(len(text), (_INDENT,))
        return _matching(text, *_python_at_end(line, context))
    first, blank, _ = line.lstrip().partition(' ')
    word = '' if not line or line[-1].isspace() else line.split()[-1]
    if not blank:
        start, candidates = _python(line, context)
        if start == len(line) - len(word):
            candidates = {*candidates, *_commands()} if word else set(_commands())
        return _matching(text, line[start:], {*candidates, *(('end', 'silent') if before else ())})
    try:
        command = find_command(first, TABLE)
    except CommandError:
        return _matching(text, *_python_at_end(line, context))
    return _of_command(command, text, line, word, context)


def _of_command(command: Command, text: str, line: str, word: str, context: Context) -> Completions:
    """Behind the name of a command."""
    parser = parser_of(command)
    options = options_of(parser)
    earlier = line.split()[1:-1 if word else None]
    option = options.get(earlier[-1]) if earlier else None
    if option is not None and option.nargs != 0:
        return _matching(text, word, _values(command, option, context))
    if word.startswith('-') and not (command.expression and len(word) == 1):
        return _matching(text, word, options)
    position = _position(earlier, options)
    places = [action for action in parser._actions if not action.option_strings]
    if position < len(places) or (places and places[-1].nargs == '*'):
        return _matching(text, word, _values(command, places[min(position, len(places) - 1)], context))
    if not command.expression:
        return Completions(len(text), ())
    return _of_expression(command, text, line, word, context, is_begun=position > len(places))


def _position(earlier: Sequence[str], options: Mapping[str, argparse.Action]) -> int:
    """The number of words that are neither options nor their values."""
    count, value = 0, False
    for one in earlier:
        action = options.get(one.partition('=')[0])
        if value or action is None:
            count += not value
            value = False
        else:
            value = action.nargs != 0 and '=' not in one
    return count


def _of_expression(command: Command, text: str, line: str, word: str, context: Context, *, is_begun: bool) -> Completions:
    """In the expression behind the options and arguments: Python mostly, and tensors, which it may hold."""
    own: Iterable[str] | None = None
    if command.name in ('list', 'commands', 'alias', 'undisplay'):
        own = () if is_begun else _first_arguments(command.name, context)
    elif command.name in ('break', 'tbreak', 'condition') and not is_begun and 'if'.startswith(word):
        own = ('if',)
    elif command.name == 'run':
        own = VOCABULARY
    elif command.name == 'swap' and not is_begun:
        own = {*_nodes(context), *_python_at_end(line, context)[1]}
    if own is not None:
        return _matching(text, word, own)
    tensors = _matching(text, word, _tensors(context)) if word else Completions(len(text), ())
    if tensors.words and _OF_TENSORS.search(word):
        return tensors
    names = _matching(text, *_python_at_end(line, context))
    return names if names.words else tensors


def _first_arguments(name: str, context: Context) -> Iterable[str]:
    """Words that can begin the raw rest of these commands."""
    if name == 'commands':
        return _breakpoints(context)
    if name == 'alias':
        return aliases
    return displays.expressions(context.stop) if name == 'undisplay' and context.stop is not None else ()


def _matching(text: str, word: str, candidates: Iterable[str]) -> Completions:
    hidden = not word.startswith('_')
    words = sorted(name for name in set(candidates)
                   if name.startswith(word) and name != word and not (hidden and name.startswith('_')))
    return Completions(len(text) - len(word), tuple(words[:_MOST]))


def _commands() -> Iterator[str]:
    yield from (name for name in TABLE.names if len(name) > 1)
    yield from aliases


def _values(command: Command, action: argparse.Action, context: Context) -> Iterable[str]:
    """Values of an argument or option, by its metavar."""
    if isinstance(action.type, OneOf):
        return action.type.names
    if action.choices:
        return map(str, action.choices)
    metavar = action.metavar if isinstance(action.metavar, str) else ''
    if metavar == 'TOPIC|COMMAND':
        return {*TOPICS, *_commands()}
    if metavar == 'GLOB' and command.name == 'ls':
        metavar = 'FILE[:LINE]'
    if metavar == 'FILE' and command.name == 'lp':
        metavar = 'FILE[:LINE]'
    read_values = _KINDS.get(metavar)
    if metavar == 'BREAKPOINT' and command.name == 'clear':
        return {*_breakpoints(context), *_places(context)}
    return read_values(context) if read_values is not None else ()


def _breakpoints(context: Context) -> Iterable[str]:
    return map(str, context.debugger.breakpoints.entries) if context.debugger is not None else ()


def _places(context: Context) -> Iterable[str]:
    """The SPECs that are set."""
    if context.debugger is None:
        return ()
    return [entry.breakpoint.spec.text for entry in list(context.debugger.breakpoints.entries.values())]


def _stops(context: Context) -> Iterable[str]:
    return [str(stop.number) for stop in context.debugger.broker.stops] if context.debugger is not None else ()


def _aliases(context: Context) -> Iterable[str]:
    return aliases


def _sites(context: Context) -> Iterator[CallSite | SiteRecord]:
    """The sites of the stopped run, and of the trace."""
    if context.stop is not None:
        yield from RunTensors(context.stop, context.stop.run).sites()
    with contextlib.suppress(PyfuncdbgError):   # the command reports an unreadable trace
        yield from context.trace.sites()


def _nodes(context: Context) -> Iterator[str]:
    yield from (site.name for site in _sites(context) if site.kind != 'run')


def _predicates(context: Context) -> Iterable[str]:
    return VOCABULARY


def _tensors(context: Context) -> Iterator[str]:
    """Tensors of the run, of the trace, and outputs of the newest calls."""
    if context.stop is not None:
        yield from RunTensors(context.stop, context.stop.run).names()
    with contextlib.suppress(PyfuncdbgError):
        for site in context.trace.sites():
            if site.kind == 'python':
                yield from site.outputs or (f'{site.name}:0',)
        for call in context.trace.calls(newest_first=True, limit=_NEWEST):
            yield f'{call.label}:0'
            yield f'#{call.number}:0'


def _calls(context: Context) -> Iterator[str]:
    with contextlib.suppress(PyfuncdbgError):
        for call in context.trace.calls(newest_first=True, limit=_NEWEST):
            yield call.label
            yield f'#{call.number}'


def _specs(context: Context) -> Iterator[str]:
    """Places of breakpoints: nodes, op types, functions, files; calls to come are not known."""
    for site in _sites(context):
        if site.kind == 'run':
            continue
        yield site.name
        yield site.op_type
        yield from (name for name in (_function_name(site),) if name)
    yield from (f'{name}:' for name in _files(context) if name)


def _function_name(site: CallSite | SiteRecord) -> str:
    if isinstance(site, CallSite):
        names = function_names(site.function)
        return names[-1] if names else ''
    return site.function


def _files(context: Context) -> Iterator[str]:
    """Source files of the trace, without their folders."""
    with contextlib.suppress(PyfuncdbgError):
        for site in context.trace.sites():
            for filename in (site.filename, *(frame.filename for frame in site.stack)):
                yield filename.replace('\\', '/').rpartition('/')[2]


def trace_names() -> list[str]:
    """The traces in this folder; none where it cannot be read."""
    with contextlib.suppress(PyfuncdbgError):
        return [path.name for path, _ in traces_in(Path())]
    return []


_KINDS: Mapping[str, Callable[[Context], Iterable[str]]] = {
    'TENSOR': _tensors, 'TENSOR[slice]': _tensors, 'NODE': _nodes, 'NODE|N': _nodes, 'GLOB': _nodes, 'CALL': _calls,
    'SPEC': _specs, 'FILE[:LINE]': _files, 'BREAKPOINT': _breakpoints, 'STOP': _stops, 'ALIAS': _aliases,
    'PRED': _predicates, 'TRACE': lambda context: trace_names()}
"""By what the usage line calls an argument."""


def _python_at_end(line: str, context: Context) -> tuple[str, Iterable[str]]:
    """The last part of the dotted name at the end of a line, and what it could be."""
    start, found = _python(line, context)
    return line[start:], found


def _python(line: str, context: Context) -> tuple[int, Iterable[str]]:
    """Names and attributes for the dotted name at the end of a line, and where the last part of it begins."""
    match = _DOTTED.search(line)
    if match is None:
        return len(line), ()
    start = len(line) - len(match[2] or '')
    if context.stop is None:
        return start, ()
    if start > 0 and line[start - 1] == '.' and match[1] is None:
        return len(line), ()                    # completing it would run code
    try:
        names = scope_of(context.stop, '')[1]
        if match[1] is None:
            return start, {name for name in names.all_names() if isinstance(name, str)}
        return start, _attributes(names, match[1])
    except Exception:                           # reading values of the program may raise anything
        return len(line), ()


def _attributes(names: Namespace, dotted: str) -> Iterable[str]:
    """The attributes of a value; nothing is called to get it, not even a property."""
    first, *rest = dotted.split('.')
    value: Any = names.get_name(first)
    for name in rest:
        if isinstance(inspect.getattr_static(type(value), name, None), property):
            return ()
        value = getattr(value, name)
    return [name for name in dir(value) if isinstance(name, str)]
