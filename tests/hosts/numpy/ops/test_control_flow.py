"""Control flow where no comparison with TensorFlow can stand: what is kept, what is fixed, and what is numbered."""
from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList


def plan_steps(y: Any) -> list[tuple[str, Any]]:
    """Which nodes of the plan of a fetch stack something, and what."""
    from pyfuncdbg.hosts.numpy.runtime.plans.executor import take_over
    from pyfuncdbg.hosts.numpy.runtime.plans.plan import compile_plan
    plan = compile_plan(y.graph, [y.op], [], [y], protect=True, hand_over=take_over)
    return [(step.op.name, step.kernel.keywords['hidden_needed']) for step in plan.steps if step.recorded]


def test_a_loop_stacks_only_what_its_gradient_needs() -> None:
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float64, [], name='x')
        linear = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x * 2.), [0, x])[1]
        square = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a)), [0, x])[1]
        (_, of_linear), = plan_steps(tf.gradients(linear, x)[0])
        (_, of_square), = plan_steps(tf.gradients(square, x)[0])
        assert sum(of_linear) == 1                  # the number of iterations
        assert sum(of_square) == 2                  # and what is in the sine
        assert plan_steps(square) == []


def test_repeated_indices_of_gather_add_up() -> None:
    """TensorFlow keeps only one of them."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant([1., 2., 3.])
        y = tf.TensorArray(tf.float32, 3).unstack(x * x).gather([0, 2, 0])
        assert session.run(tf.gradients(y, x)[0]).tolist() == [4., 0., 6.]


def test_a_loop_whose_shapes_grow_has_a_second_derivative() -> None:
    """TensorFlow fails: `Paddings must be non-negative`."""
    @tf.function
    def f(x: Any) -> Any:
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.concat([s, s * x[0]], 0)), [tf.constant(0), x],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    x = tf.constant([1., 2., 3.])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, x)
    assert d.numpy().tolist() == [28., 4., 4.]
    assert outer.gradient(d, x).numpy().tolist() == [28., 4., 4.]


def test_python_functions_in_loops_of_functions_are_differentiated_and_called_once() -> None:
    """TensorFlow fails: `KeyError: b'pyfunc_0'`."""
    calls = []

    def cube(e: Any) -> Any:
        calls.append(1)
        return e * e * e
    f = tf.function(lambda x: tf.map_fn(lambda e: tf.py_function(cube, [e], tf.float32), x))
    x = tf.constant([1., 2.])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [3., 12.] == tape.gradient(y, x).numpy().tolist()
    assert tape.jacobian(y, x).numpy().tolist() == [[3., 0.], [0., 12.]]
    assert len(calls) == 2


def test_a_function_with_loops_leaves_nothing_behind() -> None:
    class Thing:
        def double(self, a: Any) -> Any:
            return np.float32(a * 2)
    thing = Thing()
    gone = weakref.ref(thing)

    def run(thing: Thing) -> None:
        @tf.function
        def f(x: Any) -> Any:
            def body(i: Any, a: Any) -> Any:
                return i + 1, tf.ensure_shape(tf.numpy_function(thing.double, [a], tf.float32), [])
            return tf.cond(x > 0., lambda: tf.while_loop(lambda i, a: i < 2, body, [0, x])[1], lambda: x)
        x = tf.constant(1.)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert y.numpy() == 4. and tape.gradient(y, x) is not None
    run(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_a_python_call_in_a_branch_may_write_to_its_argument() -> None:
    def spoil(a: np.ndarray) -> np.ndarray:
        a[:] = -1
        return a.copy()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        y = x + 1.
        spoiled = tf.cond(y[0] > 0., lambda: tf.numpy_function(spoil, [y], tf.float32), lambda: y)
        looped = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.ensure_shape(
            tf.numpy_function(spoil, [a], tf.float32), [2]) + a), [0, y])[1]
        given = np.array([1., 2.], np.float32)
        assert [v.tolist() for v in session.run([spoiled, looped, y], {x: given})] == [[-1., -1.], [0., 1.], [2., 3.]]
        assert given.tolist() == [1., 2.]


def test_what_is_put_into_a_list_is_not_overwritten() -> None:
    """A plan writes into buffers of the run that are used no more: not into one that a list holds."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [128])
        kept = x * 2.
        array = tf.TensorArray(tf.float32, 2).write(0, kept)
        later = tf.exp(array.read(0)) + 1.
        both = array.write(1, later).stack()
        assert session.run(both, {x: np.zeros(128, np.float32)}).tolist() == [[0.] * 128, [2.] * 128]


def test_the_value_of_a_list_is_told_as_what_it_is() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        flow = session.run(tf.TensorArray(tf.float32, 3).flow)
    assert isinstance(flow, TensorList) and repr(flow) == '<list of 3 values>'


@pytest.mark.parametrize('watch', [False, True])
def test_branches_of_a_tensor_array_that_is_captured(watch: bool) -> None:
    @tf.function
    def f(x: Any, p: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x * x)
        return tf.cond(p, lambda: array.read(0) * array.read(1), lambda: tf.reduce_sum(array.stack()))
    x = tf.constant([1., 2., 3.])
    for p, expected in ((True, [8., 4., 0.]), (False, [2., 4., 6.])):
        with tf.GradientTape(watch_accessed_variables=watch) as tape:
            tape.watch(x)
            y = f(x, tf.constant(p))
        assert tape.gradient(y, x).numpy().tolist() == expected


def test_a_condition_that_is_no_boolean_is_refused() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.while_loop(lambda i: i, lambda i: i - 1, [tf.constant(2)])
        with pytest.raises(tf.errors.InvalidArgumentError, match="passed int32 expected bool"):
            session.run(y)
        assert session.run(tf.constant(1)) == 1     # TensorFlow's session is of no more use
