"""compute_gradient: it sees that a gradient is right, and that one is wrong."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyfuncdbg import tf


@tf.custom_gradient
def wrong(x: Any) -> Any:
    return x * x, lambda dy: dy * x * 3.0


def test_a_right_gradient_agrees_and_a_wrong_one_does_not() -> None:
    x = np.array([1.0, 2.0])
    theory, numeric = tf.test.compute_gradient(lambda a: tf.sin(a) * a, [x])
    np.testing.assert_allclose(theory[0], numeric[0], atol=1e-5)
    theory, numeric = tf.test.compute_gradient(wrong, [x])
    np.testing.assert_allclose(theory[0], np.diag(3 * x))
    np.testing.assert_allclose(numeric[0], np.diag(2 * x), atol=1e-9)


def test_in_a_session_rows_are_of_the_source() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2, 1])
        y = tf.matmul(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], tf.float64), x)
        start = np.array([[0.5], [1.5]])
        theory, numeric = tf.compat.v1.test.compute_gradient(x, [2, 1], y, [3, 1], x_init_value=start)
        assert theory.tolist() == [[1, 3, 5], [2, 4, 6]]
        np.testing.assert_allclose(numeric, theory, rtol=1e-9)
        bad = wrong(x)
        error = tf.compat.v1.test.compute_gradient_error(x, [2, 1], bad, [2, 1], x_init_value=start)
        assert error == pytest.approx(1.5)


def test_hessians_are_second_derivatives_by_all_pairs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [2, 2])
        found, = tf.hessians(tf.reduce_prod(x), x)
        value = session.run(found, {x: [[1.0, 2.0], [3.0, 4.0]]})
        assert value.shape == (2, 2, 2, 2) and value[0, 0, 1, 1] == 6 and value[0, 1, 0, 1] == 0
        y = tf.placeholder(tf.float64, [None])
        found, = tf.hessians(tf.reduce_sum(y ** 3) + y[0] * y[1], y)
        assert session.run(found, {y: [1.0, 2.0]}).tolist() == [[6, 1], [1, 12]]


def test_recomputing_gives_the_same_gradients_of_every_order() -> None:
    calls = []

    def cube(x: Any) -> Any:
        calls.append(1)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.recompute_grad(cube)(x)
        assert len(calls) == 1
        first = inner.gradient(y, x)
    assert len(calls) == 2 and first.numpy() == 12.0
    assert outer.gradient(first, x).numpy() == 12.0
