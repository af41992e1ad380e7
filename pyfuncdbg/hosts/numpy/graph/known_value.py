"""Tensor values known while a graph is built: of constants, and of small tensors of eager code.

Shape rules and their messages ask. TensorFlow makes a constant of a captured eager tensor up to a certain size; here it is
an input of the function, whose value is as certain.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, INPUT
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor

_SMALL = 128
"""Elements of an eager tensor that TensorFlow's functions repeat as a constant."""


def known_value(tensor: Any) -> Any:
    """The value as an ndarray; None where there is none before the run."""
    op = getattr(tensor, 'op', None)
    if op is None:
        return None
    if op.type == CONSTANT:
        return np.asarray(op.attrs['value'])
    outer: Any = captured_tensor(tensor)
    if outer is None or hasattr(outer, 'op') or not outer.dtype.is_numpy_compatible:
        return None
    return np.asarray(outer._value) if (outer.shape.num_elements() or 0) <= _SMALL else None


def captured_tensor(tensor: Any) -> Tensor | None:
    """The outer tensor that one in a function represents, if it does."""
    op = tensor.op
    if op.type != INPUT or not op.graph.building_function:
        return None
    return next((outer for outer, inner in op.graph.captures if inner is tensor), None)
