"""`GradientTape`: what is recorded, what is differentiated, and that it lets go of it."""
from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording


def value(tensor):
    return None if tensor is None else np.asarray(tensor).tolist()


def test_the_structure_of_sources_is_kept() -> None:
    a, w = tf.constant(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * a * w
    found = tape.gradient(y, {'a': a, 'rest': [w, tf.constant(1.0)]})
    assert value(found['a']) == 12.0 and value(found['rest'][0]) == 9.0 and found['rest'][1] is None
    assert [v is w for v in tape.watched_variables()] == [True]
    with pytest.raises(RuntimeError, match='can only be used to compute one set of gradients'):
        tape.gradient(y, a)


def test_persistent_and_nested() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
        z = first * y
    assert value(first) == 12.0
    assert [value(outer.gradient(t, x)) for t in (first, y, z, z)] == [12.0, 12.0, 12 * 8 + 12 * 12, 240.0]


def test_gradient_inside_the_tapes_block() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert value(tape.gradient(y, x)) == 6.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(x * x, x)
        assert value(tape.gradient(first, x)) == 2.0


def test_stop_recording_reset_and_watch() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x])
        with tape.stop_recording():
            hidden = x * x
        y = x * hidden
        assert value(tape.gradient(y, x)) == 9.0
        tape.reset()
        z = x * x
        assert tape.gradient(z, x) is None
        tape.watch(x)
        assert value(tape.gradient(x * x, x)) == 6.0
    with pytest.raises(ValueError, match="Passed in object 3 of type 'int'"):
        tape.watch(3)
    with pytest.raises(RuntimeError, match='not recording'), tf.GradientTape().stop_recording():
        pass
    with pytest.raises(ValueError, match='still recording'), tf.GradientTape() as again:
        again.__enter__()
    assert tape_recording.active.recordings == []


def test_variables_are_watched_unless_told_otherwise() -> None:
    w, frozen = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = w * frozen
    assert [value(g) for g in tape.gradient(y, [w, frozen])] == [3.0, None]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(frozen)
        y = w * frozen
    assert [value(g) for g in tape.gradient(y, [w, frozen])] == [None, 2.0]
    assert [v is frozen for v in tape.watched_variables()] == [True]


def test_what_was_not_watched_has_no_gradient_also_as_an_input_of_a_recorded_op() -> None:
    x, w, unread = tf.constant([2.0]), tf.Variable([5.0]), tf.Variable([7.0])

    @tf.custom_gradient
    def scaled(a: Any, b: Any) -> Any:
        return a * b, lambda upstream: (upstream * 2.0, upstream * 3.0)
    multiplied = tf.function(lambda a: a * w)
    with tf.GradientTape(persistent=True) as tape:
        derived = x * 3.0
        both = tf.concat([x, w], 0)             # its rule gives the gradients of all inputs
        targets = [x * w, derived * w, both, scaled(x, w), multiplied(x), tf.py_function(lambda a: a * w, [x], tf.float32)]
    assert [[value(g) for g in tape.gradient(y, [x, derived, w])] for y in targets] == [
        [None, None, [2.0]], [None, None, [6.0]], [None, None, [1.0]], [None, None, [3.0]], [None, None, [2.0]],
        [None, None, [2.0]]]
    assert value(tape.jacobian(targets[0], x)) is None
    assert value(tape.gradient(targets[0], x, unconnected_gradients='zero')) == [0.0]
    assert value(tape.gradient(x, x)) == [1.0] and value(tape.gradient([x, w], [x, w])[0]) == [1.0]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = unread * w
    assert [value(g) for g in tape.gradient(y, [unread, w])] == [None, [7.0]]
    with tf.GradientTape() as tape:             # watched late, but before the pass
        y = x * w
        tape.watch(x)
    assert value(tape.gradient(y, x)) == [5.0]

    @tf.function
    def traced(a: Any) -> Any:
        with tf.GradientTape() as inner:
            y = a * w
        return [g is None for g in inner.gradient(y, [a, w])]
    assert value(traced(x)) == [True, False]


def test_output_gradients_and_unconnected() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, 2.0 * x
    assert value(tape.gradient([y, z], x, output_gradients=[tf.constant([10.0, 1.0]), None])) == [22.0, 6.0]
    assert value(tape.gradient(y, tf.constant([1.0, 1.0]), unconnected_gradients='zero')) == [0.0, 0.0]
    assert value(tape.gradient(y, tf.constant(1), unconnected_gradients=tf.UnconnectedGradients.NONE)) is None
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nope'"):
        tape.gradient(y, x, unconnected_gradients='nope')
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        w + 0.0
    assert value(tape.gradient(w, w)) == [1.0, 1.0]


def test_an_assignment_is_a_new_value_of_the_same_source() -> None:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = w * w
        w.assign(10.0)
        z = y * w
    assert value(tape.gradient(z, w)) == 4.0 * 10.0 + 4.0


def test_jacobians() -> None:
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.Variable([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.linalg.matvec(w, x * x) if hasattr(tf.linalg,
                                                  'matvec') else tf.reshape(tf.matmul(w, tf.reshape(x * x, [3, 1])), [2])
    np.testing.assert_allclose(tape.jacobian(y, x), [[2, 0, 12], [0, 4, 6]])
    found = tape.jacobian(y, {'w': w, 'none': tf.constant(1.0)}, experimental_use_pfor=False)
    assert found['none'] is None and found['w'].shape == [2, 2, 3]
    np.testing.assert_allclose(found['w'][1], [[0, 0, 0], [1, 4, 9]])
    np.testing.assert_allclose(tape.jacobian(y, tf.constant([1.0]), unconnected_gradients='zero'), [[0], [0]])
    with tf.GradientTape() as once:
        once.watch(x)
        y = tf.stack([x[0] * x[1], x[2]])
    with pytest.raises(RuntimeError, match='persistent=True'):
        once.jacobian(y, x, experimental_use_pfor=False)
    np.testing.assert_allclose(once.jacobian(y, x), [[2, 1, 0], [0, 0, 1]])
    with pytest.raises(RuntimeError, match='one set of gradients'):
        once.jacobian(y, x)


def test_the_batch_jacobian_of_no_examples_is_empty() -> None:
    """TensorFlow divides by their number."""
    def of(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.concat([x * x, x], 1)
        return tape.batch_jacobian(y, x)
    assert of(tf.zeros([0, 2])).shape.as_list() == [0, 4, 2]
    unknown = tf.function(of, input_signature=[tf.TensorSpec([None, None])])
    assert unknown(tf.zeros([0, 2])).shape.as_list() == [0, 4, 2]
    assert unknown(tf.ones([1, 2])).numpy().tolist() == [[[2, 0], [0, 2], [1, 0], [0, 1]]]


def test_batch_jacobian_and_hessian() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0]], axis=1)
    np.testing.assert_allclose(tape.batch_jacobian(y, x), [[[2, 1], [1, 0]], [[4, 3], [1, 0]]])
    v = tf.constant([2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(v)
        with tf.GradientTape() as inner:
            inner.watch(v)
            y = v[0] * v[0] * v[1]
        first = inner.gradient(y, v)
    np.testing.assert_allclose(outer.jacobian(first, v), [[6, 4], [4, 0]])


def test_jacobian_inside_a_function() -> None:
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)
    np.testing.assert_allclose(f(tf.constant([1.0, 2.0])), [[2, 0], [0, 4]])


def test_tapes_of_threads_do_not_mix() -> None:
    x, w = tf.constant(2.0), tf.Variable(3.0)
    results: dict[int, object] = {}
    ready = threading.Barrier(2)

    def work(i: int) -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            ready.wait(10)
            y = x * w * float(i + 1)
            ready.wait(10)
        results[i] = [float(g) for g in tape.gradient(y, [x, w])]
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: [3.0, 2.0], 1: [6.0, 4.0]}


def test_a_tape_lets_go_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = tf.Variable(np.ones(1000, np.float32))
        with tf.GradientTape() as tape:
            hidden = tf.exp(x)
            kept = weakref.ref(hidden._value)
            y = tf.reduce_sum(hidden * hidden)
        del hidden
        assert kept() is not None
        gradient = tape.gradient(y, x)
        assert kept() is None
        with tf.GradientTape(persistent=True) as tape:
            hidden = tf.exp(x)
            kept = weakref.ref(hidden._value)
            y = tf.reduce_sum(hidden * hidden)
        del hidden, y, gradient
        assert kept() is not None
        del tape
        assert kept() is None
    finally:
        gc.enable()


def test_jacobians_of_a_size_known_only_at_run_time() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def jacobians(x: Any) -> Any:
        w = tf.constant([5.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, w])
            y = x * x[::-1]
            z = tf.nn.softmax(x)
        return tape.jacobian(y, x), tape.batch_jacobian(z, x), tape.jacobian(y, w, unconnected_gradients='zero')

    for rows in (1, 3):
        value_of_x = np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)
        x = tf.constant(value_of_x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = x * x[::-1], tf.nn.softmax(x)
        whole, batch, unconnected = jacobians(x)
        np.testing.assert_allclose(whole.numpy(), tape.jacobian(y, x).numpy(), rtol=1e-6)
        np.testing.assert_allclose(batch.numpy(), tape.batch_jacobian(z, x).numpy(), rtol=1e-5, atol=1e-7)
        assert unconnected.shape == [rows, 2, 1] and not unconnected.numpy().any()
