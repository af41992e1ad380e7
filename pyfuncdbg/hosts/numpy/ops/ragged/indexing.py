"""`ragged[key]` and `gather`: rows by number, slices of rows and of the values within them."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather as gather_tensor
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import reshape, shape as shape_of, size
from pyfuncdbg.hosts.numpy.ops.checks.assertions import assert_greater_equal, assert_less
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum, minimum
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor, as_values

_ALL = slice(None)


def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """`ragged[key]`.

    Raises:
        ValueError: An integer index within rows of different length.
        IndexError: There is no such row, or there are too many items.
        TypeError: An index or step is no integer.
    """
    return _of_rows(ragged, list(key) if isinstance(key, (list, tuple)) else [key])


def _of_rows(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _of_rows(ragged, _expanded(keys, ragged.shape.rank))
    if first is None:
        inner = _of_rows(ragged, rest)
        return _uniform(inner, _count(inner), 1)
    if isinstance(first, slice):
        return _within(_sliced(ragged, first), rest)
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    if context.executing_eagerly() and not isinstance(first, Tensor):
        try:
            number = int(first)
        except (TypeError, ValueError):
            number = 0
        if number >= len(starts):
            raise IndexError(f'Row key {first} out of bounds')
    return _of_rows(ragged.values[starts[first]:limits[first]], rest)


def _count(value: Any) -> Any:
    return value.nrows() if isinstance(value, RaggedTensor) else shape_of(value)[0]


def _uniform(values: Any, length: Any, nrows: Any) -> RaggedTensor:
    return RaggedTensor.from_uniform_row_length(values, length, nrows=nrows, validate=False)


def _expanded(keys: list[Any], rank: int | None) -> list[Any]:
    """The keys with their leading ellipsis one axis shorter."""
    if rank is None:
        raise ValueError('Ellipsis not supported for unknown shape RaggedTensors')
    count = sum(key is not None for key in keys)
    if count > rank + 1:
        raise IndexError('Too many indices for RaggedTensor')
    return keys[1:] if count == rank + 1 else [_ALL, *keys]


def _sliced(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    """Some of the rows."""
    if key == _ALL:
        return ragged
    splits = ragged.row_splits
    starts, limits = splits[:-1][key], splits[1:][key]
    if key.step is None or key.step == 1:
        new = concat([zeros([1], splits.dtype)[size(starts):], starts[:1], limits], 0)
        result = RaggedTensor(ragged.values[new[0]:new[-1]], new - new[0], True)
    else:
        result = _gathered(ragged.values, starts, limits, constant(1, splits.dtype))
    if ragged.uniform_row_length is None:
        return result
    return _uniform(result.values, ragged.uniform_row_length, result.nrows())


def _gathered(values: Any, starts: Any, limits: Any, step: Any) -> RaggedTensor:
    """The rows of `values` from each start to its limit."""
    splits, indices = rows.ranges(starts, limits, step, starts.dtype)
    return RaggedTensor(gather(values, indices), splits, True)


def _within(ragged: Any, keys: list[Any]) -> Any:
    """The items within each row."""
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[(_ALL, *keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _within(ragged, _expanded(keys, ragged.values.shape.rank))
    if first is None:
        inner = _within(ragged, rest)
        return _uniform(inner, 1, _count(inner))
    if isinstance(first, slice):
        if first == _ALL:
            return ragged.with_values(_within(ragged.values, rest))
        for place in (first.start, first.stop):
            if not isinstance(place, (Tensor, int, type(None))):
                raise TypeError('slice offsets must be integers or None')
        return _slice_rows(ragged, first, rest)
    if ragged.uniform_row_length is None:
        raise ValueError('Cannot index into an inner ragged dimension.')
    length = ragged.uniform_row_length
    place = cast(convert_to_tensor(first), length.dtype)
    text = 'Index out of bounds when indexing into a ragged tensor'
    assert_greater_equal(place, -length, message=text)
    assert_less(place, length, message=text)
    return _within(ragged.values[where(place < 0, place + length, place)::length], rest)


def _slice_rows(ragged: RaggedTensor, key: slice, rest: list[Any]) -> RaggedTensor:
    """A slice of each row."""
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    step = convert_to_tensor(1 if key.step is None else key.step)
    if not step.dtype.is_integer:
        raise TypeError('slice strides must be integers or None')
    step = cast(step, starts.dtype)
    forward = step >= 0
    lowest, highest = where(forward, starts, starts - 1), where(forward, limits, limits - 1)

    def place(offset: Any, default: Any) -> Any:
        if offset is None:
            return default
        moved = cast(convert_to_tensor(offset), starts.dtype)
        return where(moved >= 0, minimum(starts + moved, highest), maximum(limits + moved, lowest))
    begin = place(key.start, where(forward, starts, limits - 1))
    end = place(key.stop, where(forward, limits, starts - 1))
    inner = _gathered(ragged.values, begin, end, step)
    if ragged.uniform_row_length is not None:
        width = constant_value(ragged.uniform_row_length)
        if width is not None and all(isinstance(part, (int, type(None))) for part in (key.start, key.stop, key.step)):
            inner = _uniform(inner.values, constant(len(range(int(width))[key]), starts.dtype), ragged.nrows())
    return inner.with_values(_within(inner.values, rest))


# ---------------------------------------------------------------- gather
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = 0, batch_dims: int = 0,
           name: Any = None) -> Any:
    """The rows of a tensor or ragged tensor by their numbers, which may be ragged too.

    Raises:
        ValueError: The axis is not the first.
    """
    params = as_values(params)
    indices = as_values(indices)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gather_tensor(params, indices, axis=axis, batch_dims=batch_dims)
    if axis not in (0, None) or batch_dims:
        raise ValueError('a ragged tensor is gathered along its first axis only')
    if indices.shape.rank is not None and indices.shape.rank > 1:
        flat = gather(params, reshape(indices, [-1]))
        for width in reversed(indices.shape.as_list()[1:]):
            flat = _uniform(flat, width, None)
        return flat
    if indices.shape.rank == 0:
        return params[indices]
    starts, limits = gather_tensor(params.row_splits[:-1], indices), gather_tensor(params.row_splits[1:], indices)
    return _gathered(params.values, starts, limits, constant(1, starts.dtype))
