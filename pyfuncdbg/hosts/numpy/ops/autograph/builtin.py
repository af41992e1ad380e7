"""Python's builtins in converted code: `len`, `range` and others become ops for tensors and datasets."""
from __future__ import annotations

import builtins
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays import filling
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import rank, shape
from pyfuncdbg.hosts.numpy.ops.autograph.conditional import as_tensor, is_tensor
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import abs as absolute
from pyfuncdbg.hosts.numpy.ops.strings.strings import as_string, join, to_number

_NOT_GIVEN = object()


def abs_(x: Any) -> Any:
    """`abs`."""
    return absolute(as_tensor(x)) if is_tensor(x) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    """`float`: a tensor as float32."""
    if not is_tensor(x):
        return builtins.float(x)
    return _number(as_tensor(x), dtypes.float32)


def int_(x: Any = 0, base: Any = _NOT_GIVEN) -> Any:
    """`int`: a tensor as int32."""
    if not is_tensor(x):
        return builtins.int(x) if base is _NOT_GIVEN else builtins.int(x, base)
    if base not in (10, _NOT_GIVEN):
        raise NotImplementedError(f'base {base} not supported for int')
    return _number(as_tensor(x), dtypes.int32)


def _number(tensor: Any, dtype: Any) -> Any:
    return to_number(tensor, dtype) if tensor.dtype == dtypes.string else cast(tensor, dtype)


def len_(values: Any) -> Any:
    """`len`: a Python int where it is known; of a `TensorArray` its size."""
    if hasattr(values, '_with_flow'):
        return values.size()
    if _is_dataset(values):
        return values.cardinality()
    if not is_tensor(values):
        return builtins.len(values)
    tensor = as_tensor(values)
    if tensor.shape.rank and tensor.shape.as_list()[0] is not None:
        return tensor.shape.as_list()[0]
    sizes = shape(tensor)
    if tensor.shape.rank == 0:
        raise ValueError(f'len requires a non-scalar tensor, got one of shape {sizes}')
    if tensor.shape.rank is not None:
        return sizes[0]
    count: Any = rank(tensor)

    def refused() -> Any:
        message = join(['len requires non-zero rank, got ', as_string(count)])
        with count.graph.control_dependencies([Assert(constant(False), [message])]):
            return constant(0, dtypes.int32)
    return cond(count > 0, lambda: shape(tensor)[0], refused)


def range_(start: Any, stop: Any = _NOT_GIVEN, step: Any = _NOT_GIVEN) -> Any:
    """`range`: over tensors a tensor, which a `for` counts through."""
    arguments = [one for one in (start, stop, step) if one is not _NOT_GIVEN]
    if not any(is_tensor(one) for one in arguments):
        return builtins.range(*arguments)
    if step is not _NOT_GIVEN:
        return filling.range(start, stop, step)
    if stop is not _NOT_GIVEN:
        return filling.range(start, maximum(start, stop))
    return filling.range(maximum(start, 0))


def enumerate_(values: Any, start: Any = 0) -> Any:
    """`enumerate`."""
    return values.enumerate(start) if _is_dataset(values) else builtins.enumerate(values, start)


def zip_(*values: Any, strict: bool = False) -> Any:
    """`zip`."""
    if values and all(_is_dataset(one) for one in values):
        return type(values[0]).zip(values)
    return builtins.zip(*values, strict=strict)


def map_(function: Any, *values: Any) -> Any:
    """`map`."""
    if values and all(_is_dataset(one) for one in values):
        return zip_(*values).map(function)
    return builtins.map(function, *values)


def filter_(function: Any, values: Any) -> Any:
    """`filter`."""
    return values.filter(function) if _is_dataset(values) else builtins.filter(function, values)


def _is_dataset(value: Any) -> bool:
    return hasattr(type(value), '_autograph_for') and hasattr(value, 'enumerate')


OVERLOADS = {abs: abs_, float: float_, int: int_, len: len_, range: range_, enumerate: enumerate_, zip: zip_, map: map_,
             filter: filter_}
