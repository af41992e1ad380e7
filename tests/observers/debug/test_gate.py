"""Conditions tested on values before there is a `Call`: the same stops, the same ordinals, and no trace in the program."""
from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from native_threads import run_native
from scripted_stops import Typist, typing

from pyfuncdbg import tf
from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.breakpoints.prefilter import make_gate
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop

v1 = tf.compat.v1


class Watcher(Typist):
    """Notes what each stop is about."""

    def __init__(self, lines: Any) -> None:
        super().__init__(lines)
        self.calls: list[tuple[str, int, str]] = []
        self.lasted: list[float] = []

    def interact(self, stop: Stop, broker: Any) -> None:
        assert stop.call is not None
        self.calls.append((stop.phase, stop.call.ordinal, stop.reason))
        self.lasted.append((time.perf_counter_ns() - stop.call.started) / 1e9)
        super().interact(stop, broker)


@pytest.fixture
def breakpoints() -> Iterator[Breakpoints]:
    yield debugger.breakpoints
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)


@pytest.fixture
def calls_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ordinals of the calls for which a `Call` was made."""
    made: list[int] = []
    new_call = chain.new_call

    def counted(*args: Any, **keywords: Any) -> Any:
        call = new_call(*args, **keywords)
        made.append(call.ordinal)
        return call
    monkeypatch.setattr(chain, 'new_call', counted)
    return made


def squares(seen: list[float], name: str = 'square', kind: str = 'numpy') -> Any:
    """A graph with a function, and how to call it with one number."""
    def square(x: Any) -> Any:
        seen.append(float(x))
        return x * x
    graph = tf.Graph()
    with graph.as_default():
        fed = v1.placeholder(tf.float32, [], name='x')
        wrap = tf.numpy_function if kind == 'numpy' else tf.py_function
        fetch = wrap(square, [fed], tf.float32, name=name)
    session = v1.Session(graph=graph)
    return lambda value: session.run(fetch, {fed: value})


@pytest.mark.parametrize('kind', ['numpy', 'eager'])
@pytest.mark.parametrize(('when', 'phase'), [
    ('x > 6', 'before'), ('out > 36', 'after'), ('inputs[0] > 6', 'before'), ('x + out > 42', 'after'),
    ('call.ordinal == 7', 'before'), ('absmax(x) > 6 and call.ordinal > 0', 'before')])
def test_stops_at_the_one_call_and_makes_no_other(kind: str, when: str, phase: str, breakpoints: Breakpoints,
                                                  calls_made: list[int]) -> None:
    seen: list[float] = []
    call = squares(seen, kind=kind)
    call(0)
    with typing(at_next_call=False, typist=Watcher) as typist:
        one = breakpoints.set('square', when, once=True)
        results = [float(call(value)) for value in range(1, 10)]
    assert results == [value * value for value in range(1, 10)]
    assert seen == [float(value) for value in range(10)]        # the function ran once for each
    ordinal = 7 if when == 'call.ordinal == 7' else 6           # of the calls since somebody watches
    assert typist.calls == [(phase, ordinal, f'breakpoint {one.number}')]
    assert calls_made[0] == ordinal
    assert breakpoints.entry(one.number).hits == 1
    assert breakpoints.entry(one.number).sites == {'square': None}


def test_a_false_condition_makes_no_call(breakpoints: Breakpoints, calls_made: list[int]) -> None:
    call = squares([])
    for when in ('x < 0', 'has_nan(x)', 'has_nan(out)', 'has_nan', 'not call.ordinal < 1000', 'len(inputs) != 1'):
        one = breakpoints.set('square', when)
        debugger.start()
        assert [float(call(value)) for value in (1, 2)] == [1, 4]
        breakpoints.clear(one.number)
    debugger.leave()
    assert calls_made == []


@pytest.mark.parametrize('when', ['print(x) is not None', 'np.random.rand() > 2', 'history[-1].number < 0',
                                  'call.thread == 0', 'changed(x) and x > 100', 'history.mean(x) > 1e9'])
def test_what_needs_more_than_values_is_tested_with_a_call(when: str, breakpoints: Breakpoints, calls_made: list[int],
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    call = squares([])
    breakpoints.set('square', when)
    debugger.start()
    for value in (1, 2, 3):
        call(value)
    debugger.leave()
    assert len(calls_made) == 3
    assert capsys.readouterr().out == ('1.0\n2.0\n3.0\n' if 'print' in when else '')    # evaluated once a call


def test_a_late_gate_hands_over_what_was_computed(breakpoints: Breakpoints) -> None:
    seen: list[float] = []

    def slow(x: Any) -> Any:
        seen.append(float(x))
        time.sleep(0.05)
        return x + np.float32(len(seen))
    graph = tf.Graph()
    with graph.as_default():
        fed = v1.placeholder(tf.float32, [], name='x')
        fetch = tf.numpy_function(slow, [fed], tf.float32, name='slow')
    with v1.Session(graph=graph) as session, typing('p out', 'retry', 'p out', at_next_call=False, typist=Watcher) as typist:
        breakpoints.set('slow', 'out > 0')
        result = session.run(fetch, {fed: 1})
    assert [phase for phase, _, _ in typist.calls] == ['after', 'after']
    assert typist.lasted[0] >= 0.05                         # it began when the function did
    assert seen == [1.0, 1.0] and result == 3.0             # once, and once more for `retry`
    assert '2' in typist.said[0][1] and '3' in typist.said[2][1]


def test_a_condition_that_fails_stops_and_says_why(breakpoints: Breakpoints) -> None:
    call = squares([])
    with typing(at_next_call=False, typist=Watcher) as typist:
        breakpoints.set('square', 'x.shape[3] > 2')
        assert call(3) == 9
    assert [phase for phase, _, _ in typist.calls] == ['before']
    assert 'IndexError' in typist.calls[0][2] and 'x.shape[3]' in typist.calls[0][2]


def test_a_condition_that_is_an_array_stops_and_says_why(breakpoints: Breakpoints) -> None:
    graph = tf.Graph()
    with graph.as_default():
        fed = v1.placeholder(tf.float32, [3], name='x')
        fetch = tf.numpy_function(lambda x: x, [fed], tf.float32, name='same')
    with v1.Session(graph=graph) as session, typing(at_next_call=False, typist=Watcher) as typist:
        breakpoints.set('same', 'x > 1')
        session.run(fetch, {fed: [1, 2, 3]})
    assert 'end it with .any() or .all()' in typist.calls[0][2]


def test_the_arithmetic_of_a_condition_warns_of_nothing(breakpoints: Breakpoints) -> None:
    call = squares([])
    breakpoints.set('square', 'np.log(x) > 1e9')
    breakpoints.set('square', 'np.float32(1) / (x * 0) < 0')
    debugger.start()
    with np.errstate(all='raise'), warnings.catch_warnings():
        warnings.simplefilter('error')
        assert call(-2) == 4
    debugger.leave()


def test_a_breakpoint_set_by_the_function_itself_counts_after_it(breakpoints: Breakpoints) -> None:
    def setting(x: Any) -> Any:
        breakpoints.set('setting', 'out == 5', timing='after-call')
        return x
    graph = tf.Graph()
    with graph.as_default():
        fed = v1.placeholder(tf.float32, [], name='x')
        fetch = tf.numpy_function(setting, [fed], tf.float32, name='setting')
    with v1.Session(graph=graph) as session, typing(at_next_call=False, typist=Watcher) as typist:
        breakpoints.set('setting', 'out < 0')
        assert session.run(fetch, {fed: 5}) == 5
    assert [(phase, ordinal) for phase, ordinal, _ in typist.calls] == [('after', 0)]


def test_an_ordinal_of_a_node_under_native_threads(breakpoints: Breakpoints, calls_made: list[int]) -> None:
    call = squares([])
    with typing(at_next_call=False, typist=Watcher) as typist:
        breakpoints.set('square[37]')
        run_native([lambda: [call(1) for _ in range(10)] for _ in range(8)])
    assert [(phase, ordinal) for phase, ordinal, _ in typist.calls] == [('before', 37)]
    assert 37 in calls_made


def test_the_error_of_a_function_behind_a_gate_is_its_own(breakpoints: Breakpoints) -> None:
    def failing(x: Any) -> Any:
        raise KeyError('mine')
    graph = tf.Graph()
    with graph.as_default():
        fetch = tf.numpy_function(failing, [tf.constant(1.0)], tf.float32, name='failing')
    breakpoints.set('failing', 'out < 0')
    debugger.start()
    with v1.Session(graph=graph) as session, pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch)
    debugger.leave()
    assert isinstance(caught.value.__cause__, KeyError)


def test_two_timings_at_one_site_need_calls() -> None:
    def function(x: Any) -> Any:
        return x

    class Host:
        @staticmethod
        def to_numpy(value: Any) -> Any:
            return value
    site = CallSite('norm', 'PyFunc', 'python', Host(), function=function)      # type: ignore[arg-type]
    points = Breakpoints(lambda: None, None)                                    # type: ignore[arg-type]
    before, after = points.set('norm', 'x < 0'), points.set('norm', 'out < 0')

    class Owner:
        evaluated = False

        def __init__(self, breakpoint: Breakpoint) -> None:
            self.breakpoint = breakpoint

    def late(*given: Breakpoint) -> bool | None:
        found = make_gate(site, [Owner(one) for one in given])
        return None if found is None else found.needs_outputs
    assert (late(before), late(after), late(before, after)) == (False, True, None)
    assert late(before, points.set('norm', 'x > 9')) is False
    assert late(points.set('norm')) is None
    assert late(points.set('norm[3]')) is False
    assert late(points.set('norm', 'has_nan(x)', timing='error')) is None


def test_the_time_at_a_stop_is_no_time_of_the_call(breakpoints: Breakpoints) -> None:
    calls: list[Any] = []

    class Slow(Typist):
        def interact(self, stop: Stop, broker: Any) -> None:
            calls.append(stop.call)
            time.sleep(0.2)
            super().interact(stop, broker)
    call = squares([])
    with typing('step', at_next_call=False, typist=Slow) as typist:
        breakpoints.set('square')
        call(3)
    assert [phase for phase, *_ in typist.stops] == ['before', 'line']
    assert calls[0].finished - calls[0].started < 0.2e9
