"""Help: the commands of the table and the topics of the manual.

Called by every front end, and by `pyfuncdbg help`, which begins with the topics.
"""
from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError, TypedCommand, nearest
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, Context, is_usable, parser_of, usage
from pyfuncdbg.ui.commands.habits import hint as not_there
from pyfuncdbg.ui.commands.plain_nouns import command_for
from pyfuncdbg.ui.commands.topics import TOPICS, Topic, read_topic
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.reports.command_help import command_help, command_list

_OF_SHELL = "'pyfuncdbg help TOPIC' shows one, 'pyfuncdbg show help' the commands"
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


def describe_command(command: Command, width: int = 100) -> CommandHelp:
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
    """The description of each attribute in the docstring of a class, in its order."""
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


def instead_of(word: str, known: Iterable[str]) -> str:
    """What to type instead of a word that is no command: ' ...', or '' if nothing is near.

    Args:
        word: As typed.
        known: The names of the commands there are.
    """
    return not_there(word) or command_for(word) or nearest(word, known)


def find_command(name: str, table: CommandTable, context: Context | None = None) -> Command:
    """The command of that name or alias.

    Args:
        name: As typed.
        table: The commands there are.
        context: What it will act on: names of commands that cannot are not proposed then.

    Raises:
        CommandError: There is none, with the nearest names.
    """
    command = table.find(name)
    if command is not None:
        return command
    hint = instead_of(name, [known for command in table if context is None or is_usable(command, context)
                             for known in (command.name, *command.aliases)])
    raise CommandError(f"unknown command {name!r}.{hint} ", TypedCommand('help'), ' lists the commands.')


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A topic of the manual.

    Attributes:
        topic: The page.
        command: The command of the same name, None if there is none.
    """

    topic: Topic
    command: CommandHelp | None = None


@dataclass(frozen=True, slots=True)
class HelpList:
    """Everything that `help` knows.

    Attributes:
        commands: By group; none in the shell, which has commands of its own.
        topics: In the order of the manual.
    """

    commands: tuple[CommandHelp, ...]
    topics: tuple[Topic, ...]


Help = HelpList | HelpPage | CommandHelp


def help_of(name: str, table: CommandTable, width: int = 100, more: Sequence[str] = ()) -> HelpPage | CommandHelp:
    """The page of a topic, with the command that shares its name; or the help of a command.

    Args:
        name: As typed.
        table: The commands there are.
        width: Columns.
        more: Other names that may have been meant.

    Raises:
        CommandError: There is nothing of that name, with the nearest names.
    """
    command = table.find(name)
    if name in TOPICS:
        return HelpPage(read_topic(name), describe_command(command, width) if command is not None else None)
    if command is not None:
        return describe_command(command, width)
    known = (*TOPICS, *more, *table.names)
    raise CommandError(f'no topic or command named {name!r}.{instead_of(name, known)} ',
                       TypedCommand('help'), ' lists them.')


def help_list(table: Iterable[Command], width: int = 100) -> HelpList:
    """All topics, and these commands."""
    commands = sorted(table, key=lambda command: GROUPS.index(command.group))
    return HelpList(tuple(describe_command(command, width) for command in commands), tuple(map(read_topic, TOPICS)))


def help_view(result: Help) -> RenderableType:
    """A page, the help of a command, or the list."""
    from pyfuncdbg.ui.views.reports.manual_page import ManualPage, topic_list  # a parser of Markdown: 50 ms
    if isinstance(result, CommandHelp):
        return command_help(result.text)
    if isinstance(result, HelpPage):
        more = (Text(''), command_help(result.command.text)) if result.command is not None else ()
        return Page(ManualPage(result.topic.text), *more)
    rows = [(each.name, each.title) for each in result.topics]
    if not result.commands:
        return topic_list(rows, _OF_SHELL)
    return Page(command_list([(one.group, ', '.join((one.name, *one.aliases)), one.help) for one in result.commands]),
                Text(''), topic_list(rows, "'help TOPIC' shows one"))


def _help(context: Context, args: argparse.Namespace) -> Help:
    return help_of(args.name, context.table, context.width) if args.name else help_list(context.table, context.width)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', metavar='TOPIC|COMMAND', nargs='?', help='the topic or command to explain')


SHOWS_HELP: Command = Command('help', 'explain one', 'keep', lambda context, args: None, help_view)
"""For an answer that no command line asked for: `lt -h`, `pyfuncdbg help lt`."""
COMMANDS: tuple[Command, ...] = (
    Command('help', 'list the topics of the manual and the commands, or explain one', 'keep', _help, help_view,
            _arguments, ('h', '?'), of_prompt=True, examples=('help', 'help stops', 'help break')),)
