"""Help: every command has examples that can be read, and a usage line that is right."""
from __future__ import annotations

import dataclasses
import json
import re

import pytest

from pyfuncdbg.ui.commands.engine.command import Command, Context, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import split_expression, words
from pyfuncdbg.ui.commands.execute import as_command, execute, is_for_python, name_of
from pyfuncdbg.ui.commands.help import attributes_of, describe_command
from pyfuncdbg.ui.commands.table import TABLE

BY_NAME = {command.name: command for command in TABLE}
EXAMPLES = [(command, example) for command in TABLE for example in command.examples]


@pytest.mark.parametrize('command', TABLE, ids=lambda command: command.name)
def test_every_command_has_an_example_and_its_help_shows_it(command: Command) -> None:
    assert command.examples
    text = describe_command(command).text
    assert text.endswith('such as:' + ''.join(f'\n  {example}' for example in command.examples) + '\n')
    assert '%%' not in text and '()s' not in text


@pytest.mark.parametrize(('command', 'example'), EXAMPLES, ids=lambda value: str(getattr(value, 'name', value)))
def test_every_example_can_be_read(command: Command, example: str) -> None:
    line = as_command(example, at_stop=True)
    if command.name == '!':
        assert is_for_python(line)
        return
    assert name_of(line) == command.name
    first = next(words(line))
    parser = parser_of(command)
    if command.expression:
        given, _ = split_expression(line[first.end:], parser, command)
    else:
        given = [word.text for word in words(line[first.end:])]
    parser.parse_args(given)                    # CommandError where it cannot be


@pytest.mark.parametrize(('name', 'end'), [
    ('break', '[SPEC] [if CONDITION]'), ('tbreak', '[SPEC] [if CONDITION]'), ('swap', '[NODE] FUNC'),
    ('condition', 'BREAKPOINT [[if] CONDITION]'), ('list', '[LINES]'), ('display', '[EXPRESSION]'),
    ('undisplay', '[EXPRESSION]'),
    ('run', '[--json] [-h] [-f PRED]'), ('inject', 'TENSOR EXPR'), ('p', 'EXPRESSION'), ('alias', '[NAME [COMMAND]]'),
    ('commands', '[BREAKPOINT] COMMAND ... end'), ('clear', '[BREAKPOINT ...]'), ('call', 'CALL')])
def test_the_usage_line_ends_as_the_command_is_typed(name: str, end: str) -> None:
    usage = describe_command(BY_NAME[name]).usage
    assert usage.endswith(f' {end}') and usage.count('-f') == (name == 'run')


def test_a_mistake_shows_the_same_usage_line() -> None:
    with pytest.raises(Exception, match=re.escape(describe_command(BY_NAME['swap']).usage)):
        parser_of(BY_NAME['swap']).parse_args(['--nothing'])


def test_metavars_that_tab_completes_by_are_ones_it_knows() -> None:
    """A new argument that means a node, a tensor, a call ... is called as the others are."""
    known = {'TENSOR', 'TENSOR[slice]', 'NODE', 'NODE|N', 'GLOB', 'CALL', 'SPEC', 'FILE[:LINE]', 'BREAKPOINT', 'STOP',
             'ALIAS', 'TOPIC|COMMAND', 'N', 'COUNT', 'LINE', 'on|off', 'DEBUGGER', 'TRACE', 'FORMAT'}
    places = {action.metavar for command in TABLE for action in parser_of(command)._actions if not action.option_strings}
    assert places <= known


@pytest.mark.parametrize('name', ['report', 'info'])
def test_the_keys_of_json_are_those_that_help_lists(name: str, context: Context) -> None:
    """One text says it: the docstring of the class, which help shows."""
    text = describe_command(BY_NAME[name]).text
    listed = re.findall(r'^  (\w+)  ', text.partition('keys of --json:\n')[2].partition('\nsuch as:')[0], re.MULTILINE)
    assert sorted(listed) == sorted(json.loads(execute(f'{name} --json', context).json))


def test_every_class_that_help_tells_of_describes_all_its_keys() -> None:
    for command in TABLE:
        if command.answer is not None:
            fields = {field.name for field in dataclasses.fields(command.answer) if field.repr}
            assert set(attributes_of(command.answer)) == fields, command.name
            assert all(text.endswith('.') for text in attributes_of(command.answer).values())
