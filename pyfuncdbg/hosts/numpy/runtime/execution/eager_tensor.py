"""Eager tensors: NumPy arrays, or NumPy scalars at rank 0. Strings are object arrays of bytes.

A value is never written to after its tensor is made, so tensors may share it.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pyfuncdbg.hooks.public_function import mark_unwrapped
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, of_value
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

DEVICE = '/job:localhost/replica:0/task:0/device:CPU:0'


class EagerTensor(Tensor):
    """A tensor with a value.

    Args:
        value: ndarray or NumPy scalar that is not written to any more; any object for dtype resource or variant.
        dtype: Needed only where the value has none (resource, variant).
    """

    # Usually unset: origin, see `dispatch.VariableOrigin`, and assign, of a slice of a variable.
    __slots__ = ('_value', 'assign', 'dtype', 'origin')

    @mark_unwrapped
    def __init__(self, value: Any, dtype: DType | None = None) -> None:
        self._value = value
        self.dtype = of_value(value) if dtype is None else dtype

    # ------------------------------------------------------------------ value
    def numpy(self) -> Any:
        """A copy of the value: an ndarray, a NumPy scalar at rank 0, bytes for a scalar string."""
        value = self._value
        if isinstance(value, np.ndarray):
            return value.copy() if value.ndim else value[()]
        if self.dtype.name in ('resource', 'variant'):
            raise NotImplementedError(f'numpy() is not available for a tensor of dtype {self.dtype.name}.')
        return value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._value) if dtype is None else np.array(self._value, dtype=dtype)

    @property
    @mark_unwrapped
    def shape(self) -> TensorShape:
        return TensorShape(getattr(self._value, 'shape', ()))

    @property
    def ndim(self) -> int:
        return int(getattr(self._value, 'ndim', 0))

    @property
    def device(self) -> str:
        """TensorFlow's device for the value."""
        return DEVICE

    backing_device = device

    @property
    def _id(self) -> int:
        return id(self)

    def _shape_tuple(self) -> tuple[int, ...]:
        return tuple(getattr(self._value, 'shape', ()))

    def _rank(self) -> int:
        return self.ndim

    def set_shape(self, shape: Any) -> None:
        """Check the shape.

        Raises:
            ValueError: The tensor has another shape.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    # ------------------------------------------------------------------ what only graphs have
    @property
    def name(self) -> str:
        raise AttributeError('Tensor.name is undefined when eager execution is enabled.')

    @property
    def op(self) -> Any:
        """Undefined."""
        raise AttributeError('Tensor.op is undefined when eager execution is enabled.')

    @property
    def graph(self) -> Any:
        """Undefined."""
        raise AttributeError('Tensor.graph is undefined when eager execution is enabled.')

    @property
    def value_index(self) -> int:
        """Undefined."""
        raise AttributeError('Tensor.value_index is undefined when eager execution is enabled.')

    def consumers(self) -> Any:
        """Undefined."""
        raise NotImplementedError('Tensor.consumers is undefined when eager execution is enabled.')

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Undefined for eager tensors."""
        raise NotImplementedError('eval is not supported when eager execution is enabled, is .numpy() what you\'re looking '
                                  'for?')

    # ------------------------------------------------------------------ Python's protocols
    def __bool__(self) -> bool:
        return bool(self._scalar_like())

    def __int__(self) -> int:
        return int(self._scalar_like())

    def __float__(self) -> float:
        return float(self._scalar_like())

    def __complex__(self) -> complex:
        return complex(self._scalar_like())

    def __index__(self) -> int:
        return self._scalar_like().__index__()  # type: ignore[no-any-return]

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar_like(), ndigits)

    def _scalar_like(self) -> Any:
        value = self._value
        return value[()] if isinstance(value, np.ndarray) and not value.ndim else value

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError('Scalar tensor has no `len()`')
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError('Cannot iterate over a scalar tensor.')
        return (self[i] for i in range(len(self._value)))

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return EagerTensor(self._value, self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_tensor, (np.asarray(self._value), self.dtype.name)

    def _text(self, as_repr: bool) -> str:
        value = self._value
        if self.dtype.name in ('resource', 'variant'):
            return f'<{self.dtype.name.capitalize()} Tensor>'
        if isinstance(value, np.ndarray) and value.ndim:
            text = repr(value) if as_repr else str(value)
            return f'\n{text}' if '\n' in text else text
        scalar = self._scalar_like()
        return repr(scalar) if isinstance(scalar, bytes) else str(scalar)

    def __str__(self) -> str:
        return f'tf.Tensor({self._text(False)}, shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f'<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._text(True)}>'


def restore_tensor(array: np.ndarray, dtype: str) -> EagerTensor:
    """The tensor for a pickled one."""
    return EagerTensor(array if array.ndim or array.dtype == object else array[()], as_dtype(dtype))
