"""ForwardAccumulator: derivatives along a direction are the jacobian times that direction."""
from __future__ import annotations

import numpy as np
import pytest

from pyfuncdbg import tf


def test_the_jacobian_times_the_direction() -> None:
    x, direction = tf.constant([0.3, -1.2, 2.0]), tf.constant([1.0, 0.5, -2.0])
    with tf.GradientTape() as tape, tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
        tape.watch(x)
        y = tf.stack([tf.reduce_prod(x), tf.reduce_sum(tf.sin(x)) * x[0]])
    expected = tape.jacobian(y, x).numpy() @ direction.numpy()
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), expected, rtol=1e-6)


def test_of_a_gradient_it_is_a_hessian_vector_product() -> None:
    x, direction = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0])
    with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x ** 3) + x[0] * x[1]
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(accumulator.jvp(gradient).numpy(), [6 * 3 - 1, 3 + 12 * -1], rtol=1e-6)


def test_inside_outside_and_before_anything_was_computed() -> None:
    x = tf.constant(2.0)
    accumulator = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with pytest.raises(ValueError, match='Called jvp'):
        accumulator.jvp(x)
    with accumulator:
        y = x * x
        assert accumulator.jvp(y).numpy() == 4.0 and accumulator.jvp(x).numpy() == 1.0
        with pytest.raises(ValueError, match='already recording'):
            accumulator.__enter__()
        z = y * x
    assert accumulator.jvp(z).numpy() == 12.0
    assert accumulator.jvp(tf.constant(1.0)) is None
    assert accumulator.jvp(tf.constant(1.0), tf.UnconnectedGradients.ZERO).numpy() == 0.0
