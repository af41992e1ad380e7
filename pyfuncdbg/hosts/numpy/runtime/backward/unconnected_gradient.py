"""Gradient of a target by a source that it does not depend on: None, or zeros."""
from __future__ import annotations

import enum
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, ZEROS
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


class UnconnectedGradients(enum.Enum):
    """Options for the gradient by a source that the target does not depend on."""

    NONE = 'none'
    ZERO = 'zero'


def connected_or(choice: Any) -> str:
    """'none' or 'zero' from the argument `unconnected_gradients`.

    Raises:
        ValueError: It is neither.
    """
    try:
        return UnconnectedGradients(choice).value
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: '{choice}'") from None


def zeros_of(source: Any) -> Any:
    """Zeros like a tensor or variable."""
    if source.shape.is_fully_defined():
        zeros = to_array(np.zeros(source.shape.as_list()), source.dtype)
        return apply(CONSTANT, (), {'dtype': source.dtype, 'value': zeros}, 'zeros_like')
    return apply(ZEROS, (source.read_value() if hasattr(source, 'read_value') else source,), None, 'zeros_like')
