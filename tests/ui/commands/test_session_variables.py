"""`$name`, `$_`, `$_exception`, `$_retval`; and what is assigned at a node of the graph."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.conditions.session_variables import MARK, session_variables, translate
from pyfuncdbg.observers.debug.debugger import debugger

SCALE = 2.0


def norm(x):
    a = x + SCALE
    return a / 2


def call(times: int = 1) -> None:
    for _ in range(times):
        tf.numpy_function(norm, [np.arange(3.0)], tf.float64, name='norm')


def typed(*lines: str, times: int = 1):
    with typing(*lines, 'quit') as typist:
        call(times)
    return typist


@pytest.mark.parametrize(('text', 'python'), [
    ('$x + 1', f'{MARK}x + 1'), ("'$x' + $y", f"'$x' + {MARK}y"), ('f"""$a\n$b""" # $c', 'f"""$a\n$b""" # $c'), ('a$', 'a$'),
    ('$1', '$1'), ('x # $y', 'x # $y'), (r"'\'$x' + $y", rf"'\'$x' + {MARK}y")])
def test_only_names_of_variables_are_translated(text, python):
    assert translate(text) == python and len(translate(text)) == len(text)


def test_a_variable_is_kept_from_stop_to_stop_and_reaches_no_frame():
    typist = typed('into', '$n = x.sum()', 'p $n + 1', 'n', 'p $n', "'n' in locals()", 'c')
    assert typist.shown('p $n + 1').strip() == 'float64 4.0'
    assert typist.shown('p $n').strip() == 'float64 3.0'
    assert typist.shown("'n' in locals()").strip() == 'False'
    assert 'n' not in session_variables         # quit forgets them: they may hold much


def test_functions_and_loops_know_them():
    typist = typed('into', '$k = 10', 'p [v * $k for v in range(3)]', 'p (lambda v: v + $k)(1)',
                   'for $i in range(4): pass', 'p $i')
    assert typist.shown('p [v * $k for v in range(3)]').strip() == '[0, 10, 20]'
    assert typist.shown('p (lambda v: v + $k)(1)').strip() == '11'
    assert typist.shown('p $i').strip() == '3'


@pytest.mark.parametrize(('line', 'error'), [
    ('p $nothing', "*** $nothing has no value: '$nothing = EXPR' sets it."),
    ('p $_', '*** $_ is the last value printed at this stop, and there is none'),
    ('p $_exception', '*** $_exception is the exception raised here, and there is none'),
    ('p $_retval', '*** $_retval is the return value: it exists where a function returns, and after a call'),
    ('$_ = 1', '*** $_ is set by the debugger at each stop; choose another name'),
    ('p $x + )', "*** SyntaxError: unmatched ')'\n    $x + )\n         ^")])
def test_what_has_no_value_says_so(line, error):
    assert typed('into', line).shown(line) == error


def test_a_near_name_is_suggested():
    assert "Did you mean '$total'?" in typed('into', '$total = 1', 'p $totl').shown('p $totl')


def test_the_last_value_and_what_is_returned():
    typist = typed('into', 'p x.max()', 'p $_ * 2', 'p $_ * 2', 'r', 'p $_retval[0]')
    assert [text.strip() for line, text in typist.said if line == 'p $_ * 2'] == ['float64 4.0', 'float64 8.0']
    assert typist.shown('p $_retval[0]').strip() == 'float64 1.0'


def test_the_error():
    def broken(x):
        raise ValueError('no good')
    debugger.catching = True
    with typing('p $_exception.args[0]', at_next_call=False) as typist, pytest.raises(ValueError, match='no good'):
        debugger.catching = True
        tf.numpy_function(broken, [np.ones(2)], tf.float64, name='broken')
    assert typist.shown('p $_exception.args[0]').strip() == "'no good'"


def test_a_printed_value_is_not_kept_when_the_thread_goes_on():
    """NumPy's resize refuses an array that somebody else holds."""
    alive = []

    class Thing:
        pass

    def function(x):
        things = [Thing()]
        alive.append(weakref.ref(things[0]))
        things.clear()
        gc.collect()
        alive.append(alive[0]())
        return x
    with typing('into', 'n', 'n', 'p things[0]', 'c') as typist:
        tf.numpy_function(function, [np.ones(2)], tf.float64, name='norm')
    assert 'Thing' in typist.shown('p things[0]')
    assert alive[1] is None


# ---------------------------------------------------------------- at a node
def test_what_is_assigned_at_a_node_is_kept_and_said():
    typist = typed('y = 5', 'p y + 1', 'into', 'p y', 'p $y', 'c', 'del y', 'p y', times=2)
    assert typist.shown('y = 5') == '$y is a variable of this session; the graph and the program do not see it\n'
    assert typist.shown('p y + 1').strip() == '6'
    assert typist.shown('p $y').strip() == '5'


def test_functions_that_are_defined_at_a_node_can_be_called():
    typist = typed('def twice(v):\n    return v * 2 + SCALE\n', 'p twice(4)')
    assert typist.shown('p twice(4)').strip() == '10.0'


def test_a_variable_can_be_deleted():
    typist = typed('y = 5', 'del y', 'p y')
    assert typist.shown('p y').startswith("*** NameError: name 'y' is not defined")


@pytest.mark.parametrize(('line', 'part'), [('SCALE = 3.0', '"$SCALE = ..." is a variable of the session'),
                                            ('x = 1', 'set it by "inject TENSOR EXPR"'), ('np = 1', '"$np = ..."')])
def test_names_of_the_program_are_not_hidden_by_ones_of_the_session(line, part):
    assert part in typed(line).shown(line)
    assert SCALE == 2.0


def test_in_a_frame_assignments_are_the_frames():
    typist = typed('into', 'x = x * 10', 'new = 7', 'n', 'p a', 'p new')
    assert typist.shown('p a').splitlines()[-1].split() == ['[0]', '2', '12', '22']
    assert typist.shown('p new').strip() == '7'
    assert typist.shown('new = 7') == ''


@pytest.mark.parametrize('condition', [
    'norm --before if x[0] > $limit and all(v < $limit + 9 for v in [1.0])',
    f'{__file__}:20 if x[0] > $limit and all(v < $limit + 9 for v in [1.0])'])
def test_conditions_read_the_variables_of_the_session_each_time(condition):
    """Of a call and of a line; a comprehension, which has a scope of its own, knows them too."""
    with typing('$limit = 2.5', f'break {condition}', 'c', 'p x[0]', '$limit = 5.5', 'c', 'p x[0]',
                'clear all', 'quit') as typist:
        for value in range(9):
            tf.numpy_function(norm, [np.full(3, float(value))], tf.float64, name='norm')
    assert [text.strip() for typed_line, text in typist.said if typed_line == 'p x[0]'] == ['float64 3.0', 'float64 6.0']


@pytest.mark.parametrize('place', ['norm --before', f'{__file__}:20'])
def test_a_condition_on_a_variable_that_is_not_set_stops_once_and_says_so(place):
    with typing(f'break {place} if x[0] > $limit', 'c', 'clear all', 'quit') as typist:
        call(4)
    why = "LookupError: $limit has no value: '$limit = EXPR' sets it"
    assert [why in ' '.join(card.split()) for card in typist.cards] == [False, True]


def test_what_has_a_value_at_a_stop_only_is_refused_in_a_condition():
    typist = typed('break norm if $_exception', f'break {__file__}:20 if $_ > 1')
    assert typist.shown('break norm if $_exception') == (
        '*** bad condition: $_exception exists only at a stop\n  $_exception\n  ^')
    assert '$_ exists only at a stop' in typist.shown(f'break {__file__}:20 if $_ > 1')


def test_what_is_cleared_is_not_watched_any_more():
    line = f'break {__file__}:20'
    typist = typed('into', line, 'clear all')
    assert 'calls that have begun' in typist.shown(line)         # this one runs
    cleared = ' '.join(typist.shown('clear all').split())
    assert ' cleared at ' in cleared and 'calls that' not in cleared
