"""Stepping through the nodes of a run: between nodes, into functions and out again, through errors, in eager code."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from native_threads import run_native
from scripted_user import Line, ScriptedUser

from pyfuncdbg import tf
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop


class Walk(ScriptedUser):
    """Also notes the node of each stop: 'before py', 'node tripled', 'node' at an end, 'line plus_one'."""

    def __init__(self, *lines: Line) -> None:
        super().__init__(lines)
        self.places: list[str] = []

    def interact(self, stop: Stop, broker: Any) -> None:
        self.places.append(f'{stop.phase} {_where(stop)}'.strip())
        super().interact(stop, broker)


def _where(stop: Stop) -> str:
    if stop.phase in ('line', 'return', 'call', 'exception'):
        assert stop.frame is not None
        return stop.frame.f_code.co_name
    if stop.call is not None:
        return stop.call.site.name
    control = stop.control
    assert control is not None
    return control.sites[control.position].name if control.position < len(control.sites) else ''


@contextmanager
def walking(*lines: Line, nodes: bool = True, **options: Any) -> Iterator[Walk]:
    """Debug what is inside: from the first node of the next run on, or from the next Python call."""
    with Walk(*lines) as walk:
        debugger.start()
        if nodes:
            debugger.stop_at_next_call(threading.get_native_id())
        else:
            debugger.plan(threading.get_native_id()).next_call = True
        yield walk


def plus_one(a: Any) -> Any:
    return a + np.float32(1)


def double(a: Any) -> Any:
    return a * np.float32(2)


def chain_of_two() -> tuple[Any, Any, tf.Session]:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        first = tf.numpy_function(plus_one, [x], tf.float32, name='first')
        middle = tf.multiply(first, 3.0, name='middle')
        second = tf.numpy_function(double, [middle], tf.float32, name='second')
        out = tf.add(second, 0.5, name='out')
    return x, out, tf.Session(graph=graph)


def run(x: Any, out: Any, session: tf.Session) -> list[float]:
    return session.run(out, {x: [1.0, 2.0]}).tolist()


EXPECTED = [12.5, 18.5]


def test_node_goes_through_every_node_to_the_end():
    x, out, session = chain_of_two()
    with walking(*['node'] * 9) as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['node first', 'node middle', 'node second', 'node out', 'node']


@pytest.mark.parametrize('verb', ['node', 'next'])
def test_a_stop_at_full_speed_hands_over(verb: str):
    x, out, session = chain_of_two()
    lines = [verb] * 2 if verb == 'next' else [verb]
    with walking(*lines, 'node', nodes=False) as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places[-2:] == ['node middle', 'node second']
    assert walk.places[0] == 'before first' and ('after first' in walk.places) is (verb == 'next')


def test_node_inside_of_python_runs_the_function_on():
    x, out, session = chain_of_two()
    with walking('step', 'node', nodes=False) as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['before first', 'line plus_one', 'node middle']


def test_into_a_python_node_and_over_others():
    x, out, session = chain_of_two()
    with walking('node', 'into', 'return', 'node') as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places[:3] == ['node first', 'node middle', 'line double']


@pytest.mark.parametrize(('lines', 'nodes'), [(['into', 'into', 'into'], True), (['into', 'n', 'into', 'n', 'into'], False),
                                              (['into', 'n', 'n', 'into', 'into'], True)])
def test_into_leads_from_function_to_function(lines: list[str], nodes: bool):
    """From a line, from its return and from after the call, over all nodes between; past the last one nothing stops."""
    x, out, session = chain_of_two()
    with walking(*lines, nodes=nodes) as walk:
        assert run(x, out, session) == EXPECTED
        assert run(x, out, session) == EXPECTED
    entered = [place for place, before in zip(walk.places, ['', *walk.places], strict=False)
               if place.startswith('line') and place != before]
    assert entered == ['line plus_one', 'line double', 'line plus_one'][:lines.count('into')]
    assert 'node second' not in walk.places and 'node out' not in walk.places


@pytest.mark.parametrize('verb', ['to out', 'node 4', 'n 4'])
def test_cont_ends_what_a_breakpoint_has_interrupted(verb: str):
    """Where the breakpoint stops the run, its user says what comes next: 'out' is not stopped at any more."""
    x, out, session = chain_of_two()
    with walking('break second', verb, 'cont', 'cont', nodes=True) as walk:
        assert run(x, out, session) == EXPECTED
        assert run(x, out, session) == EXPECTED
    debugger.breakpoints.clear(max(debugger.breakpoints.entries))
    passed = [place for place in walk.places if place not in ('node first', 'node middle')]
    assert passed == ['before second', 'before second']


def test_to_and_rewind_and_to_again():
    x, out, session = chain_of_two()
    calls: list[int] = []
    with walking('to out', 'rewind middle', 'to second', 'rewind 2', 'to out', lambda stop: calls.append(1)) as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['node first', 'node out', 'node middle', 'node second', 'node first', 'node out']


def test_rewind_to_before_the_hand_over():
    """What the plan computed and dropped is computed again; a call that was made is not made again."""
    calls: list[float] = []
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        early = tf.multiply(x, 2.0, name='early')
        first = tf.numpy_function(lambda a: (calls.append(1), a + np.float32(1))[1], [early], tf.float32, name='first')
        out = tf.add(first, 1.0, name='out')
    with walking('node', 'rewind early', 'node', 'node', 'node', nodes=False) as walk, tf.Session(graph=graph) as session:
        assert run(x, out, session) == [4.0, 6.0]
    assert walk.places[:5] == ['before first', 'node out', 'node early', 'node first', 'node out']
    assert calls == [1]


def test_a_function_whose_result_stands_is_not_entered_but_said_why():
    x, out, session = chain_of_two()
    with walking('to out', 'rewind second', 'into', 'node') as walk:
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['node first', 'node out', 'node second', 'node second', 'node out']
    assert "'second' was called already and its result is kept" in walk.stops[3][1]


def test_rewind_over_what_cannot_be_taken_back_says_why():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        count = tf.get_variable('count', initializer=np.float32(0))
        add = count.assign_add(1.0, read_value=False)
        with tf.control_dependencies([add]):
            first = tf.numpy_function(plus_one, [x], tf.float32, name='first')
        out = tf.add(first, 1.0, name='out')
    session = tf.Session(graph=graph)
    session.run(count.initializer)
    with walking('node', 'rewind 2', 'rewind 1', 'node', nodes=False) as walk:
        assert run(x, out, session) == [3.0, 4.0]
    assert 'it ran before the run was paused, and the variables' in walk.answers[1]
    assert walk.places == ['before first', 'node out', 'node first', 'node out']
    assert session.run(count) == 1.0


# ---------------------------------------------------------------- functions in functions
@tf.function
def leaf(x: Any) -> Any:
    return tf.numpy_function(plus_one, [x], tf.float32, name='in_leaf') * 3.0


@tf.function
def stem(x: Any) -> Any:
    return leaf(x + 1.0) - 1.0


def nested() -> tuple[Any, Any, tf.Session]:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        out = tf.add(stem(x), 0.5, name='out')
    return x, out, tf.Session(graph=graph)


def test_into_a_function_and_out_of_it_again():
    x, out, session = nested()
    with walking('into', 'node', 'into', *['node'] * 20) as walk:
        assert run(x, out, session) == [8.5, 11.5]
    assert walk.places == ['node StatefulPartitionedCall', 'node add', 'node StatefulPartitionedCall', 'node in_leaf',
                           'node mul', 'node Identity', 'node', 'node sub', 'node Identity', 'node', 'node out', 'node']


def test_a_stop_in_an_inner_function_at_full_speed_leads_out_to_all_outer_ones():
    x, out, session = nested()
    with walking('node', 'return', 'return', 'node', nodes=False) as walk:
        assert run(x, out, session) == [8.5, 11.5]
    assert walk.places == ['before in_leaf', 'node mul', 'node sub', 'node out', 'node']


def test_cont_inside_of_a_function_cancels_what_was_wanted_outside():
    x, out, session = nested()
    lines = iter(['to out', 'node', 'cont'])
    with walking() as walk:
        walk.lines = lines
        debugger.breakpoints.set('in_leaf')
        try:
            assert run(x, out, session) == [8.5, 11.5]
        finally:
            for number in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(number)
    assert walk.places == ['node StatefulPartitionedCall', 'before in_leaf', 'node mul']


def test_from_a_traced_function_back_to_eager_code():
    with walking('node', 'node', 'return', 'node', 'node') as walk:
        total = tf.add(stem(tf.constant([1.0, 2.0])), 1.0)
    assert total.numpy().tolist() == [9.0, 12.0]
    assert walk.places[:4] == ['node add', 'node StatefulPartitionedCall', 'node sub',
                               'line test_from_a_traced_function_back_to_eager_code']


@pytest.mark.parametrize('runs_have_calls', [False, True])      # they have them once there was a DebugSession
def test_from_a_run_inside_of_a_python_node_to_the_run_around_it(runs_have_calls):
    x, out, session = chain_of_two()
    if runs_have_calls:
        debugger.want('run')

    def inner(a: Any) -> Any:
        return session.run(out, {x: a})
    with tf.Graph().as_default() as graph:
        y = tf.placeholder(tf.float32, [2], name='y')
        py = tf.numpy_function(inner, [y], tf.float32, name='py')
        end = tf.add(py, 1.0, name='end')
    with walking('node', 'to out', 'node', 'node', 'node', nodes=False) as walk:
        debugger.plan(threading.get_native_id()).next_call = False
        debugger.breakpoints.set('first')
        try:
            with tf.Session(graph=graph) as around:
                assert around.run(end, {y: [1.0, 2.0]}).tolist() == [13.5, 19.5]
        finally:
            for number in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(number)
    assert walk.places == ['before first', 'node middle', 'node out', 'node', 'node end', 'node']


def test_eager_code_stops_at_wrapped_calls_and_ops():
    with walking('node', 'node', 'cont') as walk:
        a = tf.add(tf.constant(1.0), 2.0)
        b = tf.numpy_function(plus_one, [a], tf.float32)
        tf.multiply(b, 2.0)
    assert walk.places == ['before AddV2', 'before PyFunc', 'before Mul']
    assert 'op' not in debugger.kinds                   # watched only as long as somebody steps


# ---------------------------------------------------------------- errors
def failing() -> tuple[Any, Any, tf.Session]:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, None, name='x')
        first = tf.numpy_function(plus_one, [x], tf.float32, name='first')
        square = tf.reshape(first, [2, 2], name='square')
        out = tf.add(square, 1.0, name='out')
    return x, out, tf.Session(graph=graph)


def test_a_node_that_raises_stops_and_its_error_is_the_same():
    x, out, session = failing()
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        run(x, out, session)
    with walking('to out', 'cont') as walk, pytest.raises(tf.errors.InvalidArgumentError) as watched:
        run(x, out, session)
    assert walk.places == ['node first', 'error square'] and walk.stops[1][1] == 'raised InvalidArgumentError'
    assert str(watched.value) == str(plain.value) and watched.value.op is plain.value.op
    assert type(watched.value) is type(plain.value)


def test_a_node_that_raises_can_be_made_again_with_another_input():
    x, out, session = failing()
    with walking('to out', 'inject first:0 np.ones(4, np.float32)', 'inject first:0 np.ones(2, np.float32)', 'rewind first',
                 'inject x:0 [1, 2]', 'to out', 'cont') as walk, pytest.raises(tf.errors.InvalidArgumentError):
        run(x, out, session)
    assert walk.places == ['node first', 'error square', 'node first', 'error square']
    assert 'float32[4]' in walk.answers[1] and 'float32[2]' in walk.answers[1]


def test_an_error_in_python_is_asked_about_once():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        first = tf.numpy_function(plus_one, [x], tf.float32, name='first')
        bad = tf.numpy_function(lambda a: a[9], [first], tf.float32, name='bad')
    debugger.catching = True
    try:
        with (walking('node', 'node', 'cont') as walk, tf.Session(graph=graph) as session,
              pytest.raises(tf.errors.UnknownError, match="node 'bad'") as raised):
            run(x, bad, session)
    finally:
        debugger.catching = False
    assert walk.places == ['node first', 'node bad', 'error bad'] and isinstance(raised.value.__cause__, IndexError)


def test_an_error_inside_of_a_function_is_the_same_as_unpaused():
    @tf.function
    def inner(a: Any) -> Any:
        return tf.reshape(tf.numpy_function(plus_one, [a], tf.float32), [2, 2], name='square')
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        out = tf.add(inner(x), 0.5, name='out')
    session = tf.Session(graph=graph)
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        run(x, out, session)
    with walking('node', 'cont', nodes=False) as walk, pytest.raises(tf.errors.InvalidArgumentError) as watched:
        run(x, out, session)
    assert walk.places == ['before PyFunc', 'node square'] and str(watched.value) == str(plain.value)


# ---------------------------------------------------------------- the end
def test_abort_at_a_node_ends_the_run_and_the_session_goes_on():
    x, out, session = chain_of_two()
    with walking('node', 'abort') as walk, pytest.raises(RunAborted):
        run(x, out, session)
    assert walk.places == ['node first', 'node middle']
    assert run(x, out, session) == EXPECTED


def test_quit_at_a_node_takes_the_hook_away():
    x, out, session = chain_of_two()
    with walking('node', 'quit') as walk:
        assert run(x, out, session) == EXPECTED
        assert debugger not in hooks and not hooks.op
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['node first', 'node middle']


def test_leaving_in_mid_run_from_elsewhere_stops_no_more():
    x, out, session = chain_of_two()
    with walking('to out') as walk:
        def leave(stop: Stop) -> None:
            hooks.remove(debugger)
        walk.lines = iter([leave, 'to out'])
        assert run(x, out, session) == EXPECTED
    assert walk.places == ['node first']


def test_native_threads_step_through_their_own_runs():
    results: dict[int, list[float]] = {}
    places: list[str] = []

    class Each(Walk):
        def next_line(self, stop: Stop) -> Line:
            places.append(f'{stop.thread} {_where(stop)}')
            return 'node'

    def work(number: int) -> Callable[[], None]:
        def body() -> None:
            x, out, session = chain_of_two()
            debugger.stop_at_next_call(threading.get_native_id())
            results[number] = run(x, out, session)
        return body
    with Each():
        debugger.start()
        run_native([work(number) for number in range(4)])
    assert results == dict.fromkeys(range(4), EXPECTED)
    assert sorted(place.split(' ', 1)[1] for place in places) == sorted(['first', 'middle', 'second', 'out', ''] * 4)


# ---------------------------------------------------------------- back from the stop at an error
def flaky() -> tuple[Any, Any, tf.Session, list[float]]:
    """Its Python call raises for inputs below 10, and notes them."""
    seen: list[float] = []

    def picky(a: Any) -> Any:
        seen.append(float(a[0]))
        if a[0] < 10:
            raise ValueError('too small')
        return a
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        first = tf.multiply(x, 2.0, name='first')
        py = tf.numpy_function(picky, [first], tf.float32, name='py')
        out = tf.add(py, 0.5, name='out')
    return x, out, tf.Session(graph=graph), seen


@pytest.fixture
def catching() -> Iterator[None]:
    debugger.catching = True
    yield
    debugger.catching = False


def test_rewind_where_a_call_raised_goes_back_instead_of_raising(catching: None):
    x, out, session, seen = flaky()
    with walking('node', 'node', 'rewind first', 'inject x:0 [10, 20]', 'to out') as walk:
        assert run(x, out, session) == [20.5, 40.5]
    assert walk.places == ['node first', 'node py', 'error py', 'node first', 'node out']
    assert seen == [2.0, 20.0]


def test_rewind_where_a_call_raised_after_cont_too(catching: None):
    x, out, session, seen = flaky()
    with walking('cont', 'rewind 2', 'inject x:0 [10, 20]') as walk:
        assert run(x, out, session) == [20.5, 40.5]
    assert walk.places == ['node first', 'error py', 'node first']
    assert seen == [2.0, 20.0]


@pytest.mark.parametrize('nodes', [True, False])
def test_what_is_behind_an_error_is_refused(catching: None, nodes: bool):
    x, out, session, _ = flaky()
    lines = ['node', 'node', 'to out', 'cont'] if nodes else ['cont', 'to out', 'rewind first', 'cont']
    with walking(*lines, nodes=nodes) as walk, pytest.raises(tf.errors.InvalidArgumentError, match='too small'):
        run(x, out, session)
    assert walk.places[-1] == 'error py' and walk.phases.count('error') == 1
    assert "'out' cannot be reached: 'py' has raised" in walk.answers[2 if nodes else 1]
    if not nodes:
        assert 'was not paused before the error' in walk.answers[2]


def test_a_function_at_full_speed_within_a_paused_run_cannot_go_back_from_its_error(catching: None):
    @tf.function
    def inner(a: Any) -> Any:
        return tf.numpy_function(lambda v: v[9], [a * 2.0], tf.float32, name='bad')
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        out = tf.add(inner(x), 0.5, name='out')
    with (walking('cont', 'rewind', 'cont') as walk, tf.Session(graph=graph) as session,
          pytest.raises(tf.errors.UnknownError, match='index 9')):
        run(x, out, session)
    assert walk.phases == ['node', 'error'] and 'was not paused before the error' in walk.answers[1]


def test_node_where_a_call_raised_goes_to_where_the_program_meets_the_error(catching: None):
    x, out, session, _ = flaky()

    def caller() -> str:
        try:
            run(x, out, session)
        except tf.errors.InvalidArgumentError:
            return 'met'
        return ''
    with walking('node', 'node', 'node') as walk:
        assert caller() == 'met'
    assert walk.places[:3] == ['node first', 'node py', 'error py'] and walk.places[3].startswith('exception ')
