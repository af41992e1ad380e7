"""Counting: occurrences of numbers, insertion indices, histograms, confusion matrices."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import scatter_nd
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_max
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import ints, invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


# ---------------------------------------------------------------- bincount
def _dense_bincount(numbers: Any, size: Any, weights: Any, binary_output: bool = False) -> Any:
    if np.any(numbers < 0):
        raise invalid('Input arr must be non-negative!')
    if weights.size and weights.shape != numbers.shape:
        raise invalid('`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all '
                      f'weights equal to 1. Received {list(weights.shape)}')
    if numbers.ndim > 2:
        raise invalid(f'Shape must be at most rank 2 but is rank {numbers.ndim}')
    rows = numbers.reshape(1, -1) if numbers.ndim < 2 else numbers
    row_weights = weights.reshape(rows.shape) if weights.size else np.ones(rows.shape, weights.dtype)
    result = np.zeros((len(rows), int(size)), weights.dtype)
    for total, row, weight in zip(result, rows, row_weights, strict=True):
        in_range = row < size
        if binary_output:
            total[row[in_range]] = 1
        else:
            np.add.at(total, row[in_range], weight[in_range])
    return result if numbers.ndim == 2 else result[0]


def _dense_bincount_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    numbers, size, weights = inputs
    count = ints(size)
    if numbers.shape.sizes is None:
        return [(weights.dtype, UNKNOWN)]
    outer = numbers.shape.sizes[:1] if len(numbers.shape.sizes) == 2 else ()
    return [(weights.dtype, TensorShape.of((*outer, None if count is None else count[0])))]


register(OpDef('DenseBincount', _dense_bincount, _dense_bincount_types, kernel_attrs=('binary_output',)))


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
             name: str | None = None, axis: int | None = None, binary_output: bool = False) -> Tensor:
    """The number of occurrences of each integer from 0 on.

    Args:
        arr: Integers.
        weights: Weight of each number, of the shape of `arr`; the result then has their dtype.
        minlength: Smallest length of the result.
        maxlength: Larger numbers, and this one, are not counted.
        dtype: Of the result.
        name: Of the scope.
        axis: -1 to count each row of a matrix separately; None or 0 for all elements.
        binary_output: 1 for each number that occurs.

    Raises:
        InvalidArgumentError: A number is negative.
    """
    with scope(name, 'bincount'):
        numbers = convert_to_tensor(arr)
        if numbers.dtype not in (dtypes.int32, dtypes.int64):
            numbers = cast(numbers, dtypes.int32)
        if axis in (None, 0):
            numbers = apply('Reshape', (numbers, vector([-1])))
            weights = None if weights is None else apply('Reshape', (convert_to_tensor(weights), vector([-1])))
        kind = numbers.dtype
        some = apply('Size', (numbers,), {'out_type': dtypes.int32}) > 0
        length = cast(some, kind) * (reduce_max(numbers) + 1)
        if minlength is not None:
            length = apply('Maximum', (convert_to_tensor(minlength, kind), length))
        if maxlength is not None:
            length = apply('Minimum', (convert_to_tensor(maxlength, kind), length))
        each = constant([], as_dtype(dtype)) if weights is None else convert_to_tensor(weights)
        return apply('DenseBincount', (numbers, length, each), {'binary_output': binary_output})


# ---------------------------------------------------------------- places among others
def _bound_kernel(side: Any) -> Callable[..., Any]:
    def kernel(rows: Any, values: Any, out_type: DType = dtypes.int32) -> Any:
        if rows.ndim != 2 or values.ndim != 2 or len(rows) != len(values):
            raise invalid('Leading dim_size of both tensors must match.')
        places = [np.searchsorted(row, value, side) for row, value in zip(rows, values, strict=True)]
        return np.array(places, out_type.array).reshape(values.shape)
    return kernel


for _op, _side in (('LowerBound', 'left'), ('UpperBound', 'right')):
    register(OpDef(_op, _bound_kernel(_side), lambda inputs, attrs: [(attrs['out_type'], inputs[1].shape)],
                   kernel_attrs=('out_type',)))


def searchsorted(sorted_sequence: Any, values: Any, side: str = 'left', out_type: Any = dtypes.int32,
                 name: str | None = None) -> Tensor:
    """Insertion indices of values in sorted rows: before equal ones ('left') or after them ('right').

    Raises:
        ValueError: Another side.
    """
    if side not in ('left', 'right'):
        raise ValueError(f'Argument `side` must be either \'right\' or \'left\'. Received: `side` = {side!r}.')
    with scope(name, 'searchsorted'):
        rows, values = convert_together([sorted_sequence, values], ('sorted_sequence', 'values'))
        sizes = sizes_of(values)
        flat = [apply('Reshape', (x, apply('Pack', (constant(np.int32(-1)), sizes_of(x)[-1]), {'axis': 0, 'N': 2})))
                for x in (rows, values)]
        op = 'LowerBound' if side == 'left' else 'UpperBound'
        return apply('Reshape', (apply(op, flat, {'out_type': as_dtype(out_type)}), sizes))


def _histogram(values: Any, value_range: Any, bins: Any, dtype: DType = dtypes.int32) -> Any:
    if bins <= 0:
        raise invalid(f'nbins should be a positive number, but got \'{bins}\'')
    low, high = value_range.tolist()
    if not low < high:
        raise invalid(f'value_range should satisfy value_range[0] < value_range[1], but got \'[{low:g}, {high:g}]\'')
    step = (value_range[1] - value_range[0]) / values.dtype.type(bins)
    place = np.clip(np.floor((values.reshape(-1) - value_range[0]) / step), 0, int(bins) - 1).astype(np.int64)
    return np.bincount(place, minlength=int(bins)).astype(dtype.array)


def _histogram_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    bins = ints(inputs[2])
    return [(attrs['dtype'], TensorShape.of((None if bins is None else bins[0],)))]


register(OpDef('HistogramFixedWidth', _histogram, _histogram_types, kernel_attrs=('dtype',)))


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                          name: str | None = None) -> Tensor:
    """The number of values in each of `nbins` equal bins of a range; those outside count in the first or last."""
    with scope(name, 'histogram_fixed_width') as full:
        values = convert_to_tensor(values)
        bounds = convert_to_tensor(value_range, values.dtype)
        arguments = {'values': values, 'value_range': bounds, 'nbins': nbins}
        return call('HistogramFixedWidth', arguments, {'dtype': as_dtype(dtype)}, full)


# ---------------------------------------------------------------- predictions
def _check_classes(label: str, x: Any, count: Any) -> None:
    if np.any(x._value < 0):
        raise invalid(f'`{label}` contains negative values.')
    if np.any(x._value >= count._value):
        raise invalid(f'`{label}` out of bound')


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None,
                     dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Counts of each label (row) predicted as each class (column).

    Raises:
        InvalidArgumentError: A label or a prediction is negative, or not below `num_classes`.
    """
    with scope(name, 'confusion_matrix'):
        rows, columns = (cast(convert_to_tensor(x), dtypes.int64) for x in (labels, predictions))
        if num_classes is None:
            count = apply('Maximum', (reduce_max(rows), reduce_max(columns))) + 1
        else:
            count = cast(convert_to_tensor(num_classes), dtypes.int64)
        for label, x in (('labels', rows), ('predictions', columns)):
            if isinstance(x, EagerTensor):
                _check_classes(label, x, count)
        kind = as_dtype(dtype)
        values = ones_like(columns, kind) if weights is None else cast(convert_to_tensor(weights), kind)
        return scatter_nd(stack([rows, columns], 1), values, stack([count, count]))


def confusion_matrix_v1(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32,
                        name: str | None = None, weights: Any = None) -> Tensor:
    """`confusion_matrix` with TensorFlow 1's arguments."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype, name)
