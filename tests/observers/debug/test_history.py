"""What a condition remembers of a site: copies, bounded, of the calls that returned, on all threads."""
from __future__ import annotations

import builtins
import contextlib
import math

import numpy as np
import pytest
from native_threads import run_native
from stopping import debugging, wrapped

from pyfuncdbg.observers.debug.conditions import past_calls
from pyfuncdbg.observers.debug.conditions.past_calls import ChangeTest, Series


@pytest.fixture
def seen_by(monkeypatch):
    """`seen_by(text, function, calls)`: what an expression gives at each call; it hands that to a builtin."""
    def run(text, function, calls, timing='after-call'):
        found = []
        monkeypatch.setattr(builtins, 'keep', found.append, raising=False)
        with debugging() as (debugger, front_end):
            debugger.breakpoints.set('norm', f'keep({text}) and False', timing=timing)
            call = wrapped(function)
            for value in calls:
                with contextlib.suppress(ZeroDivisionError):
                    call(value)
            assert not front_end.stops
        return found
    return run


def test_earlier_calls_newest_last(seen_by):
    found = seen_by('[(past.number, past.x.item(), past.out.item(), past.inputs[0].item()) for past in history]',
                    lambda x: x * 2, [np.ones(1), np.full(1, 3.0), np.full(1, 5.0)])
    assert [[entry[1:] for entry in seen] for seen in found] == [[], [(1, 2, 1)], [(1, 2, 1), (3, 6, 3)]]
    assert found[2][0][0] < found[2][1][0]


def test_values_are_those_of_then(seen_by):
    array = np.zeros(3)

    def function(x):
        x += 1                                  # writes to its input
        return x                                # and gives it back

    assert seen_by('[(past.x.tolist(), past.out.tolist()) for past in history]', function, [array, array, array]) == [
        [], [([0] * 3, [1] * 3)], [([0] * 3, [1] * 3), ([1] * 3, [2] * 3)]]


def test_a_call_that_raised_is_not_in_the_history(seen_by):
    def function(x):
        return 1 / x

    assert seen_by('(len(history), history.mean(out))', function, [2, 0, 4])[1] == (1, 0.5)


def test_a_hundred_calls_are_kept(seen_by):
    found = seen_by('(len(history), history and history[0].x)', lambda x: x, [np.float64(i) for i in range(130)])
    assert found[100] == (100, 0.0)
    assert found[129] == (100, 29.0)


def test_series_are_followed_where_the_condition_does_not_ask(seen_by):
    found = seen_by('call.ordinal < 3 or (history.ema(x, alpha=0.5), history.mean(x), history.min(x), history.max(x))',
                    lambda x: x, [1.0, 3.0, math.nan, 5.0, math.inf, 0.0])
    assert found == [True, True, True, (2.0, 2.0, 1.0, 3.0), (3.5, 3.0, 1.0, 5.0), (3.5, 3.0, 1.0, 5.0)]


def test_a_series_is_nan_before_the_first_call(seen_by):
    (first,) = seen_by('(history.ema(x), history.mean(x))', lambda x: x, [1.0])
    assert all(math.isnan(value) for value in first)


def test_changed_looks_at_the_previous_call_whether_or_not_it_was_asked(seen_by):
    found = seen_by('call.ordinal in (0, 2, 5) and changed(x)', lambda x: x,
                    [np.ones(2), np.zeros(2), np.zeros(2), np.full(2, math.nan), np.full(2, math.nan), np.full(2, math.nan)],
                    timing='before')
    assert [bool(value) for value in found] == [False] * 6
    assert [bool(v) for v in seen_by('changed(x)', lambda x: x, [1.0, 1.0, 2.0, 2, np.float32(2)])] == [
        False, False, True, True, True]         # another type is another value


def test_changed_sees_type_shape_and_bits():
    change = ChangeTest()
    values = [np.zeros(2), np.zeros(2), -np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1), np.float32),
              np.array(['a'], object), np.array(['a'], object), np.arange(1000), np.arange(1000),
              (np.zeros(1), 2), (np.zeros(1), 2), {'a': 1}]
    assert [bool(change.differs(value)) for value in values] == [
        False, False, True, True, True, True, False, True, False, True, False, True]


def test_changed_keeps_no_reference_to_what_it_compares():
    change, array = ChangeTest(), np.zeros(10_000)
    change.differs(array)
    array[5] = 1
    assert change.differs(array)


def test_a_series_of_more_than_a_number_is_a_mistake_told_at_the_next_call():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'history.ema(x) > 1')
        call = wrapped(lambda x: x)
        call(np.ones(3))
        call(np.ones(3))
        assert front_end.stops == [
            ('before', 'norm[1]', 'breakpoint 1: TypeError: history.ema() follows one real number, and its expression is '
             'float64[3], in its condition history.ema(x) > 1')]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(past_calls, 'BYTES', 1 << 20)
    array = np.zeros(40_000)                    # 320 KB, in and out
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'call.ordinal == 9 and history[0].out is None')
        debugger.breakpoints.set('norm', 'len(history) == 9 and history[-1].out.size + history[-1].x.size == 80_000')
        call = wrapped(lambda x: x)
        for _ in range(10):
            call(array)
        (phase, label, reason), = front_end.stops
        assert (phase, label) == ('before', 'norm[9]')
        assert "breakpoint 1: AttributeError: 'out' of call #" in reason
        assert 'was dropped: the history holds 1 MB, in its condition' in reason
        assert reason.endswith(', breakpoint 2')


def test_what_an_earlier_call_has_is_said():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'history and history[-1].put')
        call = wrapped(lambda x: x)
        call(1.0)
        call(1.0)
        assert "AttributeError: an earlier call has out, inputs, number, x, and not 'put'" in front_end.stops[0][2]


def test_before_there_is_such_a_call_the_condition_is_not_fulfilled():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'history[-1].out > 0')
        debugger.breakpoints.set('norm', 'history[-2].x == 1 or 1 / 0')
        debugger.breakpoints.set('norm', 'history[1].x == 2')
        call = wrapped(lambda x: x)
        for value in (1.0, 2.0, 3.0):
            call(value)
        assert [(label, reason) for _, label, reason, *_ in front_end.stops] == [
            ('norm[1]', 'breakpoint 1'), ('norm[2]', 'breakpoint 1, breakpoint 2, breakpoint 3')]


def test_a_call_that_the_history_never_has_is_an_error():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'history[-101].out > 0')
        wrapped(lambda x: x)(1.0)
        assert 'IndexError: history[-101]: the last 100 calls are kept' in front_end.stops[0][2]


def test_a_word_that_a_condition_does_not_know_is_corrected():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'historry[-1].out > 0')
        wrapped(lambda x: x)(1.0)
        assert "norm has the parameters x. Did you mean 'history', in its condition" in front_end.stops[0][2]


def test_native_threads_share_one_history():
    calls, threads = 50, 8
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'len(history) > 100 or history[:0] or changed(x) and history.max(x) > 1', do='log')
        debugger.breakpoints.set('norm', 'call.ordinal == 400 and len(history) == 100 and history.mean(out) == 1')
        call = wrapped(lambda x: x)
        run_native([lambda: [call(np.ones(4).mean()) for _ in range(calls)] for _ in range(threads)])
        call(np.ones(4).mean())
        assert front_end.stops == [('after', 'norm[400]', 'breakpoint 2')]
        assert debugger.breakpoints.entry(1).hits == 0


def test_series_add_up_on_many_threads():
    series = Series('ema', 1.0)
    run_native([lambda: [series.add(1.0) for _ in range(500)] for _ in range(8)])
    assert series.value() == 1.0
