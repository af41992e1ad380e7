"""Static values of tensors: of constants, and of small captured eager tensors.

For shape rules and their messages. TensorFlow makes a constant of a captured eager tensor up to a certain size; here it is
an input of the function, whose value is as static.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, INPUT
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor

_SMALL = 128
"""Most elements of an eager tensor that TensorFlow's functions copy as a constant."""


def known_value(tensor: Any) -> Any:
    """The static value as an ndarray; None if it is not known before the run."""
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
    """The outer tensor of a captured input, else None."""
    op = tensor.op
    if op.type != INPUT or not op.graph.building_function:
        return None
    return next((outer for outer, inner in op.graph.captures if inner is tensor), None)
