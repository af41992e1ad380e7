"""Sparse tensors rearranged: reordered, transposed, reshaped, sliced, split, concatenated, with empty rows filled."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.composite import override
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, int32, int64
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill, ones_like, zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask, gather
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat as concat_tensors, stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_all, reduce_max, reduce_prod
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import (
    expand_dims as expand_tensor,
    identity,
    reshape as reshape_tensor,
    shape as shape_of,
    size,
)
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.sparse.places import by_number, in_order, numbers_of
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor, as_sparse
from pyfuncdbg.hosts.numpy.ops.sums.segments import unsorted_segment_sum


def reorder(sp_input: Any, name: Any = None) -> SparseTensor:
    """The same elements in row-major order."""
    return in_order(as_sparse(sp_input))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements whose flag is True."""
    sparse, flags = as_sparse(sp_input), convert_to_tensor(to_retain)
    sparse.values.shape.assert_is_compatible_with(flags.shape)
    return SparseTensor(boolean_mask(sparse.indices, flags), boolean_mask(sparse.values, flags),
                        identity(sparse.dense_shape))


def mask(a: Any, mask_indices: Any, name: Any = None) -> Any:
    """`IndexedSlices` without the slices at some indices."""
    from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
    unwanted = convert_to_tensor(mask_indices, a.indices.dtype)
    flags = reduce_all(expand_tensor(a.indices, 1) != expand_tensor(unwanted, 0), 1)
    return IndexedSlices(boolean_mask(a.values, flags), boolean_mask(a.indices, flags), a.dense_shape)


def transpose(sp_input: Any, perm: Any = None, name: Any = None) -> SparseTensor:
    """The axes in another order; backwards by default."""
    sparse = as_sparse(sp_input)
    order = list(reversed(range(sparse.shape.rank or 0))) if perm is None else perm
    moved = convert_to_tensor(order, int32)
    return in_order(SparseTensor(gather(sparse.indices, moved, axis=1), sparse.values, gather(sparse.dense_shape, moved)))


def reshape(sp_input: Any, shape: Any, name: Any = None) -> SparseTensor:
    """The same elements in another dense shape; one size may be -1.

    Raises:
        InvalidArgumentError: The dense shapes differ in their number of elements.
    """
    sparse = as_sparse(sp_input)
    sizes = convert_to_tensor(shape, int64) if not isinstance(shape, Tensor) else cast(shape, int64)
    count = reduce_prod(sparse.dense_shape)
    product_of_sizes = reduce_prod(where(sizes < 0, ones_like(sizes), sizes))
    filled = where(sizes < 0, fill(shape_of(sizes), count // maximum(product_of_sizes, convert_to_tensor(1, int64))), sizes)
    count_of_elements = sparse.shape.num_elements()
    if count_of_elements is not None and not isinstance(shape, Tensor):
        sizes_requested = [int(n) for n in shape]
        if -1 not in sizes_requested:
            total = 1
            for n in sizes_requested:
                total *= n
            if total != count_of_elements:
                raise invalid(f'Input to reshape is a tensor with {count_of_elements} dense values, '
                              f'but the requested shape has {total}')
    return SparseTensor(by_number(numbers_of(sparse), filled), sparse.values, filled)


def expand_dims(sp_input: Any, axis: Any = None, name: Any = None) -> SparseTensor:
    """Insert an axis of size 1."""
    sparse = as_sparse(sp_input)
    rank = sparse.shape.rank or 0
    axis = -1 if axis is None else axis
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f'axis {axis} not in the range [{-rank - 1}, {rank}]')
    at = axis + rank + 1 if axis < 0 else axis
    column = zeros_like(sparse.indices[:, :1])
    indices = concat_tensors([sparse.indices[:, :at], column, sparse.indices[:, at:]], 1)
    sizes = concat_tensors([sparse.dense_shape[:at], [1], sparse.dense_shape[at:]], 0)
    return SparseTensor(indices, sparse.values, sizes)


def slice(sp_input: Any, start: Any, size: Any, name: Any = None) -> SparseTensor:
    """The slice of `size` from `start`."""
    sparse = as_sparse(sp_input)
    begin, sizes = convert_to_tensor(start, int64), convert_to_tensor(size, int64)
    from pyfuncdbg.hosts.numpy.ops.elementwise.binary import minimum
    end = minimum(begin + sizes, sparse.dense_shape)
    inside = reduce_all((sparse.indices >= expand_tensor(begin, 0)) & (sparse.indices < expand_tensor(end, 0)), 1)
    indices = boolean_mask(sparse.indices, inside) - expand_tensor(begin, 0)
    return SparseTensor(indices, boolean_mask(sparse.values, inside), maximum(end - begin, zeros_like(begin)))


def split(sp_input: Any = None, num_split: Any = None, axis: Any = None, name: Any = None) -> list[SparseTensor]:
    """`num_split` parts along an axis; the first ones are longer if it does not divide the size.

    Raises:
        ValueError: An argument is missing.
    """
    for label, value in (('sp_input', sp_input), ('num_split', num_split), ('axis', axis)):
        if value is None:
            raise ValueError(f'{label} is required')
    sparse = as_sparse(sp_input)
    sizes = sparse.shape.as_list()
    at = axis % len(sizes)
    length = sizes[at]
    assert length is not None
    parts, begin = [], 0
    for i in range(num_split):
        width = length // num_split + (1 if i < length % num_split else 0)
        start = [begin if k == at else 0 for k in range(len(sizes))]
        parts.append(slice(sparse, start, [width if k == at else n for k, n in enumerate(sizes)]))
        begin += width
    return parts


def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: Any = None) -> SparseTensor:
    """Sparse tensors one after the other along an axis; with `expand_nonconcat_dims` other axes get the greatest size."""
    parts = [as_sparse(part) for part in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    rank = parts[0].shape.rank or 0
    if not -rank <= axis < rank:
        raise ValueError(f'axis {axis} not in the range [{-rank}, {rank})')
    at = axis % rank
    if not expand_nonconcat_dims:
        _check_others(parts, at)
    sizes = reduce_max(stack([part.dense_shape for part in parts]), 0)
    moved, begin = [], convert_to_tensor(0, int64)
    for part in parts:
        shift = stack([begin if k == at else convert_to_tensor(0, int64) for k in range(rank)])
        moved.append(part.indices + expand_tensor(shift, 0))
        begin = begin + part.dense_shape[at]
    full_shape = concat_tensors([sizes[:at], [begin], sizes[at + 1:]], 0)
    values = concat_tensors([part.values for part in parts], 0)
    return in_order(SparseTensor(concat_tensors(moved, 0), values, full_shape))


def _check_others(parts: list[SparseTensor], at: int) -> None:
    for i, part in enumerate(parts):
        for k, (expected, actual) in enumerate(zip(parts[0].shape, part.shape, strict=True)):
            if k != at and expected is not None and actual is not None and expected != actual:
                raise invalid(f'Input shapes must match: expected {expected} for dimension {k} but got {actual} '
                          f'at position {i}')


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in another dense shape: the smallest possible, or `new_shape`."""
    sparse = as_sparse(sp_input)
    if new_shape is None:
        least = concat_tensors([sparse.indices, zeros_like(expand_tensor(sparse.dense_shape, 0)) - 1], 0)
        return SparseTensor(sparse.indices, sparse.values, reduce_max(least, 0) + 1)
    return SparseTensor(sparse.indices, sparse.values, convert_to_tensor(new_shape, int64))


def fill_empty_rows(sp_input: Any, default_value: Any, name: Any = None) -> tuple[SparseTensor, Tensor]:
    """(the elements, with `default_value` at the start of each empty row; which rows were empty)."""
    sparse = as_sparse(sp_input)
    default = convert_to_tensor(default_value, sparse.dtype)
    counts = unsorted_segment_sum(ones_like(sparse.indices[:, 0]), sparse.indices[:, 0], sparse.dense_shape[0])
    empty = counts < 1
    missing = where(empty)
    rest = zeros_like(sparse.indices[:1, 1:])
    more = concat_tensors([missing, fill(stack([size(missing), size(rest) * 0 + (sparse.shape.rank or 1) - 1]),
                                         convert_to_tensor(0, int64))], 1)
    values = concat_tensors([sparse.values, fill(reshape_tensor(size(missing), [1]), default)], 0)
    result = SparseTensor(concat_tensors([sparse.indices, more], 0), values, sparse.dense_shape)
    return in_order(result), empty


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` on the values of the sparse tensors among the arguments, at the same coordinates.

    Raises:
        ValueError: No argument is sparse.
    """
    operands = [value for value in (*args, *kwargs.values()) if isinstance(value, SparseTensor)]
    if not operands:
        raise ValueError('No SparseTensor in argument list of map_values')

    def inner(value: Any) -> Any:
        return value.values if isinstance(value, SparseTensor) else value
    return operands[0].with_values(op(*map(inner, args), **{key: inner(value) for key, value in kwargs.items()}))


def softmax(sp_input: Any, name: Any = None) -> SparseTensor:
    """The softmax of the stored elements, over the last axis."""
    from pyfuncdbg.hosts.numpy.ops.elementwise.unary import exp
    from pyfuncdbg.hosts.numpy.ops.sums.segments import unsorted_segment_max
    from pyfuncdbg.hosts.numpy.ops.sums.sorting import unique
    sparse = as_sparse(sp_input)
    row = SparseTensor(sparse.indices[:, :-1], sparse.values, sparse.dense_shape[:-1])
    numbers, place = unique(numbers_of(row))
    count = size(numbers)
    powers = exp(sparse.values - gather(unsorted_segment_max(sparse.values, place, count), place))
    return sparse.with_values(powers / gather(unsorted_segment_sum(powers, place, count), place))


_SPARSE_FORMS: dict[str, Callable[..., Any]] = {
    'cast': lambda x, dtype, name=None: x.map_values(lambda values: cast(values, as_dtype(dtype))),
    'identity': lambda input, name=None: SparseTensor(identity(input.indices), identity(input.values),
                                                      identity(input.dense_shape)),
    'shape': lambda input, out_type=int32, name=None: cast(input.dense_shape, as_dtype(out_type)),
    'size': lambda input, out_type=int32, name=None: reduce_prod(cast(input.dense_shape, as_dtype(out_type))),
    'rank': lambda input, name=None: size(input.dense_shape),
}
for _name, _function in _SPARSE_FORMS.items():
    override(_name, SparseTensor, _function)
