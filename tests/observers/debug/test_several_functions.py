"""A breakpoint on a name that several functions share, such as an op type: a condition on the parameters of one of them."""
from __future__ import annotations

import numpy as np
import pytest
from stopping import debugging, wrapped

from pyfuncdbg.errors import CommandError

ONE, TWO = np.float64(1), np.float64(2)


def halved(a):
    return a / 2


def added(b, c):
    return b + c


def call_both_twice(debugger, condition):
    first, second = wrapped(halved, name='PyFunc'), wrapped(added, name='PyFunc')
    debugger.breakpoints.set('PyFunc', condition)
    for _ in range(2):
        first(TWO)
        second(TWO, ONE)


def test_a_condition_on_one_of_several_functions_stops_at_that_one():
    with debugging() as (debugger, front_end):
        call_both_twice(debugger, 'a > 1')
        assert [stop[:2] for stop in front_end.stops] == [('before', 'PyFunc[0]'), ('before', 'PyFunc[1]')]
        assert {stop[2] for stop in front_end.stops} == {'breakpoint 1'}


def test_a_function_that_is_met_before_the_one_that_is_meant_is_named():
    with debugging() as (debugger, front_end):
        call_both_twice(debugger, 'b > 1')
        (_, _, reason), *others = front_end.stops
        assert "name 'b' is not known: halved has the parameters a" in reason
        assert [stop[2] for stop in others] == ['breakpoint 1'] * 2


def test_a_name_that_none_of_several_functions_has_stops_once():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('PyFunc', 'd > 1')
        wrapped(halved, name='PyFunc')(TWO)
        wrapped(added, name='PyFunc')(TWO, ONE)
        assert ["'d' is not known" in stop[2] for stop in front_end.stops] == [True]


def test_known_functions_are_asked_where_the_condition_is_set():
    with debugging() as (debugger, front_end):
        first, second = wrapped(halved, name='PyFunc'), wrapped(added, name='PyFunc')
        debugger.breakpoints.set('*')
        first(TWO)
        second(TWO, ONE)
        debugger.breakpoints.clear(1)
        front_end.stops.clear()
        debugger.breakpoints.set('PyFunc', 'a > 1')
        second(TWO, ONE)
        first(TWO)
        assert [stop[2] for stop in front_end.stops] == ['breakpoint 2']
        with pytest.raises(CommandError) as raised:
            debugger.breakpoints.set('PyFunc', 'd > 1')
        assert str(raised.value).split('\n') == [
            "bad condition: unknown name 'd'; the function has b, c.", '  d > 1', '  ^',
            'PyFunc means the functions halved, added: give one of them instead for a condition on its parameters']


def test_a_function_that_is_defined_anew_counts_once():
    with debugging() as (debugger, front_end):
        def local(a):
            return a
        wrapped(local)(TWO)
        debugger.breakpoints.set('norm', 'a > 1')
        wrapped(local)(TWO)

        def local(b):
            return b
        wrapped(local)(TWO)
        assert [stop[2][:35] for stop in front_end.stops] == ['breakpoint 1', 'breakpoint 1: NameError: name \'a\' i']
        with pytest.raises(CommandError, match="unknown name 'a'; the function has b"):
            debugger.breakpoints.set('norm', 'a > 1')
