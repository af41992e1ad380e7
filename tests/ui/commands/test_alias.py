"""`alias` and `unalias`: in every front end, for they are expanded where a line is carried out."""
from __future__ import annotations

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.alias import aliases, expand_alias
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute, is_for_python, name_of
from pyfuncdbg.ui.views.sample_trace import sample


def norm(x):
    return x / 2


@pytest.fixture(autouse=True)
def no_aliases():
    aliases.clear()
    yield
    aliases.clear()


def typed(*lines: str):
    with typing('into', *lines, 'quit') as typist:
        tf.numpy_function(norm, [np.arange(3.0)], tf.float64, name='norm')
    return typist


@pytest.mark.parametrize(('what', 'line', 'means'), [
    ('p %1.mean()', 'pm x', 'p x.mean()'), ('p %2 - %1', 'pm x y', 'p y - x'), ('p [%*]', 'pm 1, 2', 'p [1, 2]'),
    ('p', 'pm x + 1', 'p x + 1'), ('n ;; p x', 'pm', 'n ;; p x'), ('p %1', 'pm x y', 'p x'),
    ('p "%d" % 5', 'pm', 'p "%d" % 5')])
def test_what_is_typed_behind_it_goes_where_the_alias_wants_it(what, line, means):
    aliases['pm'] = what
    assert expand_alias(line) == means


def test_an_alias_of_an_alias():
    aliases.update({'a1': 'a2 %1 5', 'a2': 'p %1 + %2'})
    assert expand_alias('a1 x') == 'p x + 5'
    assert name_of('a1 x') == 'p' and not is_for_python('a1 x')


def test_it_is_carried_out_and_the_rest_comes_after():
    typist = typed('alias pm p %1.sum()', 'pm x', 'alias two pm x ;; p x.max()', 'two')
    assert typist.shown('pm x').strip() == 'float64 3.0'
    assert typist.shown('two').strip() == 'float64 3.0'
    assert typist.answers['two'].later == ('p x.max()',)


def test_a_trace_without_a_program_has_them_too():
    context = Context(sample())
    execute('alias bad calls --bad', context)
    assert execute('bad', context).command.name == 'calls'
    assert execute('alias', context).text() == 'bad = calls --bad\n'
    execute('unalias bad', context)
    assert execute('alias', context).text().startswith('no alias is set')


@pytest.mark.parametrize(('line', 'error'), [
    ('alias p pp', "'p' is a command, and an alias cannot hide a command"), ('alias pm pm', 'would expand to itself'),
    ('alias pm n ;; other', 'would expand to itself'), ('alias x? p x', "'x?' is not a valid alias name"),
    ('alias othr', "no alias 'othr'. Did you mean 'other'?"),
    ('alias nn ;;', 'holds no command'),
    ('unalias nn', "no alias 'nn'."), ('n1', "%1 is missing")])
def test_what_makes_no_sense_is_refused(line, error):
    aliases.update({'n1': 'p %1', 'other': 'p x ;; pm'})
    with pytest.raises(CommandError, match=error.replace('?', r'\?').replace('.', r'\.')):
        execute(line, Context(sample()))
    assert set(aliases) == {'n1', 'other'}
