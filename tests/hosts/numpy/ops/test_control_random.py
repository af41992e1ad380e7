"""Random nests of branches, loops, arrays and Python calls: one value however they run, and gradients as numbers say."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from wrapped_calls import Keeper

import pyfuncdbg.tf as tf
from pyfuncdbg.hooks.chain import hooks

X = np.array([0.7, -0.4])

LEAVES = st.sampled_from([('x',), ('v',), ('captured',), ('constant',)])


def nests(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.just('mul'), inner, inner), st.tuples(st.just('add'), inner, inner), st.tuples(st.just('sin'), inner),
        st.tuples(st.just('stop'), inner), st.tuples(st.just('python'), inner), st.tuples(st.just('gather'), inner),
        st.tuples(st.just('cond'), st.integers(0, 2), inner, inner),
        st.tuples(st.just('switch'), inner, inner, inner),
        st.tuples(st.just('while'), st.integers(0, 3), inner), st.tuples(st.just('two'), inner, inner),
        st.tuples(st.just('array'), inner), st.tuples(st.just('map'), inner), st.tuples(st.just('scan'), inner),
        st.tuples(st.just('function'), inner))


PROGRAMS = st.recursive(LEAVES, nests, max_leaves=6)


class Builder:
    """Builds a program of tensors.

    Attributes:
        x: The tensor that is differentiated by.
        captured: What depends on it, outside of every part.
        k: An integer that conditions ask about.
    """

    def __init__(self, x: Any, k: Any) -> None:
        self.x = x
        self.captured = tf.cos(x)
        self.k = k

    def build(self, program: Any, v: Any, step: Any = 0) -> Any:
        kind, *rest = program
        return getattr(self, f'_{kind}')(v, step, *rest)

    def _x(self, v: Any, step: Any) -> Any:
        return self.x

    def _v(self, v: Any, step: Any) -> Any:
        return v

    def _captured(self, v: Any, step: Any) -> Any:
        return self.captured

    def _constant(self, v: Any, step: Any) -> Any:
        return tf.constant([1.25, -0.5], tf.float64)

    def _mul(self, v: Any, step: Any, a: Any, b: Any) -> Any:
        return self.build(a, v, step) * self.build(b, v, step)

    def _add(self, v: Any, step: Any, a: Any, b: Any) -> Any:
        return self.build(a, v, step) + self.build(b, v, step)

    def _sin(self, v: Any, step: Any, a: Any) -> Any:
        return tf.sin(self.build(a, v, step))

    def _stop(self, v: Any, step: Any, a: Any) -> Any:
        return self.build(a, v, step) + tf.constant([0.5, 0.5], tf.float64)

    def _python(self, v: Any, step: Any, a: Any) -> Any:
        return tf.ensure_shape(tf.py_function(lambda t: t * t + 0.25, [self.build(a, v, step)], tf.float64), [2])

    def _gather(self, v: Any, step: Any, a: Any) -> Any:
        return tf.gather(self.build(a, v, step), [1, 1])

    def _cond(self, v: Any, step: Any, bit: int, a: Any, b: Any) -> Any:
        asked = tf.equal((self.k + step) // 2 ** bit % 2, 0)
        return tf.cond(asked, lambda: self.build(a, v, step), lambda: self.build(b, v, step))

    def _switch(self, v: Any, step: Any, a: Any, b: Any, c: Any) -> Any:
        return tf.switch_case((self.k + step) % 3, [partial(self.build, program, v, step) for program in (a, b, c)])

    def _while(self, v: Any, step: Any, n: int, a: Any) -> Any:
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, self.build(a, s, i) * 0.5), [tf.constant(0), v])[1]

    def _two(self, v: Any, step: Any, a: Any, b: Any) -> Any:
        _, s, t = tf.while_loop(lambda i, s, t: i < 2, lambda i, s, t: (i + 1, t, self.build(a, s, i) * 0.5),
                                [tf.constant(0), v, self.build(b, v, step)])
        return s + t

    def _array(self, v: Any, step: Any, a: Any) -> Any:
        def body(i: Any, array: Any) -> Any:
            before = tf.cond(i > 0, lambda: array.read(tf.maximum(i - 1, 0)), lambda: v)
            return i + 1, array.write(i, self.build(a, before, i) * 0.5)
        array = tf.TensorArray(tf.float64, 3, element_shape=[2], clear_after_read=False)
        return tf.reduce_sum(tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), array])[1].stack(), 0)

    def _map(self, v: Any, step: Any, a: Any) -> Any:
        return tf.reduce_sum(tf.map_fn(lambda row: self.build(a, row, step), tf.stack([v, self.x])), 0)

    def _scan(self, v: Any, step: Any, a: Any) -> Any:
        return tf.scan(lambda s, row: self.build(a, s, step) * row, tf.stack([v, self.x, v]))[-1]

    def _function(self, v: Any, step: Any, a: Any) -> Any:
        return tf.function(lambda t: self.build(a, t, step))(v)


def value(program: Any, x: Any, k: Any) -> Any:
    """A number that depends on all of the result."""
    result = Builder(x, k).build(program, x)
    return tf.reduce_sum(result * tf.constant([1.0, 0.3], tf.float64))


def differentiated(function: Any, x: Any) -> tuple[Any, Any, Any]:
    """Value, gradient, and the gradient of a number made of the gradient; zeros where there is none."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        g = tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients='zero'))
        z = tf.reduce_sum(g * tf.constant([0.5, 2.0], tf.float64))
    return y, g, tf.convert_to_tensor(outer.gradient(z, x, unconnected_gradients='zero'))


def slope(function: Any, x: np.ndarray) -> np.ndarray:
    """The derivative of a number by central differences."""
    step = 1e-6
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in np.eye(2) * step])


class Ops:
    """Watches every node: plans then run step by step."""

    kinds = frozenset(('op', 'python', 'run'))

    def around(self, call: Any, proceed: Any) -> Any:
        return proceed()


def in_session(program: Any, k: int, watched: bool) -> list[np.ndarray]:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        x, which = tf.compat.v1.placeholder(tf.float64, [2]), tf.compat.v1.placeholder(tf.int32, [])
        y = value(program, x, which)
        g = tf.gradients(y, x)[0]
        g = tf.zeros([2], tf.float64) if g is None else tf.convert_to_tensor(g)
        h = tf.gradients(tf.reduce_sum(g * tf.constant([0.5, 2.0], tf.float64)), x)[0]
        h = tf.zeros([2], tf.float64) if h is None else tf.convert_to_tensor(h)
        watcher = Ops()
        if watched:
            hooks.add(watcher)
        try:
            return [np.asarray(v) for v in session.run([y, g, h], {x: X, which: k})]
        finally:
            if watched:
                hooks.remove(watcher)


def check(program: Any, k: int) -> None:
    """Values and gradients in eager mode, a function, a plan and the executor, against each other and differences."""
    eager = [t.numpy() for t in differentiated(lambda t: value(program, t, tf.constant(k)), tf.constant(X))]
    traced = tf.function(lambda t: value(program, t, tf.constant(k)))
    function = [t.numpy() for t in differentiated(traced, tf.constant(X))]
    plan, executor = in_session(program, k, False), in_session(program, k, True)
    assert all(np.array_equal(a, b) for a, b in zip(plan, executor, strict=True))
    assert np.array_equal(eager[0], plan[0]) and np.array_equal(eager[0], function[0])
    for other in (function, plan):
        for a, b in zip(eager, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plan[1], slope(lambda at: float(traced(tf.constant(at))), X), rtol=1e-4, atol=1e-6)

    def inner(at: np.ndarray) -> float:
        t = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = traced(t)
        gradient = tf.convert_to_tensor(tape.gradient(y, t, unconnected_gradients='zero'))
        return float(np.sum(gradient.numpy() * [0.5, 2.0]))
    np.testing.assert_allclose(plan[2], slope(inner, X), rtol=1e-3, atol=1e-5)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS, st.integers(0, 5))
def test_random_nests(program: Any, k: int) -> None:
    check(program, k)


@pytest.mark.parametrize('program', [
    ('while', 3, ('cond', 0, ('while', 2, ('mul', ('v',), ('x',))), ('python', ('v',)))),
    ('map', ('scan', ('cond', 1, ('v',), ('array', ('mul', ('v',), ('captured',)))))),
    ('two', ('function', ('while', 2, ('sin', ('v',)))), ('switch', ('x',), ('mul', ('v',), ('v',)), ('gather', ('v',)))),
    ('cond', 0, ('constant',), ('x',)),
])
def test_chosen_nests(program: Any) -> None:
    for k in range(3):
        check(program, k)


def test_each_python_call_in_a_loop_is_seen_once_and_numbered() -> None:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.ensure_shape(tf.numpy_function(lambda a: a * 2, [a], tf.float64, name='twice'), [])
        y = tf.while_loop(lambda i, a: i < 4, body, [0, tf.constant(1.0, tf.float64)])[1]
        keeper = Keeper('python')
        hooks.add(keeper)
        try:
            assert session.run(y) == 16.0
        finally:
            hooks.remove(keeper)
    assert [(call.site.name, call.ordinal) for call in keeper.calls] == [('twice', 0), ('twice', 1), ('twice', 2),
                                                                        ('twice', 3)]
