"""Row partitions of a vector of values: conversions of lengths, starts, limits and row numbers to row splits and back.

The factory methods of `RaggedTensor` use them; they are ops, so they work in graphs too.
"""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, int32, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill, ones, range, zeros
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import scatter_nd
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, identity, reshape, size
from pyfuncdbg.hosts.numpy.ops.checks.assertions import assert_equal, assert_less, assert_less_equal, assert_non_negative
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import floordiv, maximum
from pyfuncdbg.hosts.numpy.ops.sums.segments import unsorted_segment_sum
from pyfuncdbg.hosts.numpy.ops.sums.sorting import cumsum
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def as_partition(value: Any, name: str, hint: DType | None = None) -> Tensor:
    """An argument of a row partition as a tensor: int32 if it or `hint` is, else int64.

    Raises:
        ValueError: It has another dtype.
    """
    if isinstance(value, np.ndarray) and value.dtype == np.int32:
        tensor = convert_to_tensor(value)
    else:
        tensor = convert_to_tensor(value, dtype_hint=hint or int64)
    if tensor.dtype not in (int32, int64):
        raise ValueError(f'{name} must have dtype int32 or int64')
    return tensor


def _checked(tensor: Tensor, checks: Sequence[Any]) -> Tensor:
    """The tensor, in a graph only after the checks."""
    graph = current_graph()
    if graph is None:
        return tensor
    assertions = [check for check in checks if check is not None]
    with graph.control_dependencies(assertions) if assertions else nullcontext():
        return identity(tensor)


def _zero(dtype: DType) -> Tensor:
    return zeros([1], dtype)


def checked_splits(splits: Tensor) -> Tensor:
    """Row splits, checked to begin with 0 and to be non-decreasing."""
    text = 'Arguments to from_row_splits do not form a valid RaggedTensor:'
    return _checked(splits, [assert_equal(splits[0], constant(splits.dtype.as_numpy_dtype(0)), message=text + 'zero'),
                             assert_non_negative(splits[1:] - splits[:-1], message=text + 'monotonic')])


def checked_size(splits: Tensor, count: Tensor) -> Tensor:
    """Row splits, checked to end with the number of values."""
    text = 'Arguments to _from_row_partition do not form a valid RaggedTensor'
    return _checked(splits, [assert_equal(splits[-1], cast(count, splits.dtype), message=text)])


def of_lengths(lengths: Tensor, validate: bool) -> Tensor:
    """Row splits from the length of each row."""
    if validate:
        lengths = _checked(lengths, [assert_non_negative(
            lengths, message='Arguments to from_row_lengths do not form a valid RowPartition')])
    return concat([_zero(lengths.dtype), cumsum(lengths)], 0)


def of_starts(starts: Tensor, count: Tensor, validate: bool) -> Tensor:
    """Row splits from the start of each row and the number of values."""
    count = cast(count, starts.dtype)
    if validate:
        text = 'Arguments to from_row_starts do not form a valid RaggedTensor'
        starts = _checked(starts, [
            assert_equal(starts[:1], constant(starts.dtype.as_numpy_dtype(0)), message=text),
            assert_non_negative(starts[1:] - starts[:-1], message=text),
            assert_less_equal(starts[-1:], count, message=text)])
    return concat([starts, [count]], 0)


def of_limits(limits: Tensor, validate: bool) -> Tensor:
    """Row splits from the end of each row."""
    if validate:
        text = 'Arguments to from_row_limits do not form a valid RaggedTensor'
        limits = _checked(limits, [assert_non_negative(limits[:1], message=text),
                                   assert_non_negative(limits[1:] - limits[:-1], message=text)])
    return concat([_zero(limits.dtype), limits], 0)


def of_numbers(numbers: Tensor, nrows: Any, validate: bool) -> Tensor:
    """Row splits from the row number of each value.

    Raises:
        ValueError: `nrows` is static and negative or too small.
    """
    static_numbers = constant_value(numbers)
    if nrows is None:
        rows: Any = concat([numbers[-1:], constant([-1], numbers.dtype)], 0)[0] + 1
    else:
        rows = convert_to_tensor(nrows, numbers.dtype)
        count = constant_value(rows)
        if count is not None and count < 0:
            raise ValueError(f'Expected nrows >= 0; got {count}')
        if count is not None and static_numbers is not None and static_numbers.size and count < static_numbers[-1] + 1:
            raise ValueError(f'Expected nrows >= value_rowids[-1] + 1; got nrows={count}, '
                             f'value_rowids[-1]={static_numbers[-1]}')
    if validate:
        text = 'Arguments to from_value_rowids do not form a valid RowPartition'
        numbers = _checked(numbers, [
            assert_non_negative(numbers[:1], message=text),
            assert_non_negative(numbers[1:] - numbers[:-1], message=text),
            assert_less(numbers[-1:], rows, message=text)])
    lengths = unsorted_segment_sum(fill(reshape(size(numbers), [1]), constant(1, numbers.dtype)), numbers, rows)
    splits = of_lengths(lengths, validate=False)
    count = constant_value(rows)
    if count is not None and nrows is not None:
        splits.set_shape([int(count) + 1])          # type: ignore[attr-defined]
    return splits


def of_uniform_length(length: Tensor, nrows: Any, count: Tensor, validate: bool) -> Tensor:
    """Row splits of rows of one length."""
    count = cast(count, length.dtype)
    if nrows is None:
        rows: Any = floordiv(count, maximum(length, constant(1, length.dtype)))
    else:
        rows = cast(convert_to_tensor(nrows, dtype_hint=length.dtype), length.dtype)
    if validate:
        length = _checked(length, [assert_equal(length * rows, count), assert_non_negative(length)])
    return range(0, rows + 1, dtype=length.dtype) * length


def lengths_of(splits: Tensor) -> Tensor:
    """The length of each row."""
    return splits[1:] - splits[:-1]


def numbers_of(splits: Tensor) -> Tensor:
    """The row number of each value."""
    inner = expand_dims(splits[1:-1], 1)
    count = splits[-1]
    marks = scatter_nd(inner, ones(reshape(size(inner), [1]), splits.dtype), reshape(count + 1, [1]))
    return cumsum(marks)[:-1]


# ---------------------------------------------------------------- ranges
def _ranges(starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.any(deltas == 0):
        raise invalid('Requires delta != 0')
    count = max((x.shape[0] for x in (starts, limits, deltas) if x.ndim), default=1)
    starts, limits, deltas = (np.broadcast_to(x, (count,)) for x in (starts, limits, deltas))
    lengths = np.maximum(0, np.ceil((limits - starts) / deltas)).astype(np.int64)
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    within = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
    values = np.repeat(starts, lengths) + within * np.repeat(deltas, lengths)
    return splits, values.astype(starts.dtype)


def _ranges_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    sizes = [x.shape.sizes for x in inputs]
    count = next((s[0] for s in sizes if s), None if None in sizes else 1)
    return [(attrs.get('Tsplits', int64), TensorShape([None if count is None else count + 1])),
            (inputs[0].dtype, TensorShape([None]))]


def _ranges_kernel(starts: Any, limits: Any, deltas: Any, Tsplits: DType = int64) -> Any:
    splits, values = _ranges(np.asarray(starts), np.asarray(limits), np.asarray(deltas))
    return splits.astype(Tsplits.array), values


register(OpDef('RaggedRange', _ranges_kernel, _ranges_types, no_gradient, outputs=2, kernel_attrs=('Tsplits',)))


def ranges(starts: Any, limits: Any, deltas: Any, splits_dtype: DType) -> tuple[Tensor, Tensor]:
    """(row splits, values) of the numbers from each start to its limit."""
    splits, values = apply('RaggedRange', (starts, limits, deltas), {'Tsplits': splits_dtype})
    return splits, values


__all__ = ['as_partition', 'checked_size', 'checked_splits', 'lengths_of', 'numbers_of', 'of_lengths', 'of_limits',
           'of_numbers', 'of_starts', 'of_uniform_length', 'ranges']
