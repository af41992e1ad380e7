"""Casts of tensors to other dtypes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import UnimplementedError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, of_value
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _cast(x: Any, DstT: DType) -> Any:
    target = DstT.array
    if x.dtype.kind == 'O' or target.kind == 'O':
        if x.dtype.kind == target.kind:
            return x.copy()
        raise UnimplementedError(None, None, f'Cast {of_value(x).kernel_name} to {DstT.kernel_name} is not supported')
    if x.dtype.kind == 'c' and target.kind != 'c' and target.kind != 'b':
        x = x.real                      # without NumPy's warning
    if target.kind in 'iu' and x.dtype.kind == 'f' and target.itemsize < 4:
        x = x.astype(np.int32)          # as TensorFlow's compiled code does: 300.0 becomes 44 as uint8 everywhere
    return x.astype(target)


def _cast_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(attrs['DstT'], inputs[0].shape)]


def _cast_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    source = node.inputs[0].dtype
    if not (source.is_floating or source.is_complex):
        return [None]
    return [cast(grad, source)]


register(OpDef('Cast', _cast, _cast_types, _cast_gradient, kernel_attrs=('DstT',)))


@overridable
def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` in another dtype; the tensor itself if it has that one. Floats become integers by truncation.

    Raises:
        UnimplementedError: To or from a non-numeric dtype, such as string; in a graph at run time.
    """
    target = as_dtype(dtype)
    x = convert_to_tensor(x)
    if x.dtype is target:
        return x
    return apply('Cast', (x,), {'SrcT': x.dtype, 'DstT': target}, name)


def _to(name: str, dtype: DType, default: str) -> Callable[..., Tensor]:
    def convert(x: Any, name: str = default) -> Tensor:
        return cast(x, dtype, name)
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f'Cast to {dtype.name} (TensorFlow 1).'
    return convert


to_float = _to('to_float', dtypes.float32, 'ToFloat')
to_double = _to('to_double', dtypes.float64, 'ToDouble')
to_int32 = _to('to_int32', dtypes.int32, 'ToInt32')
to_int64 = _to('to_int64', dtypes.int64, 'ToInt64')
to_bfloat16 = _to('to_bfloat16', dtypes.bfloat16, 'ToBFloat16')
to_complex64 = _to('to_complex64', dtypes.complex64, 'ToComplex64')
to_complex128 = _to('to_complex128', dtypes.complex128, 'ToComplex128')


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`cast`, but values outside of the range of `dtype` become its nearest bound."""
    target = as_dtype(dtype)
    value = convert_to_tensor(value)
    if value.dtype.min < target.min:
        value = apply('Maximum', (value, convert_to_tensor(np.asarray(target.min).astype(value.dtype.array)[()])))
    if value.dtype.max > target.max:
        value = apply('Minimum', (value, convert_to_tensor(np.asarray(target.max).astype(value.dtype.array)[()])))
    return cast(value, target, name or 'saturate_cast')
