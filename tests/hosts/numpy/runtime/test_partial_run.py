"""partial_run: each step gives what TensorFlow gives, nodes run once, and mistakes change nothing."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from wrapped_calls import Keeper

from pyfuncdbg import tf
from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.chain import hooks

v1 = tf.compat.v1


class Program:
    """a -> r1 -> (b) r2; r1 -> p (Python) -> q; incb adds 10 b to v; free and nout are Python functions."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.a = v1.placeholder(tf.float32, name='a')
            self.b = v1.placeholder(tf.float32, [2], name='b')
            self.r1 = tf.add(self.a, 1.0, name='r1')
            self.r2 = tf.multiply(self.r1, self.b, name='r2')
            self.p = tf.numpy_function(self.keep, [self.r1], tf.float32, name='p')
            self.q = tf.add(self.p, 3.0, name='q')
            self.v = v1.Variable([1.0, 1.0], name='v')
            self.incb = v1.assign_add(self.v, 10.0 * self.b)
            self.free = tf.numpy_function(lambda: self.keep(np.float32(7)), [], tf.float32, name='free')
            self.nout = v1.py_func(lambda x: self.calls.append('nout'), [self.a], [], name='nout')
            self.bad = tf.numpy_function(lambda x: 1 / 0, [self.a], tf.float64, name='bad')
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.v.initializer)

    def keep(self, x):
        self.calls.append(float(x))
        return x


@pytest.fixture
def program():
    return Program()


def test_steps_give_what_one_run_gives(program) -> None:
    session = program.session
    handle = session.partial_run_setup([program.r1, program.r2], [program.a, program.b])
    assert handle == 'a:0,b:0->r1:0,r2:0//1/;0'
    first = session.partial_run(handle, program.r1, {program.a: 1.0})
    assert first == 2 and type(first) is np.float32
    np.testing.assert_array_equal(session.partial_run(handle, {'x': [program.r2]}, {'b:0': [1, 2]})['x'][0], [2, 4])
    with pytest.raises(InvalidArgumentError, match="Must run 'setup' before performing partial runs!"):
        session.partial_run(handle, program.r2)
    assert session.partial_run_setup('r1:0', 'a:0') == 'a:0->r1:0//1/;1'


def test_a_python_function_is_called_once_as_soon_as_it_can_be(program) -> None:
    session = program.session
    handle = session.partial_run_setup([program.q, program.p, program.r2, program.free], [program.a, program.b])
    assert program.calls == [7.0]
    assert session.partial_run(handle, [], {program.a: 1.0}) == []
    assert program.calls == [7.0, 2.0]
    assert session.partial_run(handle, [program.q, program.free]) == [5.0, 7.0]
    assert session.partial_run(handle, program.p) == 2
    session.partial_run(handle, program.r2, {program.b: [1, 1]})
    assert program.calls == [7.0, 2.0]


def test_operations_run_in_the_background_and_cannot_be_fetched(program) -> None:
    session = program.session
    handle = session.partial_run_setup([program.r1, program.nout, program.incb], [program.a, program.b])
    with pytest.raises(RuntimeError, match=r'partial_run\(\) requires empty `target_list`. Received: target_list='):
        session.partial_run(handle, program.nout, {program.a: 1.0})
    assert program.calls == []
    session.partial_run(handle, program.r1, {program.a: 1.0})
    assert program.calls == ['nout']
    np.testing.assert_array_equal(session.run(program.v), [1, 1])
    np.testing.assert_array_equal(session.partial_run(handle, program.incb, {program.b: [1, 2]}), [11, 21])
    np.testing.assert_array_equal(session.run(program.v), [11, 21])


@pytest.mark.parametrize(('step', 'text'), [
    (lambda p: (p.r2, {p.a: 1.0}), "Fetch b:0 can't be computed from the feeds that have been fed so far."),
    (lambda p: (p.p, {p.a: 1.0}), 'The fetch p:0 was not specified in partial_run_setup.'),
    (lambda p: (p.r1, {p.r1.op.inputs[1]: 1.0}), 'The feed r1/y:0 was not specified in partial_run_setup.'),
    (lambda p: (p.r2, {p.a: 1.0, p.b: [1, 2, 3]}), r'Cannot feed value of shape \(3,\) for Tensor b:0'),
])
def test_a_refused_step_changes_nothing(program, step, text) -> None:
    session = program.session
    handle = session.partial_run_setup([program.r1, program.r2], [program.a, program.b])
    for _ in range(2):
        with pytest.raises((InvalidArgumentError, ValueError), match=text):
            session.partial_run(handle, *step(program))
    np.testing.assert_array_equal(session.partial_run(handle, program.r2, {program.a: 1, program.b: [1, 2]}), [2, 4])
    with pytest.raises(InvalidArgumentError, match='The feed a:0 has already been fed'):
        session.partial_run(handle, program.r1, {program.a: 2})
    with pytest.raises(InvalidArgumentError, match='The fetch r2:0 has already been fetched'):
        session.partial_run(handle, program.r2)
    assert session.partial_run(handle, program.r1) == 2


def test_setups_that_make_no_sense(program) -> None:
    setup = program.session.partial_run_setup
    for arguments, text in (([[], []], 'Must specify at least one target'),
                            ([[program.r1], [program.r1]], 'r1:0 is both fed and fetched'),
                            ([[program.r1], [program.a, program.a]], 'Endpoint "a:0" fed more than once')):
        with pytest.raises(InvalidArgumentError, match=text):
            setup(*arguments)
    with pytest.raises(TypeError, match='Cannot interpret feed_list key as Tensor'):
        setup([program.r1], ['nope:0'])
    with pytest.raises(TypeError, match='the handle that partial_run_setup'):
        program.session.partial_run(3, program.r1)
    program.session.close()
    with pytest.raises(RuntimeError, match='closed Session'):
        setup([program.r1])
    with pytest.raises(RuntimeError, match='graph is empty'):
        tf.Session(graph=tf.Graph()).partial_run_setup([])


def test_a_failing_node_ends_the_run_where_it_is_met(program) -> None:
    session = program.session
    handle = session.partial_run_setup([program.bad, program.r1, program.r2], [program.a, program.b])
    assert session.partial_run(handle, program.r1, {program.a: 1.0}) == 2
    with pytest.raises(Exception, match='ZeroDivisionError') as raised:
        session.partial_run(handle, program.r2, {program.b: [1, 2]})
    assert raised.value.op.name == 'bad' and type(raised.value.__cause__) is ZeroDivisionError
    with pytest.raises(InvalidArgumentError, match="Must run 'setup'"):
        session.partial_run(handle, program.r2)
    handle = session.partial_run_setup([program.bad, program.r1], [program.a])
    with pytest.raises(Exception, match='ZeroDivisionError'):
        session.partial_run(handle, program.bad, {program.a: 1.0})
    with pytest.raises(InvalidArgumentError, match="Must run 'setup'"):
        session.partial_run(handle, program.r1)


def test_results_and_feeds_are_the_callers_own(program) -> None:
    session, fed = program.session, np.ones(2, np.float32)
    with program.graph.as_default():
        twice = tf.multiply(program.b, 2.0, name='twice')
        later = tf.add(twice, program.a, name='later')
        last = tf.add(program.b, program.a, name='last')
    handle = session.partial_run_setup([twice, later, last], [program.a, program.b])
    given = session.partial_run(handle, twice, {program.b: fed})
    given[:] = 100
    fed[:] = 100
    found = session.partial_run(handle, [later, last], {program.a: 1.0})
    np.testing.assert_array_equal(found, [[3, 3], [2, 2]])


def test_gradients_of_python_functions_go_over_steps(program) -> None:
    with program.graph.as_default():
        y = tf.py_function(lambda x: (program.calls.append('forward'), x * x)[1], [program.a], tf.float32, name='square')
        scaled = y * tf.reduce_sum(program.b)
        (slope,) = tf.gradients(scaled, program.a)
    session = program.session
    handle = session.partial_run_setup([y, slope], [program.a, program.b])
    assert session.partial_run(handle, y, {program.a: 3.0}) == 9
    assert session.partial_run(handle, slope, {program.b: [1, 1]}) == 12
    assert program.calls == ['forward']


def test_each_step_is_a_run_with_its_own_feeds_and_fetches(program) -> None:
    keeper = Keeper('run')
    hooks.add(keeper)
    try:
        session = program.session
        handle = session.partial_run_setup([program.r1, program.r2], [program.a, program.b])
        session.partial_run(handle, program.r1, {program.a: 1.0})
        session.partial_run(handle, program.r2, {program.b: [1, 2]})
    finally:
        hooks.remove(keeper)
    assert [(call.site.name, call.run.feeds, call.run.fetches) for call in keeper.calls] == [
        ('Session.partial_run', ['a:0'], ['r1:0']), ('Session.partial_run', ['b:0'], ['r2:0'])]
    assert [site.name for site in keeper.calls[1].run.sites] == ['r2']


FETCHES = ('r1', 'r2', 'p', 'q', 'free')


@settings(max_examples=60, deadline=None)
@given(st.permutations(FETCHES), st.permutations('ab'), st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_any_order_of_steps_gives_the_values_of_one_run(order, feeds, sizes) -> None:
    """Feeds come as late as the fetches allow; fetches in groups, in any order."""
    program = Program()
    values = {program.a: 2.0, program.b: np.array([3, 4], np.float32)}
    wanted = {name: getattr(program, name) for name in FETCHES}
    expected = dict(zip(FETCHES, program.session.run([wanted[name] for name in FETCHES], values), strict=True))
    program.calls.clear()
    handle = program.session.partial_run_setup(list(wanted.values()), [getattr(program, name) for name in feeds])
    left, names, found = dict(values), iter(order), {}
    for size in itertools.chain(sizes, [5]):
        group = list(itertools.islice(names, size))
        needs = {program.a} if {'r1', 'r2', 'p', 'q'} & set(group) else set()
        needs |= {program.b} if 'r2' in group else set()
        now = {tensor: left.pop(tensor) for tensor in list(left) if tensor in needs}
        found.update(zip(group, program.session.partial_run(handle, [wanted[name] for name in group], now), strict=True))
    for name in FETCHES:
        np.testing.assert_array_equal(found[name], expected[name])
    assert sorted(program.calls) == [3.0, 7.0]
