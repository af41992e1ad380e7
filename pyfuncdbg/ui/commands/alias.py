"""`alias` and `unalias`: the user's names for commands, as in pdb; expansion of a line.

Of this process, for every front end: a line is expanded where it is carried out.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.line_parser import split_commands
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import Page

_NAME = re.compile(r'[^\s%;!@?`\'"()=.\[\]]+')
_ARGUMENT = re.compile(r'%(\*|[1-9])')


@dataclass(frozen=True, slots=True)
class Alias:
    """A name and its expansion; `what` is '' for a removed one."""

    name: str
    what: str


aliases: dict[str, str] = {}
"""By name."""


def expand_alias(line: str) -> str:
    """The expansion of a command line; the line itself if it does not begin with an alias. Of several commands only the
    first is expanded.

    Raises:
        CommandError: An argument is missing.
    """
    words = line.split(None, 1)
    if not words or words[0] not in aliases:
        return line
    first, *rest = split_commands(_fill_arguments(words[0], aliases[words[0]], words[1].split() if len(words) > 1 else []))
    return ' ;; '.join([expand_alias(first), *rest])


def _fill_arguments(name: str, what: str, arguments: Sequence[str]) -> str:
    """The text with its arguments; those without a place in it are appended."""
    places = set(_ARGUMENT.findall(what))
    most = max((int(place) for place in places if place != '*'), default=0)
    if len(arguments) < most:
        raise CommandError(f'alias {name!r} stands for {what!r}: %{len(arguments) + 1} is missing, type it after {name!r}')
    rest = '' if places else ''.join(f' {word}' for word in arguments)
    return _ARGUMENT.sub(lambda match: ' '.join(arguments) if match[1] == '*' else arguments[int(match[1]) - 1], what) + rest


def _alias(context: Context, args: argparse.Namespace) -> list[Alias]:
    name, _, what = args.definition.partition(' ')
    what = what.strip()
    if not name:
        return [Alias(*item) for item in sorted(aliases.items())]
    if not what:
        if name not in aliases:
            raise CommandError(f'no alias {name!r}.{nearest(name, aliases)}')
        return [Alias(name, aliases[name])]
    if name in context.table:
        raise CommandError(f'{name!r} is a command, and an alias cannot hide a command; choose another name')
    if not _NAME.fullmatch(name):
        raise CommandError(f'{name!r} is not a valid alias name: expected a word without quotes, brackets and %')
    if name in _first_words(what):
        raise CommandError(f'alias {name!r} would expand to itself: {what!r}')
    if not split_commands(what):
        raise CommandError(f'alias {name!r}: {what!r} holds no command')
    aliases[name] = what
    return [Alias(name, what)]


def _first_words(what: str) -> set[str]:
    """The first words that a text leads to, through other aliases."""
    first_words: set[str] = set()
    texts = [what]
    while texts:
        for part in texts.pop().split(';;'):
            first = part.split(None, 1)[0] if part.strip() else ''
            if first and first not in first_words:
                first_words.add(first)
                texts += [aliases[first]] if first in aliases else []
    return first_words


def _unalias(context: Context, args: argparse.Namespace) -> list[Alias]:
    if args.name not in aliases:
        raise CommandError(f'no alias {args.name!r}.{nearest(args.name, aliases)}')
    del aliases[args.name]
    return [Alias(args.name, '')]


def _name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', metavar='ALIAS', help='an alias that "alias" lists')


def _draw(rows: Sequence[Alias]) -> RenderableType:
    if not rows:
        return Page(Text('no alias is set: "alias NAME COMMAND" sets one', 'dim'))
    return Page(*(Text.assemble((one_line(row.name, 60), 'bold'), f' = {one_line(row.what, 400)}' if row.what else
                                ' is removed', overflow='fold') for row in rows))


COMMANDS: tuple[Command, ...] = (
    Command('alias', 'name a command line: %1, %2 are its arguments, %* all of them; without a name, list the aliases',
            'keep', _alias, _draw, of_prompt=True, expression='definition', tail='[NAME [COMMAND]]',
            examples=('alias pm p %1.mean()', 'alias ns n ;; p x', 'alias')),
    Command('unalias', 'remove an alias', 'keep', _unalias, _draw, _name, of_prompt=True, examples=('unalias pm',)))
