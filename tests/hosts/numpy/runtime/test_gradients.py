"""`tf.gradients`: values, structure, scopes, errors; also of gradients and inside functions."""
from __future__ import annotations

import numpy as np
import pytest

from pyfuncdbg import tf


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_first_second_and_third_order(graph) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x * x * x * x
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    assert tf.Session().run([first, second, third], {x: 2.0}) == [32.0, 48.0, 48.0]


def test_ys_sum_and_xs_keep_their_order(graph) -> None:
    x, w = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    found = tf.gradients([x * w, 3.0 * x], [w, x])
    assert tf.Session().run(found, {x: 2.0, w: 5.0}) == [2.0, 8.0]


def test_unconnected_and_integers(graph) -> None:
    x, i = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [2])
    assert tf.gradients(x, tf.constant(1.0)) == [None]
    assert tf.gradients(tf.cast(i, tf.float32) + x, [i, x])[0] is None
    zero = tf.gradients(tf.constant(1.0), [x], unconnected_gradients='zero')
    np.testing.assert_array_equal(tf.Session().run(zero[0], {x: [1, 2]}), [0, 0])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        tf.gradients(x, x, unconnected_gradients='foo')


def test_grad_ys_and_stop_gradients(graph) -> None:
    x = tf.placeholder(tf.float32, [2])
    y = x * x
    session, fed = tf.Session(), {x: [1.0, 2.0]}
    np.testing.assert_array_equal(session.run(tf.gradients([y, y], x, grad_ys=[tf.constant([10.0, 1.0]), None])[0], fed),
                                  [22, 8])
    total = tf.gradients(tf.reduce_sum(y * x), [x, y], stop_gradients=[y])
    np.testing.assert_array_equal(session.run(total[0], fed), [1, 4])
    np.testing.assert_array_equal(session.run(total[1], fed), [1, 2])
    with pytest.raises(ValueError, match=r'Length mismatch. Passed 2 grad_ys for 1 ys'):
        tf.gradients(y, x, grad_ys=[None, None])


def test_nodes_go_below_a_scope_of_their_own(graph) -> None:
    x = tf.placeholder(tf.float32, [], name='x')
    y = tf.multiply(x, x, name='square')
    with tf.name_scope('model'):
        found = tf.gradients(y, x)[0]
    assert found.name.startswith('model/gradients/')
    assert any(op.name.startswith('model/gradients/square_grad/') for op in graph.get_operations())
    assert all(op.name.startswith(('x', 'square', 'model/')) for op in graph.get_operations())


def test_an_op_without_gradient_says_so(graph) -> None:
    x = tf.placeholder(tf.float32, [4], name='x')
    with pytest.raises(LookupError, match=r"No gradient defined for operation'distinct' \(op type: Unique\)"):
        tf.gradients(tf.identity(tf.unique(x, name='distinct')[0]), x)


def test_of_variables(graph) -> None:
    w = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(w * w) + w[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.gradients(loss, w)[0]), [3, 4])


def test_in_eager_mode_only_of_nodes() -> None:
    with pytest.raises(RuntimeError, match=r'tf.gradients is not supported when eager execution is enabled'):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))
    assert tf.function(lambda x: tf.gradients(x ** 2, x)[0])(tf.constant(3.0)).numpy() == 6.0


def test_custom_gradient_in_every_mode() -> None:
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda dy: dy * 100.0
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        def gradient(dy, variables=None):
            return dy * w * 10.0, [dy * 7.0 for _ in variables]
        return x * w, gradient
    x = tf.constant(3.0)
    for run in (scaled, tf.function(scaled)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x) * 1.0
        found = tape.gradient(y, [x, w])
        assert [float(v) for v in (y, *found)] == [6.0, 20.0, 7.0]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        first = tape.gradient(y, x)
    assert float(outer.gradient(first, w)) == 10.0
    with tf.Graph().as_default():
        p = tf.placeholder(tf.float32, [])
        q = clipped(p)
        assert q.op.type == 'IdentityN'
        assert tf.Session().run([q, tf.gradients(q, p)[0]], {p: 3.0}) == [6.0, 100.0]


def test_custom_gradient_objections() -> None:
    x, w = tf.constant(3.0), tf.Variable(2.0)
    with pytest.raises(TypeError, match=r"must accept keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (x * w, lambda dy: dy))(x)
    two = tf.custom_gradient(lambda x, y: (x * y, lambda dy: dy))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = two(x, x)
    with pytest.raises(ValueError, match='expected to return 2 gradients, but returned 1 instead'):
        tape.gradient(y, x)


def test_sums_of_scalars_whose_rank_is_known_only_at_run_time(graph) -> None:
    x = tf.placeholder(tf.float32)
    y = tf.reduce_mean(x) * tf.reduce_sum(x * x, axis=tf.range(tf.rank(x)))
    first, = tf.gradients(y, x)
    second, = tf.gradients(first, x)
    with tf.Session() as session:
        assert session.run([y, first, second], {x: 2.0}) == [8.0, 12.0, 12.0]
        assert session.run(first, {x: [1.0, 3.0]}).tolist() == [9.0, 17.0]


def test_nodes_come_in_the_order_of_tensorflow(graph) -> None:
    x = tf.placeholder(tf.float32, [2], name='x')
    a, b = tf.exp(x, name='a'), tf.sin(x, name='b')
    tf.gradients(a * tf.identity(b, name='copy'), x)
    scopes = [op.name.split('/')[1] for op in graph.get_operations() if op.name.startswith('gradients/')]
    assert list(dict.fromkeys(scopes)) == ['Shape', 'grad_ys_0', 'mul_grad', 'a_grad', 'b_grad', 'AddN']


def test_gated_gradients_wait_for_each_other(graph) -> None:
    calls = []
    x, w = tf.constant([[1.0]]), tf.constant([[2.0]])
    y = tf.matmul(x, w)
    seen = tf.numpy_function(lambda v: calls.append('seed') or v, [tf.ones([1, 1])], tf.float32)
    seen.set_shape([1, 1])
    plain, gated = tf.gradients(y, [x, w], seen), tf.gradients(y, [x, w], seen, gate_gradients=True)
    gate = gated[0].op.control_inputs[0]
    assert {op.type for op in gate.control_inputs} == {'MatMul'} and len(gate.control_inputs) == 2
    assert not plain[0].op.control_inputs and gated[1].op.control_inputs == [gate]
    with tf.Session() as session:
        assert session.run(gated[0]).tolist() == [[2.0]] and calls == ['seed']
