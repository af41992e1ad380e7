"""Ragged versions of tensor functions: casts, reductions, `concat`, `stack`, `where`, sizes.

Reductions over ragged axes are segment reductions, so they work in graphs and are differentiable.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.composite import override
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, int32, int64
from pyfuncdbg.hosts.numpy.ops.arrays import reduction
from pyfuncdbg.hosts.numpy.ops.arrays.filling import one_hot, ones_like, zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask, gather as gather_tensor
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat, reverse
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, identity, reshape, size
from pyfuncdbg.hosts.numpy.ops.checks.assertions import assert_equal
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import add_n, truediv
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import clip_by_value, where
from pyfuncdbg.hosts.numpy.ops.nn.layers import dropout
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.arithmetic import after, map_flat_values
from pyfuncdbg.hosts.numpy.ops.ragged.dense import places
from pyfuncdbg.hosts.numpy.ops.ragged.indexing import gather
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor, as_values
from pyfuncdbg.hosts.numpy.ops.strings import strings
from pyfuncdbg.hosts.numpy.ops.sums import segments

Segment = Callable[..., Any]


def _axis(axis: int, rank: int | None) -> int:
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f'axis={axis} out of bounds: expected {-rank}<=axis<{rank}')
    return axis + rank if axis < 0 and rank is not None else axis


def _reduced(name: str, reduce_dense: Callable[..., Any], by_segment: Segment) -> Callable[..., Any]:
    """A reduction of ragged tensors, from the reductions of tensors and of segments."""
    def reduce(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None, **old: Any) -> Any:
        ragged = as_values(input_tensor)
        if axis is None:
            result = reduce_dense(ragged.flat_values)
            for _ in ragged.shape if keepdims else ():
                result = reshape(result, [1, *result.shape])
            return result
        if isinstance(axis, (list, tuple)):
            for one in sorted((_axis(a, ragged.shape.rank) for a in axis), reverse=True):
                ragged = reduce(ragged, one, keepdims) if isinstance(ragged, RaggedTensor) else reduce_dense(ragged, one,
                                                                                                             keepdims)
            return ragged
        return _over(ragged, _axis(axis, ragged.shape.rank), bool(keepdims), reduce_dense, by_segment, reduce)
    override(name, RaggedTensor, reduce)
    return reduce


def _over(ragged: RaggedTensor, axis: int, keepdims: bool, reduce_dense: Any, by_segment: Segment, reduce: Any) -> Any:
    if axis == 0:
        width = reduction.reduce_max(concat([constant([0], ragged.row_splits.dtype), ragged.row_lengths()], 0))
        column = places(RaggedTensor(_first_of(ragged), ragged.row_splits, True), ragged.row_splits.dtype)[:, 1]
        result = _segmented(ragged.values, column, width, by_segment)
        return _uniform(result, None) if keepdims else result
    if axis == 1:
        result = _segmented(ragged.values, ragged.value_rowids(), ragged.nrows(), by_segment)
        return _uniform(result, 1) if keepdims else result
    inner = ragged.values
    reduced = reduce(inner, axis - 1, keepdims) if isinstance(inner, RaggedTensor) else reduce_dense(inner, axis - 1,
                                                                                                     keepdims)
    return ragged.with_values(reduced)


def _uniform(result: Any, width: int | None) -> Any:
    """The result with an axis of size 1 for the reduced one."""
    if isinstance(result, RaggedTensor):
        length: Any = result.nrows() if width is None else width
        return RaggedTensor.from_uniform_row_length(result, length, validate=False)
    sizes = result.shape.as_list()
    return reshape(result, [1, *sizes] if width is None else [-1, 1, *sizes[1:]])


def _first_of(ragged: RaggedTensor) -> Any:
    """A tensor or ragged tensor with one element per flat value."""
    return ragged.value_rowids()


def _segmented(values: Any, numbers: Any, count: Any, by_segment: Segment) -> Any:
    if not isinstance(values, RaggedTensor):
        return by_segment(values, numbers, count)
    # Values with the same position in rows of one group get the same number.
    lengths = segments.unsorted_segment_max(values.row_lengths(), numbers, count)
    lengths = where(lengths < 0, zeros_like(lengths), lengths)
    splits = rows.of_lengths(cast(lengths, values.row_splits.dtype), validate=False)
    place = places(RaggedTensor(_first_of(values), values.row_splits, True), splits.dtype)
    owner = gather_tensor(numbers, place[:, 0])
    flat = _segmented(values.values, gather_tensor(splits, owner) + place[:, 1], splits[-1], by_segment)
    return RaggedTensor(flat, splits, True)


def _mean(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None, **old: Any) -> Any:
    ragged = as_values(input_tensor)
    total = reduce_sum(ragged, axis, keepdims)
    return truediv(total, reduce_sum(ragged.map_values(ones_like), axis, keepdims))


def _of_bools(by_segment: Segment) -> Segment:
    return lambda data, numbers, count: by_segment(cast(data, int32), numbers, count) > 0


reduce_sum = _reduced('reduce_sum', reduction.reduce_sum, segments.unsorted_segment_sum)
override('reduce_mean', RaggedTensor, _mean)
_reduced('reduce_prod', reduction.reduce_prod, segments.unsorted_segment_prod)
_reduced('reduce_max', reduction.reduce_max, segments.unsorted_segment_max)
_reduced('reduce_min', reduction.reduce_min, segments.unsorted_segment_min)
_reduced('reduce_all', reduction.reduce_all, _of_bools(segments.unsorted_segment_prod))
_reduced('reduce_any', reduction.reduce_any, _of_bools(segments.unsorted_segment_sum))


# ---------------------------------------------------------------- one after the other
def _concat(values: Any, axis: Any, name: str = 'concat') -> Any:
    parts = [as_values(value) for value in (values if isinstance(values, (list, tuple)) else [values])]
    rank = next(part.shape.rank for part in parts if isinstance(part, RaggedTensor))
    return _joined([_as_rows(part) for part in parts], _axis(axis, rank))


def _as_rows(part: Any) -> RaggedTensor:
    return part if isinstance(part, RaggedTensor) else RaggedTensor.from_tensor(part)


def _joined(parts: Sequence[Any], axis: int) -> Any:
    if len(parts) == 1:
        return parts[0]
    if axis and any(not isinstance(part, RaggedTensor) for part in parts):
        return concat(list(parts), axis)
    if axis == 0:
        if all(not isinstance(part, RaggedTensor) for part in parts):
            return concat(list(parts), 0)
        ragged = [_as_rows(part) for part in parts]
        lengths = concat([part.row_lengths() for part in ragged], 0)
        return RaggedTensor.from_row_lengths(_joined([part.values for part in ragged], 0), lengths, validate=False)
    if axis == 1:
        stacked = _joined(parts, 0)
        count = parts[0].nrows()
        order = reshape(_order(len(parts), count), [-1])
        mixed = gather(stacked, order)
        return RaggedTensor(mixed.values, gather_tensor(mixed.row_splits, _every(len(parts), count)), True)
    checks = [assert_equal(part.row_splits, parts[0].row_splits, message='Inputs must have identical ragged splits')
              for part in parts[1:]]
    with after(checks):
        return parts[0].with_values(_joined([part.values for part in parts], axis - 1))


def _order(parts: int, count: Any) -> Any:
    from pyfuncdbg.hosts.numpy.ops.arrays.filling import range as numbers
    from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
    first = numbers(0, count, dtype=count.dtype)
    return stack([first + i * count for i in range(parts)], 1)


def _every(parts: int, count: Any) -> Any:
    from pyfuncdbg.hosts.numpy.ops.arrays.filling import range as numbers
    return numbers(0, count + 1, dtype=count.dtype) * parts


def stacked(values: Any, axis: int = 0, name: str = 'stack') -> Any:
    parts = [as_values(value) for value in values]
    rank = parts[0].shape.rank
    axis = _axis(axis, None if rank is None else rank + 1)
    return _joined([_as_rows(expand_dims(part, axis)) for part in parts], axis)


def _expand_dims(input: Any, axis: Any = None, name: Any = None, dim: Any = None) -> Any:
    ragged = as_values(input)
    axis = dim if axis is None else axis
    axis = _axis(axis, None if ragged.shape.rank is None else ragged.shape.rank + 1)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(ragged, ragged.nrows(), nrows=1, validate=False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(ragged, 1, nrows=ragged.nrows(), validate=False)
    inner = ragged.values
    if isinstance(inner, RaggedTensor):
        return ragged.with_values(_expand_dims(inner, axis - 1))
    return ragged.with_values(expand_dims(inner, axis - 1))


# ---------------------------------------------------------------- choosing
def masked(tensor: Any, mask: Any, axis: Any = None, name: Any = None) -> Any:
    data, mask = as_values(tensor), as_values(mask)
    if not isinstance(mask, RaggedTensor) and mask.shape.rank > 1:
        levels = mask.shape.rank - 1
        mask = RaggedTensor.from_tensor(mask, ragged_rank=levels)
        data = data if isinstance(data, RaggedTensor) else RaggedTensor.from_tensor(data, ragged_rank=levels)
    if isinstance(mask, RaggedTensor) and isinstance(data, RaggedTensor):
        if mask.ragged_rank > 1:
            return data.with_values(masked(data.values, mask.values))
        lengths = segments.unsorted_segment_sum(cast(mask.values, mask.row_splits.dtype), mask.value_rowids(), mask.nrows())
        if isinstance(data.values, RaggedTensor):
            values: Any = gather(data.values, where(mask.values)[:, 0])
        else:
            values = boolean_mask(data.values, mask.values)
        return RaggedTensor.from_row_lengths(values, lengths, validate=False)
    return gather(data, where(mask)[:, 0])


def _where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    ragged = as_values(condition)
    if x is None and y is None:
        return boolean_mask(places(ragged, int64), ragged.flat_values)
    template = next(value for value in (ragged, x, y) if isinstance(value, RaggedTensor))
    flat = [value.flat_values if isinstance(value, RaggedTensor) else value for value in (ragged, x, y)]
    return template.with_flat_values(where(*flat))


def _reverse(tensor: Any, axis: Any, name: Any = None) -> Any:
    ragged = as_values(tensor)
    for one in sorted(_axis(a, ragged.shape.rank) for a in (axis if isinstance(axis, (list, tuple)) else [axis])):
        if one <= ragged.ragged_rank:
            ragged = ragged[(slice(None),) * one + (slice(None, None, -1),)]
        else:
            ragged = ragged.with_flat_values(reverse(ragged.flat_values, [one - ragged.ragged_rank]))
    return ragged


def _size(input: Any, out_type: Any = int32, name: Any = None) -> Any:
    return size(as_values(input).flat_values, out_type)


def _rank(input: Any, name: Any = None) -> Any:
    ragged = as_values(input)
    return constant(ragged.ragged_rank, int32) + constant(ragged.flat_values.shape.rank, int32)


def _cast(x: Any, dtype: Any, name: Any = None) -> Any:
    return x.map_values(lambda values: cast(values, as_dtype(dtype)))


_RAGGED_FORMS: dict[str, Callable[..., Any]] = {
    'cast': _cast, 'concat': _concat, 'stack': stacked, 'expand_dims': _expand_dims,
    'where': _where, 'reverse': _reverse, 'size': _size, 'rank': _rank,
    'gather': lambda params, indices, validate_indices=None, axis=0, batch_dims=0, name=None: gather(
        params, indices, axis=axis, batch_dims=batch_dims),
    'identity': lambda input, name=None: input.map_values(identity),
    'zeros_like': lambda input, dtype=None, name=None: input.map_values(lambda values: zeros_like(values, dtype)),
    'ones_like': lambda input, dtype=None, name=None: input.map_values(lambda values: ones_like(values, dtype)),
}
_OF_VALUES: tuple[Callable[..., Any], ...] = (
    add_n, clip_by_value, dropout, one_hot, strings.as_string, strings.length, strings.lower, strings.strip, strings.substr,
    strings.to_number, strings.upper)
for _function in _OF_VALUES:
    override(_function.__name__, RaggedTensor, partial(map_flat_values, _function))
for _name, _function in _RAGGED_FORMS.items():
    override(_name, RaggedTensor, _function)
