"""One stack of graph and Python: what is on it, in which order, and what the entries are selected by."""
from __future__ import annotations

import threading

import numpy as np
import pytest
from native_threads import run_native
from scripted_stops import debugger, typing
from wrapped_calls import wrap

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.inspecting.stack import (
    FrameEntry,
    NodeEntry,
    RunEntry,
    consumers,
    move_selection,
    selected_index,
    stack_of,
)


class Looking:
    """A front end that takes the stack of each stop, as text, and goes on by its decisions."""

    name = 'looking'
    priority = 1000

    def __init__(self, *verbs):
        self.verbs = iter(verbs)
        self.stacks = []

    def usable(self):
        return True

    def interact(self, stop, broker):
        self.stacks.append([told(entry) for entry in stack_of(stop)])
        self.look(stop)
        stop.decide(next(self.verbs, 'cont'))

    def look(self, stop):
        pass


def told(entry):
    if isinstance(entry, FrameEntry):
        return entry.frame.f_code.co_name
    if isinstance(entry, RunEntry):
        return f'run {",".join(entry.run.fetches)}'
    return f'{entry.site.name}{"..." if entry.waits else ""}{"" if entry.call is None else "()"}'


def looking(front_end, action, *, start=True):
    debugger.broker.add(front_end)
    if start:
        debugger.start()
        debugger.plan(threading.get_native_id()).next_call = True
    try:
        return action()
    finally:
        debugger.leave()
        debugger.broker.remove(front_end)
        debugger.plans.clear()


def inner_part(stack, name):
    """From the innermost frame of that name on: what runs the tests may have one too."""
    return stack[len(stack) - 1 - stack[::-1].index(name):]


def increment(x):
    return deeper(x) + 1


def deeper(x):
    return x


def diamond():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
        f = tf.numpy_function(increment, [x], tf.float32, name='f')
        long = tf.negative(tf.abs(f, name='a'), name='b')
        tf.add(tf.square(f, name='s'), long, name='sum')
    return graph


def run(fetches='sum:0'):
    graph = diamond()
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run(fetches, {'x:0': np.ones(2, np.float32)})


def test_from_the_fetch_over_the_nodes_down_to_the_frames():
    front_end = Looking('step', 'step', 'step', 'cont')
    looking(front_end, run)
    assert [inner_part(stack, 'run') for stack in front_end.stacks] == [
        ['run', 'run sum:0', 'sum...', 's...', 'f()'],
        ['run', 'run sum:0', 'sum...', 's...', 'f()', 'increment'],
        ['run', 'run sum:0', 'sum...', 's...', 'f()', 'increment', 'deeper'],
        ['run', 'run sum:0', 'sum...', 's...', 'f()', 'increment', 'deeper']]


def test_between_nodes_the_next_one_is_the_innermost():
    front_end = Looking('next', 'node', 'node', 'node', 'node')
    looking(front_end, run)
    assert [stack[-1] for stack in front_end.stacks] == ['f()', 'f()', 'a', 'b', 's', 'sum']
    assert inner_part(front_end.stacks[3], 'run') == ['run', 'run sum:0', 'sum...', 'b']


def test_a_fetched_node_waits_for_nobody():
    front_end = Looking()
    looking(front_end, lambda: run('f:0'))
    assert inner_part(front_end.stacks[0], 'run') == ['run', 'run f:0', 'f()']


def test_a_run_in_a_function_of_a_run_comes_out_below_it():
    inner_session = tf.compat.v1.Session(graph=diamond())

    def outer(x):
        return inner_session.run('f:0', {'x:0': x})
    graph = tf.Graph()
    with graph.as_default():
        tf.numpy_function(outer, [tf.constant([1.0, 2.0])], tf.float32, name='outer')

    def nested():
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run('outer:0')
    front_end = Looking('step', 'step', 'step', 'step', 'step', 'step', 'step', 'step', 'step', 'step', 'step', 'step')
    looking(front_end, nested)
    deepest = next(stack for stack in front_end.stacks if 'increment' in stack)
    assert inner_part(deepest, 'nested') == ['nested', 'run outer:0', 'outer()', 'outer', 'run f:0', 'f()', 'increment']


def test_eager_calls_are_nodes_between_frames():
    def outer(x):
        return np.asarray(tf.numpy_function(increment, [x], tf.float32))

    def eager():
        return tf.numpy_function(outer, [np.ones(2, np.float32)], tf.float32)
    front_end = Looking(*['step'] * 3)
    looking(front_end, eager)
    assert inner_part(front_end.stacks[-1], 'eager') == ['eager', 'PyFunc()', 'outer', 'PyFunc()', 'increment']


def test_without_a_hook_the_stack_is_the_same():
    def halts(x):
        pyfuncdbg.breakpoint()
        return x
    graph = tf.Graph()
    with graph.as_default():
        tf.negative(tf.numpy_function(halts, [tf.constant([1.0])], tf.float32, name='f'), name='n')

    def start():
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run('n:0')
    debugger.left = False
    front_end = Looking()
    assert looking(front_end, start, start=False) == [-1.0]
    assert inner_part(front_end.stacks[0], 'start') == ['start', 'run n:0', 'n...', 'f', 'halts']


def test_a_host_that_does_not_describe_its_calls_has_them_too():
    def halts(x):
        pyfuncdbg.breakpoint()
        return x + 1
    call = wrap(halts, 'node')
    debugger.left = False
    front_end = Looking()

    def start():
        return call(4)
    assert looking(front_end, start, start=False) == 5
    part = inner_part(front_end.stacks[0], 'start')
    assert [name for name in part if name != '<lambda>'] == ['start', 'node', 'halts']


def test_on_a_native_thread():
    front_end = Looking('step')

    def go():
        debugger.plan(threading.get_native_id()).next_call = True
        run('f:0')
    looking(front_end, lambda: run_native([go]))
    assert inner_part(front_end.stacks[-1], 'go') == ['go', 'run', 'run f:0', 'f()', 'increment']


def test_an_errors_frames_are_live():
    def failing(x):
        part = x / 2
        return fails(part)

    def fails(part):
        whole = part * 2  # noqa: F841
        raise ValueError('no')
    graph = tf.Graph()
    with graph.as_default():
        tf.numpy_function(failing, [tf.constant([4.0])], tf.float32, name='f')

    class Reading(Looking):
        def look(self, stop):
            frames = [entry for entry in stack_of(stop) if isinstance(entry, FrameEntry)]
            self.locals = [dict(entry.frame.f_locals) for entry in frames[-2:]]
            self.lines = [entry.line - entry.frame.f_code.co_firstlineno for entry in frames[-2:]]
    front_end = Reading()
    debugger.catching = True

    def start():
        with tf.compat.v1.Session(graph=graph) as session, pytest.raises(tf.errors.OpError) as raised:
            session.run('f:0')
        assert isinstance(raised.value.__cause__, ValueError)
    try:
        debugger.broker.add(front_end)
        debugger.start()
        start()
    finally:
        debugger.leave()
        debugger.catching = False
        debugger.broker.remove(front_end)
        debugger.plans.clear()
    assert inner_part(front_end.stacks[0], 'start') == ['start', 'run f:0', 'f()', 'failing', 'fails']
    assert float(front_end.locals[0]['part'][0]) == 2.0
    assert float(front_end.locals[1]['whole'][0]) == 4.0
    assert front_end.lines == [2, 2]


def test_moving_stops_at_both_ends():
    class Moving(Looking):
        def look(self, stop):
            size = len(stack_of(stop))
            assert selected_index(stop) == size - 1
            with pytest.raises(CommandError, match='innermost'):
                move_selection(stop, 1)
            assert isinstance(move_selection(stop, -1), RunEntry)
            move_selection(stop, -1000)
            assert selected_index(stop) == 0
            with pytest.raises(CommandError, match='outermost'):
                move_selection(stop, -1)
            assert isinstance(move_selection(stop, size), NodeEntry)
    front_end = Moving()
    looking(front_end, lambda: run('f:0'))
    assert len(front_end.stacks) == 1


def test_a_long_chain_is_found_without_recursion():
    graph = tf.Graph()
    with graph.as_default():
        t = first = tf.numpy_function(increment, [tf.constant([1.0])], tf.float32, name='first')
        for _ in range(3000):
            t = tf.negative(t)

    class Counting(Looking):
        def look(self, stop):
            self.path = consumers(stop.run, stop.call.site, stop.run.sites)
    front_end = Counting()

    def start():
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(t)
    looking(front_end, start)
    assert len(front_end.path) == 3000
    assert list(front_end.path[0].outputs) == [t.name]
    assert first.name in front_end.path[-1].inputs


def test_nothing_of_a_stop_is_kept():
    import gc
    import weakref

    class Held:
        pass
    alive = []

    def function(x):
        held = Held()
        alive.append(weakref.ref(held))
        return x
    with typing('step', 'next', 'next', 'bt', 'p held', 'up', 'args', 'cont'):
        tf.numpy_function(function, [np.ones(2)], tf.float64)
        gc.collect()
        assert alive[0]() is None
