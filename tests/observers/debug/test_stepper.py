"""Stepping is pdb's: the same stops for the same commands, on any thread, and nothing left behind."""
from __future__ import annotations

import gc
import pdb
import sys
import threading
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native
from observers.debug.stepping_samples import SAMPLES, cached, caught, fact, numbers, straight
from scripted_stops import Typist, debugger, typing, wrapped

from pyfuncdbg import tf

COMMANDS = st.sampled_from(['step', 'next', 'next', 'step', 'return', 'until', 'up', 'until +2'])


class Scripted(pdb.Pdb):
    """pdb with commands from a list, and a list of its stops up to the return of the function it was started in."""

    def __init__(self, script):
        super().__init__(nosigint=True, readrc=False)
        self.script = iter(script)
        self.stops = []

    def interaction(self, frame, trace):
        self.stops.append((self.kind, frame.f_code.co_name, frame.f_lineno))
        if self.kind == 'return' and frame is self.first:
            self.set_continue()
            return
        outer = frame
        while outer is not self.first.f_back:   # pdb forgets to follow callers that it has gone over (bpo-13183)
            outer.f_trace, outer = self.trace_dispatch, outer.f_back
        self.setup(frame, trace if not isinstance(trace, BaseException) else trace.__traceback__)
        while True:
            command = next(self.script, 'continue')
            if command == 'until +2':
                command = f'until {self.curframe.f_lineno + 2}'
            if command != 'up':
                self.onecmd(command)
                break
            if self.curframe is not self.first:
                self.onecmd('up')

    def message(self, text):
        pass

    def user_call(self, frame, arguments):
        self.kind = 'call'
        super().user_call(frame, arguments)

    def user_line(self, frame):
        if not self.stops:
            self.first = frame
        self.kind = 'line'
        super().user_line(frame)

    def user_return(self, frame, value):
        self.kind = 'return'
        super().user_return(frame, value)

    def user_exception(self, frame, info):
        self.kind = 'exception'
        super().user_exception(frame, info)


def by_pdb(function, script):
    debugged = Scripted(script)
    before = sys.gettrace()
    try:
        debugged.runcall(function, 4)
    except ValueError:
        pass
    finally:
        sys.settrace(before)
    return debugged.stops


class Stepping:
    """The same by ours: a front end that decides by the same script."""

    name = 'stepping'
    priority = 1000

    def __init__(self, function, script):
        self.code = function.__code__
        self.script = iter(script)
        self.stops = []

    def usable(self):
        return True

    def interact(self, stop, broker):
        from pyfuncdbg.observers.debug.inspecting.stack import move_selection, selected_frame
        if stop.phase == 'before':
            stop.decide('step')
            return
        if stop.phase in ('after', 'error'):
            self.stops.append(('return', self.code.co_name, 0))
            stop.decide('cont')
            return
        self.stops.append((stop.phase, stop.frame.f_code.co_name, stop.frame.f_lineno))
        while stop.decision is None:
            command = next(self.script, 'cont')
            frame = selected_frame(stop)
            if command == 'up':
                if frame.f_code is not self.code:
                    move_selection(stop, -1)
            elif command == 'until +2':
                stop.decide('until', frame.f_lineno + 2)
            else:
                stop.decide(command)


def by_us(function, script):
    front_end = Stepping(function, script)
    debugger.broker.add(front_end)
    debugger.start()
    debugger.plan(threading.get_native_id()).next_call = True
    try:
        wrapped(function, 4)
    except (ValueError, tf.errors.OpError):
        pass
    finally:
        debugger.leave()
        debugger.broker.remove(front_end)
        debugger.plans.clear()
    return front_end.stops


def without_place_of_return(stops, function):
    return [(kind, name, 0 if kind == 'return' and name == function.__name__ else line) for kind, name, line in stops]


def same(function, script):
    gc.disable()                                # a step may come upon a callback of the collector
    try:
        cached.cache_clear()
        expected = without_place_of_return(by_pdb(function, script), function)
        cached.cache_clear()
        assert without_place_of_return(by_us(function, script), function) == expected
    finally:
        gc.enable()
    return expected


@pytest.mark.parametrize('function', SAMPLES)
@pytest.mark.parametrize('command', ['step', 'next', 'until', 'return'])
def test_one_command_again_and_again_stops_where_pdb_does(function, command):
    stops = same(function, [command] * 400)
    assert len(stops) >= (1 if command == 'return' else 2)


@given(st.sampled_from(SAMPLES), st.lists(COMMANDS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_commands_stop_where_pdb_does(function, script):
    same(function, script)


def test_the_end_of_a_function_is_the_stop_after_its_call_and_then_the_line_of_the_caller():
    def caller():
        result = tf.numpy_function(straight, [4], tf.int64)
        twice = result * 2
        return twice  # noqa: RET504  a line to stop at
    with typing('step', 'return', 'next', 'next', 'p int(twice)', 'cont') as typist:
        assert int(caller()) == 70
    first = caller.__code__.co_firstlineno
    assert [(phase, line) for phase, _, line in typist.stops] == [
        ('before', 0), ('line', straight.__code__.co_firstlineno + 1), ('after', 0), ('line', first + 2),
        ('line', first + 3)]
    assert typist.shown('p int(twice)') == '70\n'


def test_a_graphs_next_node_follows_the_end_of_a_function():
    graph = tf.Graph()
    with graph.as_default():
        b = tf.numpy_function(lambda x: x + 1, [tf.constant([1.0], tf.float64)], tf.float64, name='b')
        c = tf.multiply(b, 2.0, name='c')
    def caller(session):
        value = session.run(c)
        return value  # noqa: RET504  as above
    with typing('step', 'next', 'next', 'next', 'next', 'p value') as typist:
        assert caller(tf.compat.v1.Session(graph=graph)) == [4.0]
    assert [phase for phase, _, _ in typist.stops] == ['before', 'line', 'after', 'node', 'node', 'line']
    assert typist.stops[-1][1:] == ('caller', caller.__code__.co_firstlineno + 2)
    assert 'float64 [1]' in typist.shown('p value')


def test_next_at_a_call_stops_after_it():
    with typing('next') as typist:
        wrapped(straight, 4)
    assert [phase for phase, _, _ in typist.stops] == ['before', 'after']


def test_going_on_within_a_call_forgets_the_stop_after_it():
    with typing('step', 'cont') as typist:
        wrapped(straight, 4)
    assert [phase for phase, _, _ in typist.stops] == ['before', 'line']


def test_next_goes_over_a_wrapped_call_and_step_into_it():
    def inner(x):
        return x * 3

    def outer(x):
        y = tf.numpy_function(inner, [x], tf.float64)
        return np.asarray(y) + 1
    for commands, expected in ((('step', 'next'), ['outer', 'outer']),
                               (('step', 'step', 'step'), ['outer', 'inner', 'inner'])):
        with typing(*commands) as typist:
            assert float(wrapped(outer, np.float64(2))) == 7.0
        assert [name for name, _ in typist.lines] == expected


def test_a_nested_call_ends_with_its_own_stop_and_goes_on_in_the_outer_function():
    def inner(x):
        return x * 3

    def outer(x):
        y = tf.numpy_function(inner, [x], tf.float64)
        return np.asarray(y) + 1
    with typing('step', 'step', 'step', 'step', 'step', 'step') as typist:
        wrapped(outer, np.float64(2))
    assert [(phase, name) for phase, name, _ in typist.stops] == [
        ('before', ''), ('line', 'outer'), ('call', 'inner'), ('line', 'inner'), ('after', ''), ('line', 'outer'),
        ('after', '')]


def test_native_threads_are_stepped_each_by_itself():
    results = []

    def go(n):
        debugger.plan(threading.get_native_id()).next_call = True
        result = int(tf.numpy_function(straight, [n], tf.int64))
        results.append((result, sys.gettrace()))

    class ByThread(Typist):
        scripts: ClassVar[dict[int, Iterator[str]]] = {}

        def interact(self, stop, broker):
            self._lines = self.scripts.setdefault(stop.thread, iter(['step', 'next', 'next', 'next', 'cont']))
            super().interact(stop, broker)
    with typing(at_next_call=False, typist=ByThread) as typist:
        run_native([lambda: go(4), lambda: go(5), lambda: go(6)])
    assert sorted(results) == [(35, None), (48, None), (63, None)]
    assert sorted(typist.threads) == sorted([*set(typist.threads)] * 5)
    first = straight.__code__.co_firstlineno
    assert sorted(typist.lines) == sorted([('straight', first + n) for n in (1, 2, 3, 2)] * 3)


@pytest.mark.parametrize('script', [('step', 'next', 'cont'), ('step', 'step', 'step', 'cont'), ('step', 'return', 'quit'),
                                    ('step', 'next', 'retry', 'cont')])
def test_what_traced_the_thread_before_is_back_exactly(script):
    seen = []

    def tool(frame, event, arg):
        seen.append(event)
        return tool

    def run():
        wrapped(straight, 4)
        return sys._getframe().f_trace
    before = sys.gettrace()
    with typing(*script):
        sys.settrace(tool)
        try:
            left = run()
            now = sys.gettrace()
        finally:
            sys.settrace(before)
    assert now is tool
    assert left is tool
    assert 'return' in seen


def test_no_trace_function_is_left_behind():
    def frames():
        frame = sys._getframe(1)
        while frame is not None:
            yield frame
            frame = frame.f_back
    before = sys.gettrace(), [frame.f_trace for frame in frames()]
    with typing('step', 'step', 'next', 'cont'):
        wrapped(caught, 4)
        assert (sys.gettrace(), [frame.f_trace for frame in frames()]) == before
        assert not debugger.plans


def test_a_generator_that_slept_does_not_wake_the_stepper():
    held = []

    def begin(x):
        held.append(numbers(3))
        next(held[0])
        return x
    with typing('step', 'step', 'step', 'step', 'step', 'cont') as typist:
        wrapped(begin, np.float64(1))
        seen = len(typist.stops)
        before = sys.gettrace()
        sys.settrace(lambda frame, event, arg: None)
        try:
            assert next(held[0]) == 1
        finally:
            sys.settrace(before)
        assert len(typist.stops) == seen
    assert 'numbers' in [name for name, _ in typist.lines]


def test_a_hook_of_ours_is_never_stepped_through(tmp_path):
    import pyfuncdbg
    with pyfuncdbg.record(tmp_path / 'a.pfd'), typing(*['step'] * 60) as typist:
        wrapped(straight, 4)
    assert [phase for phase, _, _ in typist.stops].count('after') == 1
    after = [phase for phase, _, _ in typist.stops].index('after')
    assert {name for _, name, _ in typist.stops[1:after]} == {'straight', 'add'}
    assert typist.stops[after + 1][:2] == ('return', 'wrapped')


def test_a_deep_recursion_returns_frame_by_frame():
    def deep(x):
        return fact(15)
    with typing('step', *['step'] * 45, *['return'] * 10) as typist:
        wrapped(deep, np.float64(1))
    assert sum(phase == 'return' for phase, _, _ in typist.stops) >= 8


def test_a_call_that_began_before_the_debugger_is_left_as_any_function(tmp_path):
    import pyfuncdbg

    def halts(x):
        pyfuncdbg.breakpoint()
        y = x + 1
        return y  # noqa: RET504  a line to stop at

    def caller():
        wrapped(halts, 1.0)
        return sys._getframe().f_lineno
    debugger.left = False
    front_end = Typist(['next', 'next', 'next', 'retry', 'next'])
    debugger.broker.add(front_end)
    try:
        with pyfuncdbg.record(tmp_path / 'a.pfd'):
            line = caller()
    finally:
        debugger.leave()
        debugger.broker.remove(front_end)
        debugger.plans.clear()
    assert [(phase, name) for phase, name, _ in front_end.stops][:4] == [
        ('line', 'halts'), ('line', 'halts'), ('return', 'halts'), ('return', 'wrapped')]
    assert line == caller.__code__.co_firstlineno + 2


def test_a_base_exception_goes_on_being_stepped_in_the_caller():
    def stopped(x):
        raise KeyboardInterrupt

    def caller():
        try:
            wrapped(stopped, 1.0)
        except KeyboardInterrupt:
            return 'seen'
    with typing('step', 'next', 'next', 'next', 'next') as typist:
        assert caller() == 'seen'
    assert ('exception', 'wrapped') in [(phase, name) for phase, name, _ in typist.stops]
    assert typist.stops[-1][1] in ('wrapped', 'caller')


@pytest.mark.parametrize('way', [('s', 's', 's', 's', 's', 's'), ('s', 's', 's', 'r')])
def test_a_function_that_an_error_leaves_returns_nothing(way):
    """Where it would return, pdb stops too, and says that it returned None."""
    with typing(*way, 'retval', 'p $_retval', 'p $_exception') as typist:
        wrapped(caught, 4)
    assert typist.stops[-1][:2] == ('return', 'raising')
    card = ' '.join(typist.cards[-1].split())
    assert 'leaving raising' in card and 'left by ValueError' in card and 'returns' not in card
    assert typist.shown('retval').startswith('*** retval: no value was returned here')
    assert typist.shown('p $_retval').startswith('*** $_retval is the return value')
    assert typist.shown('p $_exception') == 'ValueError(array(4))\n'


def test_a_condition_that_raises_is_no_error_of_the_program_that_is_stepped():
    line = caught.__code__.co_firstlineno + 2
    number = debugger.breakpoints.set(f'{caught.__code__.co_filename}:{line}', '1/0').number
    try:
        with typing('s', 'n', 'p $_exception') as typist:
            wrapped(caught, 4)
    finally:
        debugger.breakpoints.clear(number)
    assert [(phase, place) for phase, _, place in typist.stops] == [('before', 0), ('line', line - 1), ('line', line)]
    assert 'ZeroDivisionError: division by zero, in its condition' in ' '.join(typist.cards[-1].split())
    assert typist.shown('p $_exception').startswith('*** $_exception is the exception raised here, and there is none')


def test_the_stop_after_a_call_that_raised_says_that_the_call_is_over():
    def failing(x):
        raise ValueError(f'no {x}')
    with typing('s', 'n', 'n') as typist, pytest.raises(ValueError, match='no 4'):
        wrapped(failing, 4)
    in_it, after = (' '.join(card.split()) for card in typist.cards[-2:])
    assert 'STOPPED in failing at test_stepper.py' in in_it and 'STOPPED after call 1 of node' in after
    assert ', in failing at test_stepper.py' in after and 'raised ValueError' in after
