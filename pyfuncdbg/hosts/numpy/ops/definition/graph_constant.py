"""Arrays for constants of the current mode, with TensorFlow's error messages for graphs. No state."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType


def array_of(value: Any, dtype: DType | None) -> Any:
    """The array of a value, for a tensor of the current mode.

    Raises:
        TypeError, ValueError: There is none, in TensorFlow's words for that mode.
    """
    try:
        return to_array(value, dtype)
    except (TypeError, ValueError) as error:
        if context.current_graph() is None:
            raise
        raise _in_a_graph(value, dtype, error) from None


def _in_a_graph(value: Any, dtype: DType | None, error: Exception) -> Exception:
    if value is None:
        return ValueError('None values not supported.')
    if dtype is not None:
        for leaf in _leaves(value):
            try:
                to_array(leaf, dtype)
            except (TypeError, ValueError):
                return TypeError(f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'.")
    try:
        np.array(value)
    except ValueError as ragged:
        return ragged
    if 'unsupported type' in str(error):
        return TypeError(f'Failed to convert elements of {value} to Tensor. Consider casting elements to a supported type. '
                         'See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes.')
    return error


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
