"""Operators on tensors in graphs: names, constants beside them, and what they refuse."""
from __future__ import annotations

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


def test_names_of_nodes_and_of_the_constants_beside_them() -> None:
    with Graph().as_default() as graph:
        p = tf.add(tf.constant(1.), 2., name='sum')
        names = [(p + 1.).op.name, (1. - p).op.name, (p + 1.).op.name, (-p).op.name, (p > 1.).op.name, p[tf.newaxis].op.name]
        known = [op.name for op in graph.operations]
    assert names == ['add', 'sub', 'add_1', 'Neg', 'Greater', 'strided_slice']
    assert {'sum/y', 'add/y', 'sub/x', 'add_1/y', 'Greater/y', 'strided_slice/stack', 'strided_slice/stack_2'} <= set(known)


def test_python_values_take_the_dtype_of_the_tensor() -> None:
    assert (2 * tf.constant(1, tf.int64)).dtype == tf.int64
    assert (tf.constant(1., tf.bfloat16) + 1).dtype == tf.bfloat16
    assert (np.float32(2) * tf.constant([1.])).numpy().tolist() == [2.]
    assert (np.array([1., 2.]) * tf.constant([1., 2.], tf.float64)).numpy().tolist() == [1., 4.]


@pytest.mark.parametrize(('key', 'expected'), [
    ((slice(None), 1), lambda x: x[:, 1]),
    ((Ellipsis, None, slice(None, None, -2)), lambda x: x[..., None, ::-2]),
    ((-1, slice(0, 0)), lambda x: x[-1, 0:0]),
])
def test_slices_in_a_graph(key: object, expected: object) -> None:
    value = np.arange(12).reshape(3, 4)
    with Graph().as_default() as graph:
        y = tf.constant(value)[key]
        found = Session(graph=graph).run(y)
    np.testing.assert_array_equal(found, expected(value))  # type: ignore[operator]
    assert y.shape == expected(value).shape  # type: ignore[operator]


def test_a_tensor_as_index() -> None:
    x = tf.constant([[1, 2], [3, 4]])
    i = tf.constant(1)
    assert x[i, i - 1].numpy() == 3
    assert x[:, i:].numpy().tolist() == [[2], [4]]


def test_what_an_index_cannot_be() -> None:
    x = tf.constant([1, 2])
    for key in (1.5, 'a', tf.constant(1.)):
        with pytest.raises(TypeError, match='Only integers, slices'):
            x[key]
    with pytest.raises(ValueError, match='mask cannot be scalar'):
        x[True]
    with pytest.raises(tf.errors.InvalidArgumentError, match='Multiple ellipses'):
        x[..., ...]


def test_another_class_may_come_first() -> None:
    class Louder:
        __array_priority__ = 1000

        def __radd__(self, other: object) -> str:
            return 'mine'

    assert tf.constant(1.) + Louder() == 'mine'
