"""Conversion between ragged tensors, tensors and sparse tensors; merged axes."""
from __future__ import annotations

import builtins
from math import prod
from typing import Any

from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, bool as boolean, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill, ones, range, sequence_mask
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask, gather, tensor_scatter_nd_update
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat, stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_all, reduce_any, reduce_max, reduce_prod, reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, reshape, shape as shape_of
from pyfuncdbg.hosts.numpy.ops.checks.assertions import Assert
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_to
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum, minimum
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import equal, logical_and, not_equal, where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import logical_not
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: Any, dtype: DType) -> RaggedTensor:
    """See `RaggedTensor.from_tensor`.

    Raises:
        ValueError: Arguments exclude each other, or the tensor's rank is below 2.
        TypeError: `ragged_rank` is no int.
    """
    if lengths is not None and padding is not None:
        raise ValueError('Specify argument `lengths` or `padding`, but not both.')
    if not isinstance(ragged_rank, int):
        raise TypeError(f'Argument `ragged_rank` must be an int. Received {ragged_rank}.')
    if ragged_rank <= 0:
        raise ValueError(f'Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.')
    tensor = convert_to_tensor(tensor, name='tensor')
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError('The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won\'t have ragged '
                         f'dimensions. Received argument `tensor` with rank {tensor.shape.rank}.')
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
        return _by_nested_lengths(tensor, lengths, ragged_rank)
    if ragged_rank > 1:
        return _of_several_levels(tensor, lengths, padding, ragged_rank, dtype)
    if padding is not None:
        lengths = _unpadded(tensor, convert_to_tensor(padding, tensor.dtype), dtype)
    sizes = shape_of(tensor, out_type=dtype)
    if lengths is not None:
        lengths = cast(convert_to_tensor(lengths, dtype_hint=dtype), dtype)
        lengths.shape.assert_has_rank(1)
        width = _size(tensor, 1, dtype)
        lengths = maximum(minimum(lengths, width), constant(0, dtype))
        flat_values = boolean_mask(tensor, sequence_mask(lengths, width))
        return RaggedTensor.from_row_lengths(flat_values, lengths, validate=False)
    values = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], 0))
    return RaggedTensor.from_uniform_row_length(values, _size(tensor, 1, dtype), _size(tensor, 0, dtype), validate=False)


def _size(tensor: Tensor, axis: int, dtype: DType) -> Tensor:
    static_size = tensor.shape[axis] if tensor.shape.rank is not None else None
    return shape_of(tensor, out_type=dtype)[axis] if static_size is None else constant(static_size, dtype)


def _by_nested_lengths(tensor: Tensor, lengths: Any, ragged_rank: int) -> Any:
    if ragged_rank not in (1, len(lengths)):
        raise ValueError('If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): '
                         f'{len(lengths)}. Received ragged_rank: {ragged_rank}.')
    tensor.shape.with_rank_at_least(len(lengths) + 1)
    mask = RaggedTensor.from_nested_row_lengths(ones(reshape(reduce_sum(lengths[-1]), [1]), boolean), lengths,
                                                validate=False)
    flat_values = boolean_mask(tensor, to_tensor(mask, False, None))
    return RaggedTensor.from_nested_row_lengths(flat_values, lengths, validate=False)


def _of_several_levels(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int, dtype: DType) -> RaggedTensor:
    sizes = shape_of(tensor, out_type=dtype)
    flat = reshape(tensor, concat([reshape(reduce_prod(sizes[:ragged_rank]), [1]), sizes[ragged_rank:]], 0))
    result = from_tensor(flat, lengths, padding, 1, dtype)
    for axis in reversed(list(builtins.range(1, ragged_rank))):
        result = RaggedTensor.from_uniform_row_length(result, _size(tensor, axis, dtype), reduce_prod(sizes[:axis]),
                                                      validate=False)
    return result


def _unpadded(tensor: Tensor, padding: Tensor, dtype: DType) -> Tensor:
    """The length of each row without the padding at its end."""
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    same = equal(padding, tensor)
    rank = tensor.shape.rank
    assert rank is not None
    if rank > 2:
        same = reduce_all(same, list(builtins.range(2, rank)))
    numbers = range(1, shape_of(tensor, out_type=dtype)[1] + 1, dtype=dtype)
    return reduce_max(cast(logical_not(same), dtype) * expand_dims(numbers, 0), 1)


# ---------------------------------------------------------------- to a tensor
def bounding_shape(ragged: RaggedTensor, axis: Any, dtype: DType) -> Tensor:
    """See `RaggedTensor.bounding_shape`."""
    sizes = [cast(ragged.nrows(), dtype)]
    for splits in ragged.nested_row_splits:
        longest = reduce_max(concat([constant([0], splits.dtype), rows.lengths_of(splits)], 0))
        sizes.append(cast(longest, dtype))
    sizes_of_all = concat([stack(sizes), shape_of(ragged.flat_values, out_type=dtype)[1:]], 0)
    return sizes_of_all if axis is None else gather(sizes_of_all, axis)


def to_tensor(ragged: RaggedTensor, default_value: Any, shape: Any) -> Tensor:
    """See `RaggedTensor.to_tensor`: each value is put where it belongs into a tensor of default values."""
    flat = ragged.flat_values
    dtype = int64
    static_shape = None if shape is None or isinstance(shape, Tensor) else TensorShape(shape)
    if static_shape is not None and None not in (static_shape.rank, ragged.shape.rank) and (
            static_shape.rank != ragged.shape.rank):
        raise invalid(f'rt_input.shape and shape={static_shape.as_list()} are incompatible: '
                      f'rt_input.rank = {ragged.shape.rank} but shape.rank = {static_shape.rank}')
    sizes = bounding_shape(ragged, None, dtype)
    if isinstance(shape, Tensor):
        sizes = where(cast(shape, dtype) < 0, sizes, cast(shape, dtype))
    elif static_shape is not None and static_shape.sizes is not None:
        requested = constant([-1 if size is None else size for size in static_shape.sizes], dtype)
        sizes = where(requested < 0, sizes, requested)
    default = convert_to_tensor(_zero_of(flat.dtype) if default_value is None else default_value, flat.dtype)
    at = places(ragged, dtype)
    rank = ragged.ragged_rank + 1
    inside = reduce_all(at < expand_dims(sizes[:rank], 0), 1)
    filled = broadcast_to(default, sizes)
    result = tensor_scatter_nd_update(filled, boolean_mask(at, inside), boolean_mask(flat, inside))
    _tell(result, ragged, static_shape)
    return result


def _tell(result: Tensor, ragged: RaggedTensor, static_shape: TensorShape | None) -> None:
    """Set the static shape of a symbolic result."""
    if isinstance(result, SymbolicTensor):
        shape = ragged.shape
        if static_shape is not None and static_shape.sizes is not None and shape.sizes is not None:
            shape = TensorShape([b if a is None else a for a, b in zip(static_shape.sizes, shape.sizes, strict=True)])
        result.set_shape(shape)


def _zero_of(dtype: DType) -> Any:
    return '' if dtype.name == 'string' else dtype.as_numpy_dtype(0)


def places(ragged: RaggedTensor, dtype: DType) -> Tensor:
    """The coordinates of each flat value on all levels."""
    columns: list[Any] = []
    owner: Any = None                               # for each flat value the index of its row on the level above
    for splits in reversed(ragged.nested_row_splits):
        numbers = rows.numbers_of(splits)
        column = range(0, splits[-1], dtype=splits.dtype) - gather(splits, numbers)
        columns.insert(0, column if owner is None else gather(column, owner))
        owner = numbers if owner is None else gather(numbers, owner)
    return stack([cast(column, dtype) for column in (owner, *columns)], 1)


def to_sparse(ragged: RaggedTensor) -> SparseTensor:
    """The sparse tensor of these rows; its sizes are those of the longest rows."""
    flat = ragged.flat_values
    at = places(ragged, int64)
    if flat.shape.rank != 1:
        inner = where(fill(shape_of(flat), constant(True)))
        at = concat([gather(at, inner[:, 0]), inner[:, 1:]], 1)
        flat = reshape(flat, [-1])
    return SparseTensor(at, flat, bounding_shape(ragged, None, int64))


def from_sparse(sparse: Any, dtype: DType) -> RaggedTensor:
    """See `RaggedTensor.from_sparse`.

    Raises:
        TypeError: The argument is no sparse tensor.
        ValueError: Its rank is not 2.
    """
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f'Argument `st_input` must be of type SparseTensor, but is of type {type(sparse).__name__}.')
    if sparse.dense_shape.shape[0] not in (None, 2):
        raise ValueError('rank(st_input) must be 2.')
    place, indices = sparse.indices[:, 1], sparse.indices
    changed = reduce_any(not_equal(indices[1:, :-1], indices[:-1, :-1]), 1)
    right = where(changed, equal(place[1:], constant(0, int64)), equal(place[1:], place[:-1] + 1))
    first = reduce_all(equal(place[:1], constant(0, int64)))
    Assert(logical_and(first, reduce_all(right)), ['SparseTensor is not right-ragged', 'SparseTensor.indices =', indices])
    return RaggedTensor.from_value_rowids(sparse.values, cast(indices[:, 0], dtype), cast(sparse.dense_shape[0], dtype),
                                          validate=False)


# ---------------------------------------------------------------- axes made one
def merged(ragged: RaggedTensor, outer: int, inner: int) -> Any:
    """See `RaggedTensor.merge_dims`.

    Raises:
        ValueError: There is no such axis, or the outer axis is not before the inner.
    """
    rank = ragged.shape.rank
    axes = []
    for name, axis in (('outer_axis', outer), ('inner_axis', inner)):
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f'{name}={axis} out of bounds: expected {-rank}<={name}<{rank}')
        axes.append(axis + (rank or 0) if axis < 0 else axis)
    if axes[0] > axes[1]:
        raise ValueError(f'Expected outer_axis ({axes[0]}) to be less than or equal to inner_axis ({axes[1]}).')
    return _merged(ragged, axes[0], axes[1])


def _merged(value: Any, outer: int, inner: int) -> Any:
    if outer == inner:
        return value
    while outer == 0 and isinstance(value, RaggedTensor):
        value, inner = value.values, inner - 1
        if inner == 0:
            return value
    if not isinstance(value, RaggedTensor):
        sizes = shape_of(value)
        return reshape(value, concat([sizes[:outer], [-1], sizes[inner + 1:]], 0))
    if outer > 1:
        return value.with_values(_merged(value.values, outer - 1, inner - 1))
    values, splits = value.values, value.row_splits
    for axis in builtins.range(outer, inner):
        if isinstance(values, RaggedTensor):
            values, splits = values.values, gather(values.row_splits, splits)
        else:
            count = inner - axis + 1
            sizes = shape_of(values, out_type=splits.dtype)
            inner_shape = values.shape[1:count]
            width = prod(inner_shape) if inner_shape.is_fully_defined() else reduce_prod(sizes[1:count])
            values, splits = reshape(values, concat([[-1], sizes[count:]], 0)), splits * width
            break
    return RaggedTensor.from_row_splits(values, splits, validate=False)

