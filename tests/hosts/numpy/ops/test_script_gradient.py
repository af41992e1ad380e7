"""Gradients of py_function: every order, captured variables and tensors, inputs without gradient, eager and in graphs."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import UnknownError
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function, py_function
from pyfuncdbg.hosts.numpy.ops.variables.collections import global_variables_initializer
from pyfuncdbg.hosts.numpy.ops.variables.handles import placeholder
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.functions.function import function
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


def cube(a: Any) -> Any:
    return a * a * a


def derivatives(function: Any, x: Any, order: int) -> list[float]:
    """The first `order` derivatives, each by a tape around the one before."""
    found: list[float] = []

    def nested(depth: int) -> Any:
        if not depth:
            return function(x)
        with GradientTape() as tape:
            tape.watch(x)
            y = nested(depth - 1)
        slope = tape.gradient(y, x)
        found.append(float(slope))
        return slope

    nested(order)
    return found


@settings(max_examples=15)
@given(st.floats(-2, 2))
def test_all_orders_agree_with_the_analytic_derivatives(value: float) -> None:
    x = tf.constant(value, tf.float64)
    found = derivatives(lambda t: py_function(lambda a: a * a * a * tf.exp(a), [t], tf.float64), x, 4)
    e = np.exp(value)
    expected = [(value**3 + 3 * value**2) * e, (value**3 + 6 * value**2 + 6 * value) * e,
                (value**3 + 9 * value**2 + 18 * value + 6) * e, (value**3 + 12 * value**2 + 36 * value + 24) * e]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_captured_tensor_counts_as_an_input_at_every_order() -> None:
    x = tf.constant(3., tf.float64)
    found = derivatives(lambda t: py_function(lambda a: cube(a) * x, [2. * t], tf.float64), x, 3)
    assert found == [32 * 27., 96 * 9., 192 * 3.]            # of 8 x^4


def test_py_functions_inside_py_functions() -> None:
    x = tf.constant(2., tf.float64)

    def outer(a: Any) -> Any:
        return py_function(lambda b: b * b * x, [a], tf.float64) * a

    assert derivatives(lambda t: py_function(outer, [t], tf.float64), x, 2) == [4 * 8., 12 * 4.]       # of x^4


def test_a_captured_variable_and_one_in_inp_get_their_gradients() -> None:
    v, w = Variable(2.), Variable(5.)
    with GradientTape() as tape:
        y = py_function(lambda a, b: a * v * v * b, [3., w], tf.float32)
    assert [float(g) for g in tape.gradient(y, [v, w])] == [2 * 3 * 2 * 5., 3 * 2 * 2.]


def test_second_order_through_a_captured_variable() -> None:
    v = Variable(2.)
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = py_function(lambda a: a * cube(v), [1.], tf.float32)
        slope = inner.gradient(y, v)
    assert (float(slope), float(outer.gradient(slope, v))) == (12., 12.)


def test_inputs_without_gradient_give_none_and_unused_ones_zero() -> None:
    x, n, unused = tf.constant(3.), tf.constant(2), tf.constant([1., 2.])
    with GradientTape() as tape:
        for tensor in (x, n, unused):
            tape.watch(tensor)
        y = py_function(lambda a, i, s, b, u: a * tf.cast(i, tf.float32), [x, n, 'text', True, unused], tf.float32)
    dx, dn, du = tape.gradient(y, [x, n, unused])
    assert float(dx) == 2. and dn is None and du.numpy().tolist() == [0., 0.]


def test_leaving_the_runtime_gives_zero_and_numpy_function_none() -> None:
    x = tf.constant(3.)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = py_function(lambda a: a.numpy() ** 2, [x], tf.float32)
        z = numpy_function(lambda a: a ** 2, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 0. and tape.gradient(z, x) is None


def test_several_outputs_used_and_unused_float_and_int() -> None:
    x = tf.constant(3.)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = py_function(lambda t: (t * 2., tf.cast(t, tf.int32)), [x], [tf.float32, tf.int32])
        c, d = py_function(lambda t, u: (t * u, t / u), [x, 2.], [tf.float32, tf.float32])
        s = c + d
    assert float(tape.gradient(a, x)) == 2. and float(tape.gradient(b, x)) == 0.
    assert float(tape.gradient(s, x)) == 2.5 and float(tape.gradient(d, x)) == 0.5


def test_the_same_tensor_twice_and_returned_as_it_came() -> None:
    x = tf.constant(3.)
    with GradientTape() as tape:
        tape.watch(x)
        y, z = py_function(lambda a, b: (a * b, a), [x, x], [tf.float32] * 2)
        s = y + z
    assert float(tape.gradient(s, x)) == 7.


def test_a_persistent_tape_differentiates_again_and_with_output_gradients() -> None:
    x = tf.constant([1., 2.])
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = py_function(lambda a: a * a, [x], tf.float32)
    assert tape.gradient(y, x).numpy().tolist() == [2., 4.]
    assert tape.gradient(y, x, output_gradients=tf.constant([1., 10.])).numpy().tolist() == [2., 40.]


def test_complex_gradients() -> None:
    c = tf.constant(3. + 3.j)
    with GradientTape() as tape:
        tape.watch(c)
        y = py_function(lambda a: a * a, [c], tf.complex128)
    np.testing.assert_allclose(tape.gradient(y, c).numpy(), 6 - 6j)


def test_an_error_in_the_backward_pass_has_its_cause() -> None:
    x = tf.constant([3.])
    with GradientTape() as tape:
        tape.watch(x)
        y = py_function(lambda a: tf.unique(a)[0], [x], tf.float32)
    with pytest.raises(UnknownError, match='LookupError: gradient registry has no entry for: Unique') as caught:
        tape.gradient(y, x)
    assert type(caught.value.__cause__) is LookupError


def test_an_error_of_the_users_own_rule_is_the_cause() -> None:
    failure = ZeroDivisionError('division by zero')

    @tf.custom_gradient
    def strange(a: Any) -> Any:
        def fail(dy: Any) -> Any:
            raise failure
        return a * 2., fail

    x = tf.constant(3.)
    with GradientTape() as tape:
        tape.watch(x)
        y = py_function(strange, [x], tf.float32)
    with pytest.raises(UnknownError, match='ZeroDivisionError: division by zero') as caught:
        tape.gradient(y, x)
    assert caught.value.__cause__ is failure


# ---------------------------------------------------------------- graphs
def test_symbolic_gradients_of_two_orders_and_twice_in_one_run() -> None:
    with Graph().as_default() as graph, Session() as session:
        p = placeholder(tf.float32, [])
        y = py_function(cube, [p], tf.float32)
        first = gradients(y, p)[0]
        again = gradients(y, p)[0]
        second = gradients(first, p)[0]
        third = gradients(second, p)[0]
        assert session.run([y, first, again, second, third], {p: 3.}) == [27., 27., 27., 18., 6.]
        assert session.run(third, {p: 5.}) == 6.
        assert first.shape.as_list() == [] and first.op.type == 'EagerPyFunc'
        assert first.op.name == 'gradients/EagerPyFunc_grad/EagerPyFunc' and first.op.control_inputs == [y.op]
        assert [t.name for t in y.op.outputs] == ['EagerPyFunc:0'] and y.op.shown_attrs()['Tout'] == [tf.float32]
        assert graph.get_operation_by_name('EagerPyFunc') is y.op


def test_the_forward_op_runs_once_and_records_only_when_a_gradient_is_wanted() -> None:
    calls: list[int] = []

    def counted(a: Any) -> Any:
        calls.append(1)
        return a * a

    with Graph().as_default(), Session() as session:
        p = placeholder(tf.float32, [])
        y = py_function(counted, [p], tf.float32)
        slope = gradients(y, p)[0]
        assert session.run([y, slope], {p: 3.}) == [9., 6.] and len(calls) == 1
        assert session.run(slope, {p: 4.}) == 8. and len(calls) == 2


def test_a_gradient_at_a_fed_result_runs_the_function_for_its_record() -> None:
    with Graph().as_default(), Session() as session:
        p = placeholder(tf.float32, [])
        y = py_function(lambda a: a * a, [p], tf.float32)
        slope = gradients(y + 0. * p, p)[0]
        assert session.run([slope, y], {p: 5., y: 100.}) == [10., 100.]


def test_int_inputs_in_a_graph() -> None:
    with Graph().as_default(), Session() as session:
        p, n = placeholder(tf.float32), placeholder(tf.int32)
        y = py_function(lambda a, i: a * tf.cast(i, tf.float32), [p, n], tf.float32)
        dp, dn = gradients(y, [p, n])
        assert dn is None and session.run(dp, {p: 3., n: 2}) == 2.


class Model:
    def __init__(self) -> None:
        self.weights = {'w': Variable(2., name='w')}

    def apply(self, a: Any) -> Any:
        return a * cube(self.weights['w'])


def test_variables_that_a_function_reaches_are_hidden_inputs_of_its_node() -> None:
    with Graph().as_default(), Session() as session:
        v, model, p = Variable(3., name='v'), Model(), placeholder(tf.float32, [])
        y = py_function(lambda a: a * v * v, [p], tf.float32)
        z = py_function(model.apply, [p], tf.float32)
        dv, dp = gradients(y, [v, p])
        dw = gradients(z, model.weights['w'])[0]
        d2 = gradients(dw, model.weights['w'])[0]
        session.run(global_variables_initializer())
        assert session.run([y, dv, dp, z, dw, d2], {p: 5.}) == [45., 30., 9., 40., 60., 60.]
        assert dv.shape.as_list() == []
        session.run(v.assign(1.))
        assert session.run([y, dv], {p: 5.}) == [5., 10.]


def test_two_sessions_have_their_own_variables() -> None:
    with Graph().as_default():
        v = Variable(3.)
        y = py_function(lambda: v * 2., [], tf.float32)
        init = global_variables_initializer()
        with Session() as one, Session() as two:
            one.run(init)
            two.run(init)
            two.run(v.assign(10.))
            assert (one.run(y), two.run(y)) == (6., 20.)


# ---------------------------------------------------------------- traced functions
def test_a_traced_function_called_twice_under_a_persistent_tape() -> None:
    traced = function(lambda t: py_function(cube, [t], tf.float32))
    x = tf.constant(2.)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = traced(x) + traced(3. * x)
    assert [float(tape.gradient(y, x)) for _ in range(2)] == [3 * 4 + 27 * 12.] * 2


def test_orders_around_and_inside_a_traced_function() -> None:
    traced = function(lambda t: py_function(cube, [t], tf.float32))
    assert derivatives(traced, tf.constant(2.), 3) == [12., 12., 6.]

    @function
    def inside(t: Any) -> Any:
        with GradientTape() as outer:
            outer.watch(t)
            with GradientTape() as inner:
                inner.watch(t)
                y = py_function(cube, [t], tf.float32)
            slope = inner.gradient(y, t)
        return outer.gradient(slope, t)
    assert float(inside(tf.constant(2.))) == 12.


def test_a_variable_that_the_body_of_a_traced_function_reads() -> None:
    v = Variable(3.)
    traced = function(lambda t: py_function(lambda a: a * v * v, [t], tf.float32))
    x = tf.constant(2.)
    for _ in range(2):
        with GradientTape() as tape:
            tape.watch(x)
            y = traced(x)
        assert [float(g) for g in tape.gradient(y, [x, v])] == [9., 12.]


def test_a_watched_tensor_that_a_traced_body_captures_is_said_to_be_lost() -> None:
    x = tf.constant(3.)
    traced = function(lambda t: py_function(lambda a: a * x, [t], tf.float32))
    with GradientTape() as tape:
        tape.watch(x)
        y = traced(2. * x)
    with pytest.raises(LookupError, match='pass them in `inp`'):
        tape.gradient(y, x)
