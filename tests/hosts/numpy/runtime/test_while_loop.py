"""Loops as one function: the same values as plan by plan, and errors of the right node."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.runtime.control_flow import while_loop
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import LoopSource


def loops(graph: Any) -> list[Any]:
    return [op.attrs['_py_loop'] for op in graph.get_operations() if '_py_loop' in op.attrs]


def test_a_loop_without_python_calls_is_one_function_with_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        x, n = tf.compat.v1.placeholder(tf.float32, [3]), tf.compat.v1.placeholder(tf.int32, [])
        c = x * 2.
        y = tf.while_loop(lambda i, a, b: tf.logical_and(i < n, tf.reduce_sum(a) < 1e6),
                          lambda i, a, b: (i + 1, tf.sin(b) * c + 0.1, a), [0, x, x])
        limited = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, x], maximum_iterations=4)
        fed = {x: [0.3, 1.7, -2.], n: 9}
        fast = session.run([y, limited], fed)
        assert all(isinstance(loop.compiled[0], LoopSource) for loop in loops(graph))
        assert loops(graph)[0].compiled[0].text.count('while ') == 1
        monkeypatch.setattr(while_loop, 'compilable', lambda ask, step: False)
        slow = session.run([y, limited], fed)
    assert fast[1][0] == 4 and fast[0][0] == 9
    for a, b in zip(tf.nest.flatten(fast), tf.nest.flatten(slow), strict=True):
        assert np.array_equal(a, b) and a.dtype == b.dtype


def test_one_with_python_calls_is_not() -> None:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        y = tf.while_loop(lambda i: i < 2, lambda i: tf.ensure_shape(
            tf.numpy_function(lambda i: i + np.int32(1), [i], tf.int32), []), [0])
        assert session.run(y) == [2] and loops(graph)[0].compiled == []


@pytest.mark.parametrize('where', ['condition', 'body'])
def test_an_error_names_the_node_of_the_part_it_is_in(where: str) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None])

        def test(i: Any, a: Any) -> Any:
            return tf.reduce_sum(tf.reshape(a, [2, 2], name='in_condition')) > 0. if where == 'condition' else i < 3

        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.reshape(tf.reshape(a, [3], name='in_body'), [-1]) if where == 'body' else a * 2.
        y = tf.while_loop(test, body, [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
        with pytest.raises(tf.errors.InvalidArgumentError, match=f'node in_{where}'):
            session.run(y, {x: [1.] * 5})


def test_a_loop_over_nothing_carries_its_values() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a + 1.), [5, tf.constant([1., 2.])])
        assert session.run(y[1]).tolist() == [1., 2.]
