"""Initial value of a variable: anything that can be a tensor, or a function that returns it."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, holds_symbolic


def declared_shape(shape: Any, given: TensorShape) -> TensorShape:
    """The static shape of a variable: as the program says, or that of the initial value.

    Raises:
        ValueError: They are not compatible.
    """
    if shape is None:
        return given
    if not TensorShape(shape).is_compatible_with(given):
        raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({given}) is not compatible with the "
                         f'explicitly supplied `shape` argument ({shape}).')
    return TensorShape(shape)


def in_function(initial_value: Any, dtype: Any) -> Any:
    """The initial value of a variable made in a function: a tensor of the function where it depends on one."""
    if callable(initial_value) and not context.get_default_graph().outer_is_graph:
        initial_value = initial_value()
    if isinstance(initial_value, (list, tuple)) and holds_symbolic(initial_value):
        return initial_tensor(initial_value, dtype)
    return initial_value


def initial_tensor(initial_value: Any, dtype: Any) -> Any:
    """The initial value as a tensor; a function is called for it."""
    value = initial_value() if callable(initial_value) else initial_value
    return convert_to_tensor(value, None if dtype is None else dtypes.as_dtype(dtype), name='initial_value')
