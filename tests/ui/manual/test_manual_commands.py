"""Commands that a page, or README, names in passing can be typed: their words and options are read by the real parsers."""
from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from manual_examples import blocks

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.commands.command_line import SUBCOMMANDS, actions_of, split_arguments, top_parser
from pyfuncdbg.ui.commands.engine.command import Command, options_of, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import split_expression, words
from pyfuncdbg.ui.commands.help import find_command
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.commands.topics import TOPICS, read_topic
from pyfuncdbg.ui.ipython.options import CELL

ROOT = Path(__file__).resolve().parents[3]
NAMES = {name for command in TABLE for name in (command.name, *command.aliases)}
OF_IPYTHON = {'on', 'off', 'open', 'status'}


def code(text: str) -> Iterator[str]:
    """Inline code of a page, and the lines of README's blocks without what is said beside them."""
    prose = re.sub(r'^```.*?^```$', '', text, flags=re.MULTILINE | re.DOTALL)
    yield from (span.replace('\\|', '|').replace('\n', ' ') for span in re.findall(r'`([^`]+)`', prose))
    for block in blocks(text):
        if not block.language:
            yield from (re.split(r' {3,}', line)[0].removeprefix('(pfd) ') for line in block.text.splitlines())


def read(line: str) -> bool:
    """Read a command with its parser; whether it is one.

    Raises:
        PyfuncdbgError: It cannot be read.
    """
    if line.startswith(('%pyfunc ', 'r = %pyfunc ')):
        line = line.partition('%pyfunc ')[2]
        return line.split()[0] in OF_IPYTHON or read(line)
    if line.startswith('%%pyfunc '):
        options, _, condition = line.partition(' ')[2].partition(' --if ')
        parser_of(CELL).parse_args([*options.split(), *(['--if', condition] if condition else [])])
        return True
    first, *rest = line.split(' ', 1)
    if first == 'pyfuncdbg':
        return read_shell(shlex.split(rest[0]))
    if first not in NAMES or not rest or first == 'p':
        return False
    read_prompt(find_command(first, TABLE), rest[0])
    return True


def read_shell(typed: list[str]) -> bool:
    name, *args = typed
    if name.startswith('-'):
        top_parser('').parse_args([name])
        return True
    known = SUBCOMMANDS[name]
    if name == 'show':
        return len(args) < 2 or read(shlex.join(args[1:])) or args[1] in NAMES
    known.parser().parse_args(split_arguments(args, known.parser())[0] if known.takes_program else
                              [word for word in args if word not in ('TOPIC', '[PID]')])
    return True


def read_prompt(command: Command, rest: str) -> None:
    parser = parser_of(command)
    text = rest.partition(' >> ')[0]
    parser.parse_args(split_expression(f' {text}', parser, command)[0] if command.expression else
                      [word.text for word in words(text)])


@pytest.mark.parametrize('name', [*TOPICS, 'README'])
def test_commands_that_are_named_can_be_typed(name: str) -> None:
    text = (ROOT / 'README.md').read_text(encoding='utf-8') if name == 'README' else read_topic(name).text
    wrong = []
    for line in code(text):
        try:
            read(line)
        except (PyfuncdbgError, KeyError, ValueError, SystemExit) as error:
            wrong.append((line, error))
    assert not wrong


@pytest.mark.parametrize('name', [*TOPICS, 'README'])
def test_options_that_are_named_exist(name: str) -> None:
    text = (ROOT / 'README.md').read_text(encoding='utf-8') if name == 'README' else read_topic(name).text
    known = {option for command in (*TABLE, CELL) for option in options_of(parser_of(command))}
    known |= {option for each in SUBCOMMANDS.values() for option in actions_of(each.parser())}
    mentioned = {span.split()[0].partition('=')[0] for span in code(text) if re.match(r'--?[a-z]', span)}
    assert mentioned - known == set()


@pytest.mark.parametrize('line', ['li loss -r 2', 'lt --bda', 'pyfuncdbg clean --kepe 3', 'pyfuncdbg shwo x',
                                  '%pyfunc lt --bda', 'pyfuncdbg show x lt --bda', 'break --evry 3'])
def test_what_cannot_be_typed_is_seen(line: str) -> None:
    with pytest.raises((PyfuncdbgError, KeyError)):
        read(line)


def test_commands_are_found() -> None:
    found = [line for name in TOPICS for line in code(read_topic(name).text) if line.startswith('pyfuncdbg ')]
    assert len(found) > 20 and all(map(read, found))
    assert read('lt -n 500') and read('pyfuncdbg clean --keep 3') and not read('x.mean()')
