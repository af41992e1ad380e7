"""`n 3`, `s 3`, `node 3` and `c 3`: as often, and asked again where something else stops."""
from __future__ import annotations

import numpy as np
import pytest
from scripted_stops import typing

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger


def norm(x):
    a = x + 1
    b = a * 2
    c = b - 1
    return c / 2


FIRST = norm.__code__.co_firstlineno


def call(times: int = 1) -> None:
    for _ in range(times):
        tf.numpy_function(norm, [np.ones(2)], tf.float64, name='norm')


@pytest.fixture(autouse=True)
def left():
    yield
    debugger.catching = False
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


@pytest.mark.parametrize(('verb', 'lines'), [
    ('next 3', [1, 4]), ('n 2', [1, 3]), ('step 2', [1, 3]), ('s 3', [1, 4]), ('n 1', [1, 2, 3, 4]),
    ('n', [1, 2, 3, 4])])
def test_so_many_steps(verb, lines):
    with typing('into', *([verb] * (len(lines) - 1)), 'quit') as typist:
        call()
    assert [line - FIRST for function, line in typist.lines if function == 'norm'] == lines


def test_a_breakpoint_on_the_way_ends_the_steps():
    with typing('into', f'break {__file__}:{FIRST + 3}', 'n 4', 'n', 'quit') as typist:
        call()
    assert [line - FIRST for _, line in typist.lines] == [1, 3, 4]


@pytest.mark.parametrize('place', ['norm', f'{__file__}:{FIRST + 2}'])
def test_cont_passes_over_hits_of_the_breakpoint_that_stopped(place):
    with typing('c 3', 'bl', 'c 2', 'c', at_next_call=False) as typist:
        debugger.breakpoints.set(place)
        call(7)
    assert len(typist.stops) == 4               # at 1, 4, 6 and 7
    (entry,) = debugger.breakpoints.entries.values()
    assert (entry.hits, entry.breakpoint.after) == (7, 5)


def test_cont_with_a_count_is_about_a_breakpoint():
    with typing('c 2', 'cont', at_next_call=True) as typist:
        call(3)
    assert typist.shown('c 2') == 'no breakpoint stopped here, so there is no hit to skip\n'
    assert len(typist.stops) == 1


def test_cont_passes_over_hits_of_each_breakpoint_of_a_line():
    with typing('c 3', at_next_call=False) as typist:
        for condition in (None, 'x[0] >= 0'):
            debugger.breakpoints.set(f'{__file__}:{FIRST + 2}', condition)
        call(4)
    assert len(typist.stops) == 2               # at 1 and 4
    assert [entry.breakpoint.after for entry in debugger.breakpoints.entries.values()] == [3, 3]


def test_steps_that_were_not_used_up_are_forgotten_when_debugging_is_left():
    with typing('into', 'n 100', 'quit') as typist:
        call()
    with typing('into', 'n', 'quit') as typist:
        call()
    assert len(typist.stops) == 3


def test_an_error_ends_the_steps():
    def broken(x):
        y = x + 1
        return y.nothing
    with typing('into', 'n 50', 'quit') as typist, pytest.raises(AttributeError):
        tf.numpy_function(broken, [np.ones(2)], tf.float64, name='norm')
    assert [stop[0] for stop in typist.stops][-1] == 'exception'


@pytest.mark.parametrize('line', ['n 0', 'n -1', 'n x', 'c 1 2', 'return 2'])
def test_what_is_no_number_is_refused(line):
    with typing('into', line, 'quit') as typist:
        call()
    assert typist.shown(line).startswith('*** ')
