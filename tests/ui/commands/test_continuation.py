"""Commands of several lines: when more is wanted, and what a file or a paste of them holds."""
from __future__ import annotations

import warnings

import pytest

from pyfuncdbg.ui.commands.engine.continuation import (
    LISTED,
    MORE,
    QUESTION,
    blocks,
    commands_of,
    end_command,
    prompt_for_more,
    read_rest,
)

BLOCK = 'for i in range(3):\n    print(i)'


@pytest.mark.parametrize(('text', 'prompt'), [
    ('x = 1', ''), ('p x', ''), ('for i in x:', MORE), (BLOCK, MORE), (BLOCK + '\n', ''), ('for i in x: print(i)', ''),
    ('f(', MORE), ('f(\n1)', ''), ('f(\n1,', MORE), ('f(\n', ''), ('x = """a', MORE), ('x = """a\n', MORE),
    ('x = """a\n\nb"""', ''), ('if x:\n  y\nelse:', MORE), ('x = 1 + \\', MORE), ('@decorated', MORE),
    ('!for i in x:', MORE),
    ('$x = (', MORE), ('foo bar', ''), ('x = [)', ''), ('commands', LISTED), ('commands 2', LISTED),
    ('commands 2\np x', LISTED),
    ('commands 2\np x\nend', ''), ('commands 2 p x', ''), ('clear', QUESTION), ('cl', QUESTION), ('cl 1', ''), ('break', ''),
    ('@10,0', ''), ('x?', ''), ('', ''), ('(' * 20_000, '')])
def test_when_more_lines_are_wanted(text, prompt):
    assert prompt_for_more(text, at_stop=True) == prompt


def test_without_a_stop_no_line_is_python():
    assert prompt_for_more('for i in x:', at_stop=False) == ''
    assert prompt_for_more('cl', at_stop=False) == QUESTION


def typed(first, *lines):
    """What a line becomes with those that are read after it; and the prompts of these."""
    prompts, rest = [], iter(lines)

    def read(prompt, text):
        prompts.append(prompt)
        line = next(rest, EOFError)
        if line is EOFError:
            raise EOFError
        return line
    return read_rest(first, read, at_stop=True), prompts


def test_lines_are_read_until_the_command_is_whole():
    assert typed('def f(x):', '    return x\n', '\n', 'p x') == ('def f(x):\n    return x\n', [MORE, MORE])
    assert typed('f(', '1,', '2)') == ('f(\n1,\n2)', [MORE, MORE])
    assert typed('commands 1', 'silent', 'end') == ('commands 1\nsilent\nend', [LISTED, LISTED])
    assert typed('cl', 'y') == ('cl all', [QUESTION])
    assert typed('cl', 'Yes\n') == ('cl all', [QUESTION])
    assert typed('cl', 'n') == ('', [QUESTION])
    assert typed('p x') == ('p x', [])


def test_the_end_of_input_ends_a_command():
    assert typed('def f(x):', '    return x')[0] == 'def f(x):\n    return x\n'
    assert typed('commands 1', 'c')[0] == 'commands 1\nc\nend'
    assert typed('cl')[0] == ''
    assert end_command('clear') == ''


def test_who_goes_elsewhere_in_the_middle_has_typed_nothing():
    assert read_rest('for i in x:', lambda prompt, text: None, at_stop=True) is None


def test_a_file_of_commands_needs_no_empty_lines():
    file = ['# first', 'x = 1', 'for i in range(3):', '    if i:', '', '        print(i)', 'else:', '    pass', 'p x', '',
            'commands 2', 'silent', 'c', 'end', 'y = [', '1,', ']', 'def f():', '    return 1', 'c', 'cl', 'y']
    assert blocks(file) == [
        (2, 'x = 1'), (3, 'for i in range(3):\n    if i:\n        print(i)\nelse:\n    pass'), (9, 'p x'),
        (11, 'commands 2\nsilent\nc\nend'), (15, 'y = [\n1,\n]'), (18, 'def f():\n    return 1'), (20, 'c'), (21, 'cl all')]


def test_a_refused_clear_in_a_file_is_no_command():
    assert blocks(['cl', 'n', 'c']) == [(3, 'c')]


@pytest.mark.parametrize(('line', 'commands'), [
    ('n ;; p x', ['n', 'p x']), ("p ';;' ;; n", ["p ';;'", 'n']), ('alias n2 n ;; n', ['alias n2 n ;; n']),
    ('commands 1 ;; silent ;; c ;; end', ['commands 1\nsilent\nc\nend']),
    ('n ;; commands 1 ;; end', ['n', 'commands 1\nend']),
    (BLOCK, [BLOCK]), (' ;; ', [])])
def test_what_stands_between_two_semicolons(line, commands):
    assert commands_of(line) == commands


def test_looking_whether_more_is_wanted_leaves_the_programs_warnings_alone():
    """`codeop` would: it makes Python warn once more of all that it has warned of."""
    before = warnings.filters[:]
    version = warnings._filters_version if hasattr(warnings, '_filters_version') else None  # type: ignore[attr-defined]
    registry: dict[object, object] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('default')
        warnings.warn_explicit('once', UserWarning, 'there.py', 1, registry=registry)
        prompt_for_more('for i in x:', at_stop=True)
        warnings.warn_explicit('once', UserWarning, 'there.py', 1, registry=registry)
    assert [str(one.message) for one in caught] == ['once']
    assert warnings.filters == before and (version is None or version is not None)
