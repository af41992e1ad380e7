"""What `run` asks for, run after run: the stops are those of a model, on one thread and on several."""
from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.debugged_runs import DebuggedRuns, RunOrder
from pyfuncdbg.observers.debug.stepping.node_watch import KEPT, NodeWatch
from pyfuncdbg.observers.debug.stepping.run_policy import RunPolicy
from pyfuncdbg.session import debug_sessions

LINES = ('cont', 'run', 'run -n', 'run -t 1', 'run -t 2', 'run -t 3', 'run -f has_nan')


def raises_at_two(x):
    if x == 2:
        raise ValueError('two')
    return x


def checked():
    """A session and what it fetches: log(x), where 2 raises and -1 makes NaN."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name='x')
        checked = tf.numpy_function(raises_at_two, [x], tf.float32)
        return tf.Session(graph=graph), tf.math.log(checked, name='y'), x


def stops_of(typed, values):
    """The model: which stops the lines lead to, when these values are fed one after the other."""
    lines, stops, order = iter(typed), [], None
    for number, value in enumerate(values, 1):
        if order is None:
            stops.append(('run', number))
            line = next(lines, 'cont')
        else:
            line = order
        order = None
        ends = line == 'run'
        if line.startswith('run -t'):
            left = int(line[-1]) - 1
            ends = left == 0
            order = f'run -t {left}' if left else None
        elif line.startswith('run -f'):
            ends, order = value == -1, line
        if line != 'run -n' and (ends or value == 2):
            stops.append(('end', number))
            line = next(lines, 'cont')
            order = line if line not in ('run', 'cont') else None
    return stops


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8), st.lists(st.sampled_from((1, 2, -1)), min_size=1, max_size=10))
def test_the_stops_are_those_of_the_model(typed, values) -> None:
    with ScriptedUser(typed) as user:
        session, y, x = checked()
        session = pyfuncdbg.DebugSession(session)
        for value in values:
            if value == 2:
                with pytest.raises(Exception, match='two'):
                    session.run(y, {x: value})
            else:
                np.testing.assert_array_equal(session.run(y, {x: value}), np.log(np.float32(value))
                                              if value > 0 else np.float32('nan'))
        numbers = [int(re.search(r'\d+', reason)[0]) for _, reason in user.stops]
    assert list(zip(user.phases, numbers, strict=True)) == stops_of(typed, values)


def test_an_order_and_what_is_left_of_it() -> None:
    test = TensorTest('has_nan')
    assert RunOrder().rest() is None and RunOrder(plain=True).rest() is None and RunOrder(times=1).rest() is None
    assert RunOrder(times=3).rest() == RunOrder(times=2)
    assert RunOrder(until=test).rest() == RunOrder(until=test)


def test_who_left_is_on_again_only_when_switched_on() -> None:
    runs = DebuggedRuns()
    policy = RunPolicy(runs, 'mine')
    assert not policy.on
    policy.switch(True)
    assert policy.on
    runs.left()
    assert not policy.on
    policy.switch(True)
    policy.switch(False)
    assert not policy.on


def test_runs_on_native_threads_have_cards_of_their_own() -> None:
    threads = []

    def note(stop):
        threads.append((stop.thread, stop.phase, debugger.runs.on_thread(stop.thread).call is stop.call))
        return stop.decide('run' if stop.phase == 'run' else 'cont')

    with ScriptedUser([note] * 16):
        session, y, x = checked()
        session = pyfuncdbg.DebugSession(session)
        results = []
        run_native([lambda n=n: results.append((n, session.run(y, {x: n}))) for n in range(3, 11)])
    assert sorted(results) == [(n, np.log(np.float32(n))) for n in range(3, 11)]
    assert len(threads) == 16 and all(mine for _, _, mine in threads) and len({thread for thread, _, _ in threads}) == 8
    assert debugger.broker.stops == ()


def test_nodes_of_other_runs_are_not_recorded() -> None:
    """A run that begins while another one is debugged goes through the hook, and leaves no calls of nodes."""
    with ScriptedUser() as user:
        session, y, x = checked()
        other, z, w = checked()
        began, over = threading.Event(), threading.Event()

        def meanwhile():
            began.wait(10)
            other.run(z, {w: 5})
            over.set()

        thread = threading.Thread(target=meanwhile)
        thread.start()

        def at_node(stop):
            began.set()
            assert over.wait(10)
            return stop.decide('cont')

        user.lines = iter([lambda stop: stop.decide('node'), at_node, 'cont'])
        pyfuncdbg.DebugSession(session).run(y, {x: 3})
        thread.join()
        trace = debugger.live.trace()
        by_run = {run.id: {call.site.kind for call in trace.calls(run=run.id)} for run in trace.runs()}
    assert sorted(map(sorted, by_run.values())) == [['op', 'python'], ['python']]
    assert hooks.op == ()


def test_a_test_that_everything_passes_keeps_so_many_names() -> None:
    session, y, x = checked()
    seen = []

    class Starts:
        kinds = frozenset(('run',))

        def around(self, call, proceed):
            watch = NodeWatch(call.run, recorder, TensorTest('out == out'))
            for _ in range(KEPT + 5):
                watch.look(watch.test, call.inputs, ('x:0',), call.site.host)
            seen.append(watch)
            return proceed()

    starts = Starts()
    with ScriptedUser():
        recorder = debugger.live.recorder()
        hooks.add(starts)
        try:
            session.run(y, {x: 1})
        finally:
            hooks.remove(starts)
    (watch,) = seen
    assert (watch.count, len(watch.passed)) == (KEPT + 5, KEPT)


@pytest.mark.parametrize(('text', 'value', 'passes'), [
    ('has_nan', [1, np.nan], True), ('has_nan', [1, np.inf], False), ('has_inf_or_nan & (out.size > 1)', [np.inf], False),
    ('~has_inf', [1], True), ('absmax(out) > 3', [1, -4], True), ('out.ndim == 0', 3.0, True),
    ('has_nan(out)', [np.nan], True), ('zeros(out) == 1', [0, 0], True), ('has_nan', np.array([b'a'], object), False),
])
def test_conditions_on_one_tensor(text, value, passes) -> None:
    test = TensorTest(text)
    assert test(np.asarray(value)) is passes and str(test) == text and test == TensorTest(f' {text} ')


@pytest.mark.parametrize('text', ['', 'x > 1', 'inputs[0] > 1', 'history[-1].out', 'changed(out)', '1 == 1', 'out +',
                                  'has_nam'])
def test_conditions_that_one_tensor_cannot_have(text) -> None:
    with pytest.raises(CommandError):
        TensorTest(text)


@pytest.fixture
def all_sessions():
    """Every session is debugged, though none was wrapped; afterwards as before."""
    with ScriptedUser() as user:
        debug_sessions('the program')
        yield user
        debugger.runs.sessions = None


def test_every_session_on_every_thread_has_cards_without_being_wrapped(all_sessions) -> None:
    session, y, x = checked()
    other, z, w = checked()
    session.run(y, {x: 3})
    run_native([lambda: other.run(z, {w: 4})])
    session.make_callable(y, [x])(5)
    assert all_sessions.stops == [('run', f'{n} run of the program') for n in ('1st', '2nd', '3rd')]


def test_a_run_inside_of_a_run_and_functions_have_no_card(all_sessions) -> None:
    inner, y, x = checked()
    with tf.Graph().as_default() as graph:
        outer = tf.numpy_function(lambda: inner.run(y, {x: 3}), [], tf.float32)
        tf.Session(graph=graph).run(outer)
    tf.function(lambda a: a + 1)(tf.constant(1.))
    assert all_sessions.stops == [('run', '1st run of the program')]


def test_a_session_that_the_program_wraps_keeps_its_own_cards_and_quit_ends_all(all_sessions) -> None:
    session, y, x = checked()
    pyfuncdbg.DebugSession(session).run(y, {x: 3})
    (_, mine), = all_sessions.stops
    assert mine.startswith('1st run of session ')
    all_sessions.lines = iter(['quit'])
    session.run(y, {x: 3})
    session.run(y, {x: 3})
    assert len(all_sessions.stops) == 2 and not debugger.runs.sessions.on
