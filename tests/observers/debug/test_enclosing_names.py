"""Conditions on what a function sees beside its parameters: its object, its closure, its module's variables."""
from __future__ import annotations

import functools

import numpy as np
import pytest
from stopping import debugging, wrapped

from pyfuncdbg.errors import CommandError

STEP = 0
x = 100.0                                       # a parameter of this name is meant before it


class Layer:
    scale = 2

    def __init__(self):
        self.calls = 0

    def call(self, x):
        self.calls += 1
        return x * self.scale

    def __call__(self, x):
        return self.call(x)

    @classmethod
    def doubled(cls, x):
        return x * cls.scale


def make(k):
    def inner(x):
        return x + k
    return inner


def counted(function):
    @functools.wraps(function)
    def outer(*arguments):
        return function(*arguments)
    return outer


def takes_step(y):
    return y + STEP


def large(value):
    return value > STEP


def stops_of(function, condition, calls=6):
    """The ordinals of the calls that stop, with `STEP` and the input counting."""
    global STEP
    with debugging() as (debugger, front_end):
        call = wrapped(function, name='node')
        debugger.breakpoints.set('node', condition)
        for STEP in range(calls):
            call(np.float64(STEP))
        return [int(stop[1].removeprefix('node[').removesuffix(']')) for stop in front_end.stops]


@pytest.mark.parametrize(('function', 'condition', 'expected'), [
    (lambda x: x, 'STEP == 3', [3]),
    (takes_step, 'y > STEP - 1 and STEP > 3', [4, 5]),
    (takes_step, 'large(y + 1) and STEP < 2', [0, 1]),
    (lambda x: x, 'x > 4', [5]),
    (make(4), 'x == k', [4]),
    (make(4), "locals() == {'x': 4.0, 'k': 4}", [4]),
    (make(4), 'sum(k == STEP for _ in range(1))', [4]),
    (Layer().call, 'self.calls == 2', [2]),
    (Layer(), 'self.calls == 2', [2]),
    (Layer().call, "dir() == ['self', 'x'] and STEP == 1", [1]),
    (Layer.doubled, 'cls.scale == 2 and x == 3', [3]),
    (functools.partial(make(2)), 'x == k', [2]),
    (functools.partial(Layer().call), 'self.calls == x', [0, 1, 2, 3, 4, 5]),
    (counted(make(1)), 'x == k', [1]),
    (functools.lru_cache(make(1)), 'x == k', [1]),
    (lambda x: x, 'changed(STEP // 2)', [2, 4]),
    (lambda x: x, 'history.max(STEP) == 2', [3]),
])
def test_a_condition_sees_what_its_function_sees(function, condition, expected):
    assert stops_of(function, condition) == expected


def test_the_value_is_that_of_the_call_also_of_a_name_that_is_defined_later():
    with debugging() as (debugger, front_end):
        call = wrapped(lambda x: x, name='node')
        debugger.breakpoints.set('node', 'defined_later == 1')
        call(1.0)
        assert "name 'defined_later' is not known: node has the parameters x" in front_end.stops.pop()[2]
        globals()['defined_later'] = 1
        try:
            call(1.0)
        finally:
            del globals()['defined_later']
        assert front_end.stops == [('before', 'node[1]', 'breakpoint 1')]


def test_a_closure_without_a_value_is_said():
    def make_late():
        def inner(x):
            return late if x is None else x
        if not inner:
            late = 1
        return inner
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('node', 'late == 1')
        wrapped(make_late(), name='node')(1.0)
        assert "NameError: name 'late' is not known" in front_end.stops[0][2]


@pytest.mark.parametrize(('condition', 'why'), [
    ('x > STE', "unknown name 'STE'; the function has x. Did you mean 'STEP'?"),
    ('sel.calls > 1', "unknown name 'sel'; the function has x. Did you mean 'self'?"),
    ('k > 1', "unknown name 'k'; the function has x."),
])
def test_unknown_names_of_a_known_function_are_refused(condition, why):
    with debugging() as (debugger, _):
        call = wrapped(Layer().call, name='node')
        debugger.breakpoints.set('*')
        call(1.0)
        for accepted in ('STEP > 1', 'self.calls > 1', 'x > STEP and large(x)'):
            debugger.breakpoints.set('node', accepted)
        with pytest.raises(CommandError) as raised:
            debugger.breakpoints.set('node', condition)
        assert str(raised.value).split('\n')[0] == f'bad condition: {why}'


def test_of_a_namespace_that_is_no_module_names_are_not_known_before_the_call():
    namespace = {'__name__': __name__, 'hidden': 3}
    exec('def made(x):\n    return x', namespace)
    with debugging() as (debugger, front_end):
        call = wrapped(namespace['made'], name='node')
        debugger.breakpoints.set('*')
        call(1.0)
        debugger.breakpoints.clear(1)
        front_end.stops.clear()
        debugger.breakpoints.set('node', 'x > hidden')
        call(3.0)
        call(4.0)
        assert front_end.stops == [('before', 'node[2]', 'breakpoint 2')]


def test_a_parameter_of_one_of_several_functions_is_no_variable_of_the_module_at_the_others():
    """`x`, which is 100 in this module."""
    with debugging() as (debugger, front_end):
        first, second = wrapped(lambda x: x, name='first'), wrapped(takes_step, name='second')
        debugger.breakpoints.set('*')
        first(1.0)
        second(1.0)
        debugger.breakpoints.clear(1)
        front_end.stops.clear()
        debugger.breakpoints.set('*', 'x > 1')
        for value in (1.0, 2.0):
            first(value)
            second(value)
        assert [stop[1] for stop in front_end.stops] == ['first[2]']


def test_a_logged_condition_shows_its_variables(capfd):
    global STEP
    STEP = 7
    with debugging() as (debugger, _):
        debugger.breakpoints.set('node', 'large(x) and k < STEP', do='log')
        wrapped(make(2), name='node')(8.0)
    assert 'node[0] breakpoint 1: x=float64 8.0 k=2 STEP=7' in capfd.readouterr().err
