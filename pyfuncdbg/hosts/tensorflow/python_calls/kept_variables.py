"""Eager variables, put back after calls that were made only to look at them.

On the thread of the command. Ops are carried out past TensorFlow's tapes and callbacks: nothing is recorded.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.live_objects import living, with_derived
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


class KeptVariables:
    """The values that all variables of the program have now.

    A read shares the memory of the variable, and TensorFlow writes elsewhere while that is shared: nothing is copied here.
    """

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._kept: dict[int, tuple[Any, Any]] = {}
        base = sys.modules['tensorflow.python.ops.resource_variable_ops'].BaseResourceVariable
        for variable in living(*with_derived(base)):
            handle = getattr(variable, '_handle', None)
            if type(handle) is parts.ops.EagerTensor and id(handle) not in self._kept:
                value = self._read(variable)
                if value is not None:
                    self._kept[id(handle)] = variable, value

    def changed(self) -> Sequence[str]:
        """Names of those that hold something else now."""
        return [str(variable.name) for variable, value in self._kept.values() if self._is_changed(variable, value)]

    def put_back(self) -> None:
        """Write the values to those that hold something else now."""
        for variable, value in self._kept.values():
            if self._is_changed(variable, value):
                self._execute('AssignVariableOp', 0, [variable._handle, value], 'dtype', value.dtype.as_datatype_enum,
                              'validate_shape', False)

    def _is_changed(self, variable: Any, value: Any) -> bool:
        now = self._read(variable)
        return now is not None and not _same(now._numpy_internal(), value._numpy_internal())

    def _read(self, variable: Any) -> Any:
        """The value; None if it has none, has been deleted, or can be no array."""
        try:
            (value,) = self._execute('ReadVariableOp', 1, [variable._handle], 'dtype', variable._dtype.as_datatype_enum)
            value._numpy_internal()
            return value
        except Exception:                       # TensorFlow's, whatever it is
            return None

    def _execute(self, op: str, outputs: int, inputs: list[Any], *attrs: Any) -> Any:
        with self._parts.context.eager_mode():
            context = self._parts.context.context()
            return self._parts.execute.quick_execute(op, outputs, inputs, attrs, context)


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays hold the same bits; where they share their memory nothing is compared."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return bool(np.asarray(one).tobytes() == np.asarray(other).tobytes())
    if one.__array_interface__['data'] == other.__array_interface__['data'] and one.shape == other.shape:
        return True
    if one.dtype == object:
        return one.shape == other.shape and bool((one == other).all())
    return one.shape == other.shape and one.tobytes() == other.tobytes()
