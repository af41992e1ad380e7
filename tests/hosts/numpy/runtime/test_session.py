"""`Session.run`: feeds, fetches, errors, plans from the cache, and that nobody shares the caller's memory."""
from __future__ import annotations

import contextlib
import gc
import threading
import weakref
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.errors import InvalidArgumentError

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_fetch_structures_come_back_in_their_form(graph) -> None:
    pair = namedtuple('pair', 'first second')
    x = tf.placeholder(tf.float32, [], name='x')
    y, z = x + 1.0, x * 2.0
    with tf.Session() as session:
        def run(fetches):
            return session.run(fetches, {x: 3.0})
        assert run(y) == 4.0 and type(run(y)) is np.float32
        assert run([y, [z, y]]) == [4.0, [6.0, 4.0]]
        assert run((y, z)) == (4.0, 6.0)
        assert run(pair(y, z)) == pair(4.0, 6.0)
        assert run({'b': y, 'a': (z,)}) == {'b': 4.0, 'a': (6.0,)}
        assert run(OrderedDict(b=y, a=z)) == OrderedDict(b=4.0, a=6.0)
        assert run(['add:0', y.op, 'x:0']) == [4.0, None, 3.0]
        assert run([]) == []
        same = run([tf.constant([1.0, 2.0]), y, y])
        assert same[1] is same[2]


def test_two_runs_of_one_nested_fetch_compile_once(graph) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    session = tf.Session()
    for value in range(3):
        assert session.run({'a': [y, (x, y)]}, {x: value}) == {'a': [value + 1, (value, value + 1)]}
    assert len(session._entries) == 1
    assert session.run({'b': [y, (x, y)]}, {x: 1.0}) == {'b': [2.0, (1.0, 2.0)]}
    assert session.run([y, (x, y)], {x: 1.0}) == [2.0, (1.0, 2.0)]
    assert session.run((y, [x, y]), {x: 1.0}) == (2.0, [1.0, 2.0])


def test_the_graph_may_grow_between_runs(graph) -> None:
    x = tf.placeholder(tf.float32, [])
    session = tf.Session()
    assert session.run(x + 1.0, {x: 1.0}) == 2.0
    y = x * 5.0
    assert session.run(y, {x: 1.0}) == 5.0


def test_feeds_by_name_intermediate_constant_and_structure(graph) -> None:
    x = tf.placeholder(tf.float32, [None], name='x')
    k = tf.constant(5.0, name='k')
    doubled = x * 2.0
    y = doubled + k
    session = tf.Session()
    np.testing.assert_array_equal(session.run(y, {'x:0': [1, 2]}), [7, 9])
    np.testing.assert_array_equal(session.run(y, {doubled: [1.0]}), [6])
    np.testing.assert_array_equal(session.run(y, {x: [1.0], k: 0.0}), [2])
    np.testing.assert_array_equal(session.run(y, {(x, k): ([1.0], 1.0)}), [3])
    np.testing.assert_array_equal(session.run(y, {(x,): ([1.0],)}), [7])
    np.testing.assert_array_equal(session.run(y, {x: [1.0], k: 0.0, 'x:0': [2.0]}), [4])


@pytest.mark.parametrize(('value', 'error', 'text'), [
    ([1.0], ValueError, r'Cannot feed value of shape \(1,\) for Tensor x:0, which has shape \(\)'),
    (2 ** 40, TypeError, 'is not compatible with Tensor type'),
    ('a', ValueError, 'invalid literal'),
])
def test_wrong_feeds(graph, value, error, text) -> None:
    x = tf.placeholder(tf.int32, [], name='x')
    with pytest.raises(error, match=text):
        tf.Session().run(x + 1, {x: value})


def test_what_was_not_fed_is_named(graph) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name='x')
    y = x * 2.0
    with pytest.raises(InvalidArgumentError) as caught:
        tf.Session().run(y)
    assert "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,2]" in str(caught.value)
    assert str(caught.value).startswith("Graph execution error:\n\nDetected at node 'x' defined at")
    assert caught.value.op is x.op and caught.value.node_def.name == 'x'
    assert 'test_session.py' in str(caught.value)


def test_a_forbidden_feed_or_fetch_is_refused_also_by_a_plan_made_before(graph) -> None:
    k = tf.constant(5.0, name='k')
    y = k * 2.0
    session = tf.Session()
    assert session.run(y, {k: 1.0}) == 2.0
    graph.prevent_feeding(k)
    with pytest.raises(ValueError, match='Tensor k:0 may not be fed'):
        session.run(y, {k: 1.0})
    graph.prevent_fetching(y.op)
    with pytest.raises(ValueError, match='not fetchable'):
        session.run(y)


def test_results_and_feeds_are_the_callers_own(graph) -> None:
    x = tf.placeholder(tf.float32, [3])
    w = v1.get_variable('w', initializer=np.ones(3, np.float32))
    k = tf.constant([1.0, 2.0, 3.0])
    reshaped = tf.reshape(x, [3, 1])
    session = tf.Session()
    session.run(w.initializer)
    fed = np.array([1, 2, 3], np.float32)
    fetches = [x, w, k, reshaped, x + 1.0]
    first = session.run(fetches, {x: fed})
    kept = [value.copy() for value in first]
    for value in first:
        value += 100
    np.testing.assert_array_equal(fed, [1, 2, 3])
    for value, expected in zip(session.run(fetches, {x: fed}), kept, strict=True):
        np.testing.assert_array_equal(value, expected)
    grown = session.run(w.assign_add(fed), {x: fed})
    grown += 100
    fed += 100
    np.testing.assert_array_equal(session.run(w), [2, 2 + 1, 2 + 2])


def test_big_buffers_are_reused_but_never_what_is_seen(graph) -> None:
    x = tf.placeholder(tf.float32, [4096])
    first = x * 2.0
    views = tf.split(first, 2)
    last = tf.exp(first * 0.0 + 1.0)
    y = tf.reduce_sum(views[0]) + tf.reduce_sum(views[1]) + 0.0 * tf.reduce_sum(last)
    assert tf.Session().run(y, {x: np.ones(4096, np.float32)}) == 8192


def test_arrays_die_when_the_run_returns_without_the_collector(graph) -> None:
    seen = []

    def look(a: np.ndarray) -> np.ndarray:
        seen.append(weakref.ref(a))
        out = a * 2
        seen.append(weakref.ref(out))
        return out
    x = tf.placeholder(tf.float32, [2000])
    y = tf.reduce_sum(tf.numpy_function(look, [x * 2.0], tf.float32))
    session = tf.Session()
    gc.collect()
    gc.disable()
    try:
        assert session.run(y, {x: np.ones(2000, np.float32)}) == 8000
        assert [reference() is None for reference in seen] == [True, True]
        seen.clear()
        bad = tf.numpy_function(lambda a: look(a)[5000], [x * 2.0], tf.float32)
        with contextlib.suppress(tf.errors.OpError):
            session.run(bad, {x: np.ones(2000, np.float32)})
        assert [reference() is None for reference in seen] == [True, True]
    finally:
        gc.enable()


def test_a_session_that_goes_frees_its_plans_without_the_collector(graph) -> None:
    x = tf.placeholder(tf.float32, [])
    gc.collect()
    gc.disable()
    try:
        session = tf.Session()
        session.run(x * 2.0 + 1.0, {x: 1.0})
        (entry,) = session._entries.values()
        function = weakref.ref(entry.plan.function)
        del entry, session
        assert function() is None or not function().__globals__
    finally:
        gc.enable()


def test_threads_share_a_session(graph) -> None:
    x = tf.placeholder(tf.float32, [])
    nodes = [x + float(i) for i in range(40)]
    session = tf.Session()
    wrong: list[object] = []

    def work(offset: int) -> None:
        try:
            for turn in range(200):
                i = (turn * 7 + offset) % len(nodes)
                if session.run(nodes[i], {x: 1.0}) != 1.0 + i:
                    wrong.append(i)
                if session.run([nodes[i], nodes[turn % 40]], {x: float(offset)}) != [offset + i, offset + turn % 40]:
                    wrong.append((offset, i))
        except BaseException as error:
            wrong.append(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_closed_session_and_an_empty_graph(graph) -> None:
    session = tf.Session()
    with pytest.raises(RuntimeError, match='graph is empty'):
        session.run('x')
    k = tf.constant(1.0)
    with session:
        assert k.eval() == 1.0
    with pytest.raises(RuntimeError, match='closed Session'):
        session.run(k)


def test_strings(graph) -> None:
    s = tf.placeholder(tf.string, [None])
    one = tf.constant('é')
    session = tf.Session()
    assert session.run(one) == 'é'.encode()
    assert session.run(tf.strings.join([s, s]), {s: ['a', b'b']}).tolist() == [b'aa', b'bb']


class TestEagerPrograms:
    """Programs of TensorFlow 1 in the default mode: nodes, eager tensors and eager variables in one program."""

    @pytest.fixture(autouse=True)
    def fresh(self):
        tf.reset_default_graph()
        yield
        tf.reset_default_graph()

    def test_an_eager_variable_follows_its_value(self) -> None:
        x = tf.placeholder(tf.float32, [])
        w = tf.Variable(2.0)
        y = x * w + tf.exp(w) * 0.0 + tf.square(w)      # exp and square are computed eagerly, and again in the graph
        session = tf.Session()
        assert session.run(tf.global_variables_initializer()) is None
        assert session.run(y, {x: 3.0}) == 10.0
        w.assign(5.0)
        assert session.run(y, {x: 3.0}) == 40.0
        assert session.run(w) == 5.0
        assert session.run([w, y], {x: 0.0}) == [5.0, 25.0]

    def test_training_changes_eager_variables(self) -> None:
        x = tf.placeholder(tf.float32, [])
        w = tf.Variable(3.0)
        train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(w * x))
        session = tf.Session()
        session.run(train, {x: 1.0})
        assert float(w) == 1.5
        assert [v is w for v in tf.trainable_variables()] == [True]

    def test_an_eager_tensor_can_be_fetched_and_embedded(self) -> None:
        k = tf.constant([1.0, 2.0])
        x = tf.placeholder(tf.float32, [2])
        session = tf.Session()
        np.testing.assert_array_equal(session.run(k + x, {x: [1.0, 1.0]}), [2, 3])
        np.testing.assert_array_equal(session.run(k), [1, 2])

    def test_get_variable_is_one_of_the_default_graph(self) -> None:
        v = tf.get_variable('v', [2], initializer=tf.zeros_initializer())
        with tf.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match='Could not find variable v'):
                session.run(v)
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run(v + 1.0), [1, 1])


def test_nodes_warn_of_nothing_and_the_programs_error_state_stays(graph, recwarn) -> None:
    x = tf.compat.v1.placeholder(tf.float64, [None])
    y = tf.math.log(x) / (x * 0.)
    with tf.compat.v1.Session() as session, np.errstate(divide='raise', invalid='warn', over='raise'):
        before = np.geterr()
        np.testing.assert_array_equal(session.run(y, {x: [0., 1., -1.]}), [-np.inf, np.nan, np.nan])
        assert np.geterr() == before
    assert not recwarn.list
