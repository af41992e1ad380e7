"""Strings, checks and half precision through a Session: what differs from eager code is the plan, not the op."""
from __future__ import annotations

import numpy as np
import pytest

import pyfuncdbg.tf as tf

v1 = tf.compat.v1


def test_strings() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        s = v1.placeholder(tf.string, [None])
        found = session.run([tf.strings.join([s, 'x'], '-'), tf.strings.length(s), s + 'b', tf.equal(s, '1'), s[0],
                             tf.where(tf.equal(s, '1'), s, 'no'), tf.stack([s[0], 'q']), tf.zeros_like(s), tf.unique(s).y,
                             tf.strings.format('{}', s)], {s: ['1', '2.5']})
    assert [value.tolist() if isinstance(value, np.ndarray) else value for value in found] == [
        [b'1-x', b'2.5-x'], [1, 3], [b'1b', b'2.5b'], [True, False], b'1', [b'1', b'no'], [b'1', b'q'], [b'', b''],
        [b'1', b'2.5'], b'["1" "2.5"]']


def test_assert_names_the_values() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name='x')
        check = v1.assert_equal(x, [1., 2.], message='not equal')
        session.run(check, {x: [1, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'\[not equal\] .*\[x \(x:0\) = \] \[1 3\]'):
            session.run(check, {x: [1, 3]})


def test_check_numerics_stops_the_gradient_too() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = tf.sqrt(tf.debugging.check_numerics(x, 'here'))
        slope = v1.gradients(y, x)[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match='here : Tensor had NaN values'):
            session.run(y, {x: np.nan})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'detected in gradient\. here : Tensor had Inf values'):
            session.run(slope, {x: 0.})


@pytest.mark.parametrize('dtype', [tf.float16, tf.bfloat16])
@pytest.mark.parametrize('function', [
    tf.exp, tf.sigmoid, tf.tanh, tf.nn.relu, tf.nn.elu, tf.nn.softplus, tf.math.rsqrt, tf.math.erf, tf.nn.softmax,
    tf.reduce_mean, tf.reduce_max, tf.nn.l2_loss, tf.norm, tf.cumsum, tf.math.reduce_std, tf.nn.leaky_relu,
    lambda x: x / 2 + 1, lambda x: x ** 2])
def test_half_precision_stays(dtype: tf.DType, function: object) -> None:
    values = np.array([0.5, 1.5, 2.])
    with tf.GradientTape() as tape:
        x = tf.constant(values, dtype)
        tape.watch(x)
        y = function(x)  # type: ignore[operator]
    assert y.dtype == dtype and tape.gradient(y, x).dtype == dtype
    exact = function(tf.constant(values)).numpy()  # type: ignore[operator]
    np.testing.assert_allclose(y.numpy().astype(np.float64), exact, rtol=0.02)
