"""Command lines: words, redirections, raw expressions."""
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Command, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import join_words, split_expression, split_redirect, words


def texts(line):
    return [word.text for word in words(line)]


@pytest.mark.parametrize(('line', 'expected'), [
    ('calls  --site norm*', ['calls', '--site', 'norm*']),
    ('pt norm:0[1:3, ::2] -s', ['pt', 'norm:0[1:3, ::2]', '-s']),
    ('pt x:0 -r [[0, 1], [2, 3]]', ['pt', 'x:0', '-r', '[[0, 1], [2, 3]]']),
    ("--site 'a b'", ['--site', 'a b']), ('"a \\" b" c\\ d', ['a " b', 'c d']), ("a'b'c", ['abc']), ("''", ['']),
    ('a[b c', ['a[b', 'c']), (']x [1', [']x', '[1']), ('C:\\dir\\x', ['C:\\dir\\x']), ('', []), ('  ', []),
])
def test_words(line, expected):
    assert texts(line) == expected


@given(st.lists(st.text(max_size=12), max_size=6))
def test_a_word_list_reads_back_as_itself(argv):
    assert texts(join_words(argv)) == argv
    assert split_redirect(join_words(argv))[1] == ''


@given(st.text(max_size=40))
def test_any_line_is_read_or_refused(line):
    try:
        for word in words(line):
            assert word.start < word.end <= len(line)
    except CommandError as error:
        assert 'not closed' in str(error)


@pytest.mark.parametrize(('line', 'rest', 'file'), [
    ('calls >> out.txt', 'calls ', 'out.txt'), ('calls -n 3 >>out.txt', 'calls -n 3 ', 'out.txt'),
    ("lt >> 'my file'", 'lt ', 'my file'), ("call '>>' x", "call '>>' x", ''), ('lt', 'lt', ''),
])
def test_redirection(line, rest, file):
    assert split_redirect(line) == (rest, file)


@pytest.mark.parametrize('line', ['calls >>', 'calls >> a b', 'calls >> a >> b'])
def test_redirection_needs_one_name(line):
    with pytest.raises(CommandError, match='takes one file name at the end'):
        split_redirect(line)


def _options(parser):
    parser.add_argument('-n', type=int)
    parser.add_argument('--once', action='store_true')
    parser.add_argument('--pair', nargs=2)


def _spec_too(parser):
    _options(parser)
    parser.add_argument('spec')


EVAL = Command('eval', '', 'look', lambda c, a: None, str, _options, expression='text')
BREAK = Command('break', '', 'stop', lambda c, a: None, str, _spec_too, expression='condition')


@pytest.mark.parametrize(('command', 'line', 'taken', 'expression'), [
    (EVAL, "x['a b'] - -1", [], "x['a b'] - -1"),
    (EVAL, '-n 3 -x + 1', ['-n', '3'], '-x + 1'),
    (EVAL, '-n=3 --once  x >> 2', ['-n=3', '--once'], 'x >> 2'),
    (EVAL, '--pair a b c d', ['--pair', 'a', 'b'], 'c d'),
    (EVAL, '-- -n', [], '-n'),
    (EVAL, "it's", [], "it's"),
    (EVAL, '', [], ''),
    (EVAL, "-n 1 -it's", ['-n', '1'], "-it's"),
    (BREAK, 'norm if sd.min() == 0 and name != "--once"', ['norm'], 'if sd.min() == 0 and name != "--once"'),
    (BREAK, "--once 'my node' if x", ['--once', 'my node'], 'if x'),
    (BREAK, 'norm', ['norm'], ''),
])
def test_expressions_reach_the_command_untouched(command, line, taken, expression):
    assert split_expression(line, parser_of(command), command) == (taken, expression)
