"""Values as data: what is made of tensors is shown by them, text as strings, nothing by the repr of an array."""
from __future__ import annotations

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.observers.debug.value import describe_value


class Untouchable(np.ndarray):
    """An array whose repr must never be asked for."""

    def __repr__(self):
        raise AssertionError('repr of an array')

    __str__ = __repr__


@pytest.mark.parametrize(('make', 'text', 'items'), [
    (lambda: tf.ragged.constant([[1, 2], [3]]), 'RaggedTensor(values=int32[3], row_splits=int64[3])',
     {'.values': [1, 2, 3], '.row_splits': [0, 2, 3]}),
    (lambda: tf.sparse.from_dense([[0, 1.], [2, 0]]),
     'SparseTensor(indices=int64[2, 2], values=float32[2], dense_shape=int64[2])',
     {'.indices': [[0, 1], [1, 0]], '.values': [1, 2], '.dense_shape': [2, 2]}),
])
def test_composites_are_shown_by_their_tensors(make, text, items):
    value = describe_value(make())
    assert value.text == text
    assert {name: item.array.tolist() for name, item in value.items} == items
    assert describe_value({'a': make()}).text == "{'a': " + text + '}'


def test_text_in_an_object_array_is_a_string_tensor():
    value = describe_value(np.array([b'ab', b'\xff', 'c'], object))
    assert (value.tensor.dtype, value.tensor.nbytes, value.tensor.shape) == ('string', 4, (3,))
    assert describe_value(np.array([b'ab', None], object)).tensor.dtype == 'object'
    assert describe_value(np.array([], object)).tensor.dtype == 'object'


def test_no_array_is_asked_for_its_repr():
    array = np.zeros(3).view(Untouchable)
    assert describe_value(array).text == 'float64[3]'
    assert describe_value([array, {'x': array}]).text == "[float64[3], {'x': float64[3]}]"
