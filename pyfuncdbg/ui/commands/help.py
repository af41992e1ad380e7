"""`help`: the table of commands, told by itself."""
from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError, Typed, nearest
from pyfuncdbg.ui.commands.engine.command import Command, Context, is_usable, parser_of, usage
from pyfuncdbg.ui.commands.habits import hint as not_there
from pyfuncdbg.ui.views.reports.command_help import command_help, command_list

GROUPS = ('run', 'stop', 'look', 'judge', 'keep')


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """One command, in words."""

    name: str
    aliases: tuple[str, ...]
    group: str
    usage: str
    help: str
    needs_stop: bool
    examples: tuple[str, ...]
    text: str
    """Everything, laid out."""


def described(command: Command, width: int = 100) -> CommandHelp:
    """The help of one command."""
    parser = parser_of(command, width)
    line = usage(command, parser)
    also = f'\nalso: {", ".join(command.aliases)}' if command.aliases else ''
    body = parser.format_help().partition('\n\n')[2]
    examples = ''.join(f'\n  {example}' for example in command.examples)
    keys = _keys(command.answer, width) if command.answer is not None else ''
    return CommandHelp(command.name, command.aliases, command.group, line, command.help, command.needs_stop,
                       command.examples, f'usage: {line}{also}\n\n{body}{keys}\nsuch as:{examples}\n')


def attributes_of(answer: type) -> dict[str, str]:
    """What the docstring of a class says of each attribute, in its order."""
    section = inspect.cleandoc(answer.__doc__ or '').partition('Attributes:\n')[2]
    texts: dict[str, str] = {}
    for line in section.splitlines():
        match = re.match(r'    (\w+(?:, \w+)*): (.*)', line)
        if match is not None:
            names = match[1].split(', ')
            texts.update(dict.fromkeys(names, match[2]))
        elif texts and line.strip():
            texts.update({name: f'{texts[name]} {line.strip()}' for name in names})
    return texts


def _keys(answer: type, width: int) -> str:
    texts = attributes_of(answer)
    room = max(map(len, texts), default=0) + 4
    return '\nkeys of --json:\n' + ''.join(
        textwrap.fill(f'  {name}'.ljust(room) + text, max(width - 2, room + 20), subsequent_indent=' ' * room) + '\n'
        for name, text in texts.items())


def find_command(name: str, table: Sequence[Command], context: Context | None = None) -> Command:
    """The command of that name or alias.

    Args:
        name: As typed.
        table: The commands there are.
        context: What it will act on: names of commands that cannot are not proposed then.

    Raises:
        CommandError: There is none, with the nearest names.
    """
    for command in table:
        if name == command.name or name in command.aliases:
            return command
    hint = not_there(name) or nearest(name, [known for command in table if context is None or is_usable(command, context)
                                             for known in (command.name, *command.aliases)])
    raise CommandError(f"unknown command {name!r}.{hint} ", Typed('help'), ' lists the commands.')


def help_command(table: Callable[[], Sequence[Command]]) -> Command:
    """`help` over a table that it is itself part of."""
    def run(context: Context, args: argparse.Namespace) -> list[CommandHelp] | CommandHelp:
        if args.command:
            return described(find_command(args.command, table()), context.width)
        return [described(command, context.width) for command in sorted(table(), key=lambda c: GROUPS.index(c.group))]

    def draw(result: list[CommandHelp] | CommandHelp) -> RenderableType:
        if isinstance(result, CommandHelp):
            return command_help(result.text)
        return command_list([(one.group, ', '.join((one.name, *one.aliases)), one.help) for one in result])

    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument('command', metavar='COMMAND', nargs='?', help='show all about this one')
    return Command('help', 'list the commands, or show all about one', 'keep', run, draw, arguments, ('h', '?'),
                   examples=('help', 'help break'))
