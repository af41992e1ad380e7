"""Segment reductions: sums, products, extremes and means of rows with the same segment id."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Kernel, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill, ones, ones_like, zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, rank, reshape, shape
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    NUMBER,
    REAL,
    Allowed,
    check_dtype,
    invalid,
    partial_scalar,
    text,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import sqrt
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- numbers in any order
def _least(dtype: Any) -> Any:
    return dtypes.as_dtype(dtype).min


def _greatest(dtype: Any) -> Any:
    return dtypes.as_dtype(dtype).max


def _unsorted(ufunc: Any, empty: Callable[[Any], Any]) -> Kernel:
    """A kernel for unsorted segment ids; `empty(dtype)` is the value of an empty segment."""
    def kernel(data: Any, segments: Any, count: Any) -> Any:
        if segments.shape != data.shape[:segments.ndim]:
            raise invalid(f'data.shape = {_sizes(data)} does not start with segment_ids.shape = {_sizes(segments)}')
        if count < 0:
            raise invalid(f'Input num_segments == {count} must not be negative.')
        if np.any(segments >= count):
            at = np.argwhere(segments >= count)[0].tolist() if segments.ndim else []
            place = f'[{",".join(map(str, at))}]' if at else ''
            raise invalid(f'segment_ids{place} = {segments[tuple(at)]} is out of range [0, {count})')
        total = np.full((int(count), *data.shape[segments.ndim:]), empty(data.dtype), data.dtype)
        is_member = segments >= 0                            # a negative id drops the row
        ufunc.at(total, segments[is_member], data[is_member])
        return total
    return kernel


def _sizes(x: Any) -> str:
    return f'[{",".join(map(str, x.shape))}]'


def _unsorted_types(op: str, allowed: Allowed) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        data, segments, count = inputs
        check_dtype(op, 'data', data.dtype, allowed)
        check_dtype(op, 'segment_ids', segments.dtype, _INDEX)
        if data.shape.sizes is None or segments.shape.sizes is None:
            return [(data.dtype, UNKNOWN)]
        rows = partial_scalar(count)
        return [(data.dtype, TensorShape.of((rows, *data.shape.sizes[len(segments.shape.sizes):])))]
    return infer


_INDEX: Allowed = (dtypes.int32, dtypes.int64)


def _membership_mask(segments: Any, rows: Any) -> Any:
    """Mask of rows with a non-negative id, which broadcasts against the rows."""
    inner = fill(expand_dims(rank(rows) - rank(segments), 0), np.int32(1))
    return reshape(segments >= 0, concat([shape(segments), inner], 0))


def _gather_segments(x: Any, segments: Any) -> Any:
    """For each row the element of `x` for its segment."""
    return apply('GatherV2', (x, segments, constant(np.int32(0))), {'batch_dims': 0})


def _gather_members(x: Any, segments: Any) -> Any:
    """For each row the element of `x` for its segment, 0 for a negative id."""
    rows = _gather_segments(x, where(segments >= 0, segments, zeros_like(segments)))
    return where(_membership_mask(segments, rows), rows, zeros_like(rows))


def _unsorted_extreme_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    data, segments, count = node.inputs
    best = _gather_members(node.outputs[0], segments)
    is_extreme = apply('LogicalAnd', (apply('Equal', (data, best)), _membership_mask(segments, best)))
    number = apply('UnsortedSegmentSum', (cast(is_extreme, grad.dtype), segments, count))
    rows = _gather_members(apply('RealDiv', (grad, number)), segments)
    return [where(is_extreme, rows, zeros_like(rows)), None, None]


def _unsorted_product_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    data, segments, count = node.inputs
    zero = apply('Equal', (data, zeros_like(data)))
    zeros = apply('UnsortedSegmentSum', (cast(zero, dtypes.int32), segments, count))
    grad = where(zeros > 1, zeros_like(grad), grad)
    others = where(zero, ones_like(data), data)
    clipped = where(segments >= 0, segments, zeros_like(segments))
    without = _gather_segments(apply('UnsortedSegmentProd', (others, segments, count)), clipped)
    return [_gather_members(grad, segments) * where(
        zero, without, _gather_segments(node.outputs[0], clipped) / others), None, None]


for _op, _ufunc, _empty, _allowed, _rule in (
        ('Sum', np.add, lambda dtype: 0, NUMBER, lambda node, grad: [_gather_members(grad, node.inputs[1]), None, None]),
        ('Prod', np.multiply, lambda dtype: 1, NUMBER, _unsorted_product_gradient),
        ('Max', np.maximum, _least, REAL, _unsorted_extreme_gradient),
        ('Min', np.minimum, _greatest, REAL, _unsorted_extreme_gradient)):
    register(OpDef(f'UnsortedSegment{_op}', _unsorted(_ufunc, _empty), _unsorted_types(f'UnsortedSegment{_op}', _allowed),
                   _rule))


def _by_number(op: str, data: Any, segment_ids: Any, num_segments: Any, name: str | None) -> Tensor:
    arguments = {'data': data, 'segment_ids': segment_ids, 'num_segments': num_segments}
    return call(op, arguments, None, name, segment_ids=dtypes.int32, num_segments=dtypes.int32)


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The sums of the rows of `data` with the same segment id, `num_segments` of them; negative ids are ignored."""
    return _by_number('UnsortedSegmentSum', data, segment_ids, num_segments, name)


def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The products of the rows with the same segment id; 1 for an empty segment."""
    return _by_number('UnsortedSegmentProd', data, segment_ids, num_segments, name)


def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The largest of the rows with the same segment id; the least value of the dtype for an empty segment."""
    return _by_number('UnsortedSegmentMax', data, segment_ids, num_segments, name)


def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The smallest of the rows with the same segment id; the greatest value of the dtype for an empty segment."""
    return _by_number('UnsortedSegmentMin', data, segment_ids, num_segments, name)


def _counts(data: Any, segments: Any, num_segments: Any) -> Any:
    """The number of rows in each segment, at least 1, of a shape that broadcasts against the sums."""
    number = unsorted_segment_sum(ones(shape(segments), data.dtype), segments, num_segments)
    inner = fill(expand_dims(rank(data) - rank(segments), 0), np.int32(1))
    return apply('Maximum', (reshape(number, concat([shape(number), inner], 0)), constant(1, data.dtype)))


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The means of the rows with the same segment id; 0 for an empty segment."""
    with scope(name, 'UnsortedSegmentMean'):
        data, segments = convert_to_tensor(data), convert_to_tensor(segment_ids)
        count = _counts(data, segments, num_segments)
        return unsorted_segment_sum(data, segments, num_segments) / count


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The sums of the rows with the same segment id, divided by the square root of their number."""
    with scope(name, 'UnsortedSegmentSqrtN'):
        data, segments = convert_to_tensor(data), convert_to_tensor(segment_ids)
        count = _counts(data, segments, num_segments)
        return unsorted_segment_sum(data, segments, num_segments) / sqrt(count)


# ---------------------------------------------------------------- numbers in rising order
def _sorted(ufunc: Any, empty: int, mean: bool = False) -> Kernel:
    def kernel(data: Any, segments: Any) -> Any:
        if segments.ndim != 1:
            raise invalid('segment_ids should be a vector.')
        if not data.ndim:
            raise invalid('input must be at least rank 1')
        if data.shape[0] != len(segments):
            raise invalid('segment_ids should be the same size as dimension 0 of input.')
        if np.any(segments[1:] < segments[:-1]):
            raise invalid('segment ids are not increasing')
        if len(segments) and segments[0] < 0:
            raise invalid(f"Segment id {segments[0]} out of range [0, {max(int(segments[-1]) + 1, 0)}), possibly because "
                          "'segment_ids' input is not sorted.")
        count = int(segments[-1]) + 1 if len(segments) else 0
        total = np.full((count, *data.shape[1:]), empty, data.dtype)
        starts: Any = np.flatnonzero(np.r_[True, segments[1:] != segments[:-1]]) if len(segments) else []
        if len(starts):
            total[segments[starts]] = ufunc.reduceat(data, starts, 0, data.dtype)
        if mean:
            number = np.maximum(np.bincount(segments, minlength=count), 1).reshape([-1] + [1] * (data.ndim - 1))
            quotient = np.trunc(total / number) if data.dtype.kind in 'iu' else total / number.astype(data.dtype)
            total = quotient.astype(data.dtype)
        return total
    return kernel


def _sorted_types(op: str, allowed: Allowed) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        data, segments = inputs
        check_dtype(op, 'data', data.dtype, allowed)
        check_dtype(op, 'segment_ids', segments.dtype, _INDEX)
        rows = with_rank(segments.shape, 1)[0]
        if data.shape.sizes is None:
            return [(data.dtype, UNKNOWN)]
        if not data.shape.sizes:
            raise ValueError('Shape must be at least rank 1 but is rank 0')
        first = data.shape.sizes[0]
        if None not in (rows, first) and rows != first:
            raise ValueError(f'Dimension 0 in both shapes must be equal, but are {first} and {rows}. Shapes are '
                             f'{text(data.shape)} and {text(segments.shape)}.')
        return [(data.dtype, TensorShape.of((None, *data.shape.sizes[1:])))]
    return infer


def _mean_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    data, segments = node.inputs
    inner = fill(expand_dims(rank(data) - 1, 0), np.int32(1))
    number = apply('SegmentSum', (ones(concat([shape(segments), inner], 0), grad.dtype), segments))
    return [_gather_segments(apply('RealDiv', (grad, number)), segments), None]


def _extreme_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    data, segments = node.inputs
    is_extreme = apply('Equal', (data, _gather_segments(node.outputs[0], segments)))
    number = apply('SegmentSum', (cast(is_extreme, grad.dtype), segments))
    rows = _gather_segments(apply('RealDiv', (grad, number)), segments)
    return [where(is_extreme, rows, zeros_like(rows)), None]


def _product_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    data, segments = node.inputs
    zero = apply('Equal', (data, zeros_like(data)))
    zeros = apply('SegmentSum', (cast(zero, dtypes.int32), segments))
    grad = where(zeros > 1, zeros_like(grad), grad)
    others = where(zero, ones_like(data), data)
    without = _gather_segments(apply('SegmentProd', (others, segments)), segments)
    return [_gather_segments(grad, segments) * where(
        zero, without, _gather_segments(node.outputs[0], segments) / others), None]


for _op, _kernel, _allowed, _rule in (
        ('Sum', _sorted(np.add, 0), NUMBER, lambda node, grad: [_gather_segments(grad, node.inputs[1]), None]),
        ('Mean', _sorted(np.add, 0, mean=True), NUMBER, _mean_gradient),
        ('Prod', _sorted(np.multiply, 1), NUMBER, _product_gradient),
        ('Max', _sorted(np.maximum, 0), REAL, _extreme_gradient),
        ('Min', _sorted(np.minimum, 0), REAL, _extreme_gradient)):
    register(OpDef(f'Segment{_op}', _kernel, _sorted_types(f'Segment{_op}', _allowed), _rule))


def _in_order(op: str, data: Any, segment_ids: Any, name: str | None) -> Tensor:
    return call(op, {'data': data, 'segment_ids': segment_ids}, None, name,
                segment_ids=dtypes.int32)


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The sums of the rows of `data` with the same segment id; the ids are sorted."""
    return _in_order('SegmentSum', data, segment_ids, name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The means of the rows with the same segment id; the ids are sorted."""
    return _in_order('SegmentMean', data, segment_ids, name)


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The products of the rows with the same segment id; the ids are sorted."""
    return _in_order('SegmentProd', data, segment_ids, name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The largest of the rows with the same segment id; the ids are sorted."""
    return _in_order('SegmentMax', data, segment_ids, name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The smallest of the rows with the same segment id; the ids are sorted."""
    return _in_order('SegmentMin', data, segment_ids, name)
