"""Programs as people write them run unchanged, but for the import; each in a process of its own."""
from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap

import pytest

from pyfuncdbg import tf


def output_of(program: str) -> list[str]:
    """The lines that a program prints."""
    done = subprocess.run([sys.executable, '-c', textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


LOG_HUBER_2 = """
    from pyfuncdbg import tf

    def log_huber(x, m):
        if tf.abs(x) <= m:
            return x**2
        else:
            return m**2 * (1 - 2 * tf.math.log(m) + tf.math.log(x**2))

    tf.compat.v1.disable_eager_execution()
    x = tf.compat.v1.placeholder(tf.float32)
    m = tf.compat.v1.placeholder(tf.float32)
    y = tf.py_function(func=log_huber, inp=[x, m], Tout=tf.float32)
    dy_dx = tf.gradients(y, x)[0]

    with tf.compat.v1.Session() as sess:
        for feed in ({x: 1.0, m: 2.0}, {x: 4.0, m: 2.0}):
            a, b = sess.run([y, dy_dx], feed_dict=feed)
            print(type(a).__name__, a, b)
"""

LOG_HUBER_1 = """
    from pyfuncdbg import tf

    def log_huber(x, m):
        if tf.abs(x) <= m:
            return x ** 2
        else:
            return m ** 2 * (1 - 2 * tf.log(m) + tf.log(x ** 2))

    x = tf.placeholder(tf.float32)
    m = tf.placeholder(tf.float32)

    y = tf.contrib.eager.py_func(func=log_huber, inp=[x, m], Tout=tf.float32)
    dy_dx = tf.gradients(y, x)[0]

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for feed in ({x: 1.0, m: 2.0}, {x: 4.0, m: 2.0}):
            a, b = sess.run([y, dy_dx], feed_dict=feed)
            print(type(a).__name__, a, b)
"""


@pytest.mark.parametrize('program', [LOG_HUBER_2, LOG_HUBER_1], ids=['TensorFlow 2', 'TensorFlow 1'])
def test_log_huber_and_its_derivative_in_both_branches(program: str) -> None:
    # 2.0**2 * (1 - 2 ln 2 + ln 16) = 9.5451775; its derivative 2 m**2 / x = 2.
    assert output_of(program) == ['float32 1.0 2.0', 'float32 9.545177 2.0']


def test_sinh_through_py_func_on_a_placeholder() -> None:
    assert output_of("""
        import numpy as np
        from pyfuncdbg import tf
        tf.compat.v1.disable_eager_execution()

        def my_func(x):
            # x will be a numpy array with the contents of the placeholder below
            return np.sinh(x)
        input = tf.compat.v1.placeholder(tf.float32)
        y = tf.compat.v1.py_func(my_func, [input], tf.float32)
        with tf.compat.v1.Session() as sess:
            print(sess.run(y, {input: 1.0}), sess.run(y, {input: [0.0, 1.0]}))
    """) == ['1.1752012 [0.        1.1752012]']


def test_numpy_function_in_a_traced_function_with_a_signature() -> None:
    assert output_of("""
        import numpy as np
        from pyfuncdbg import tf

        def my_numpy_func(x):
            # x will be a numpy array with the contents of the input to the
            # tf.function
            return np.sinh(x)

        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def tf_function(input):
            y = tf.numpy_function(my_numpy_func, [input], tf.float32)
            return y * y
        print(repr(tf_function(tf.constant(1.))))
    """) == ['<tf.Tensor: shape=(), dtype=float32, numpy=1.3810978>']


def test_the_decorator_form_and_a_variable_under_a_tape() -> None:
    assert output_of("""
        from pyfuncdbg import tf
        w = tf.Variable(3.0)

        @tf.py_function(Tout=tf.float32)
        def square(x):
            return w * x * x
        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = square(x)
            dx, dw = tape.gradient(y, [x, w])
        print(float(y), float(dx), float(dw), float(outer.gradient(dx, x)))
    """) == ['12.0 12.0 4.0 6.0']


def test_signatures_show_no_annotations_of_ours() -> None:
    for function in (tf.cond, tf.map_fn, tf.nn.relu, tf.compat.v1.get_variable, tf.compat.v1.Session.run, tf.einsum):
        parameters = inspect.signature(function).parameters.values()
        assert parameters and all(parameter.annotation is parameter.empty for parameter in parameters), function
