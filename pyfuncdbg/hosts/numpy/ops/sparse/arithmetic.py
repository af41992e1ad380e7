"""Sums, products and extremes of sparse tensors, with each other and with tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32, int64
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import boolean_mask, gather, tensor_scatter_nd_add
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims, reshape, shape as shape_of, size
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_to
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum as greater_of, minimum as smaller_of
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import greater_equal
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import abs as absolute, conj
from pyfuncdbg.hosts.numpy.ops.linalg.products import matrix_transpose
from pyfuncdbg.hosts.numpy.ops.sparse.dense import to_dense
from pyfuncdbg.hosts.numpy.ops.sparse.places import by_number, in_order, numbers_of
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor, as_sparse, is_sparse
from pyfuncdbg.hosts.numpy.ops.sums.segments import unsorted_segment_max, unsorted_segment_sum
from pyfuncdbg.hosts.numpy.ops.sums.sorting import unique


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two sparse tensors, without elements below `threshold`, or of a sparse tensor and a tensor.

    Raises:
        TypeError: Neither is sparse.
    """
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError('At least one input should be SparseTensor; do you mean to use tf.add()?')
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (as_sparse(a), b) if is_sparse(a) else (as_sparse(b), a)
        return tensor_scatter_nd_add(convert_to_tensor(dense, dtype_hint=sparse.dtype), sparse.indices, sparse.values)
    a, b = as_sparse(a), as_sparse(b)
    _check_sizes(a, b)
    values = concat([a.values, b.values], 0)
    numbers, place = unique(concat([numbers_of(a), numbers_of(b)], 0))
    sums = unsorted_segment_sum(values, place, size(numbers))
    above_threshold = greater_equal(absolute(sums), convert_to_tensor(threshold, absolute(sums).dtype))
    if not (isinstance(threshold, (int, float)) and threshold == 0):
        numbers, sums = boolean_mask(numbers, above_threshold), boolean_mask(sums, above_threshold)
    return in_order(SparseTensor(by_number(numbers, a.dense_shape), sums, a.dense_shape))


def _check_sizes(a: SparseTensor, b: SparseTensor) -> None:
    if not a.shape.is_compatible_with(b.shape):
        raise invalid('Operands do not have the same ranks; got shapes: ' + ' and '.join(
            f'[{",".join(map(str, s.shape.as_list()))}]' for s in (a, b)) if a.shape.rank != b.shape.rank else
            f'Operands\' shapes do not match: got {a.shape[0]} and {b.shape[0]} for dimension 0')


def maximum(sp_a: Any, sp_b: Any, name: Any = None) -> SparseTensor:
    """The greater element of two sparse tensors in each place; missing elements are 0."""
    return _of_both(greater_of, as_sparse(sp_a), as_sparse(sp_b))


def minimum(sp_a: Any, sp_b: Any, name: Any = None) -> SparseTensor:
    """The smaller element of two sparse tensors in each place; missing elements are 0."""
    return _of_both(smaller_of, as_sparse(sp_a), as_sparse(sp_b))


def _of_both(function: Callable[[Any, Any], Any], a: SparseTensor, b: SparseTensor) -> SparseTensor:
    numbers, place = unique(concat([numbers_of(a), numbers_of(b)], 0))
    count, first = size(numbers), size(a.values)
    x = unsorted_segment_sum(a.values, place[:first], count)
    y = unsorted_segment_sum(b.values, place[first:], count)
    return in_order(SparseTensor(by_number(numbers, a.dense_shape), function(x, y), a.dense_shape))


def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Any = None) -> Tensor:
    """The product of a sparse and a dense matrix, in either order, with optional adjoints."""
    if is_sparse(b) and not is_sparse(sp_a):
        return matrix_transpose(sparse_dense_matmul(b, matrix_transpose(sp_a) if not adjoint_a else conj(sp_a),
                                                    adjoint_a=not adjoint_b))
    sparse = as_sparse(sp_a)
    dense = convert_to_tensor(b, sparse.dtype)
    if adjoint_b:
        dense = conj(matrix_transpose(dense))
    row, column = (1, 0) if adjoint_a else (0, 1)
    inner, other = sparse.shape[column] if sparse.shape.rank == 2 else None, dense.shape[0]
    if inner is not None and other is not None and inner != other:
        raise invalid(f'Cannot multiply A and B because inner dimension does not match: {inner} vs. {other}.  Did you '
                      'forget a transpose?  Dimensions of A: [' + ', '.join(map(str, sparse.shape.as_list())) +
                      ').  Dimensions of B: [' + ','.join(map(str, dense.shape.as_list())) + ']')
    values = conj(sparse.values) if adjoint_a else sparse.values
    parts = expand_dims(values, 1) * gather(dense, sparse.indices[:, column])
    return unsorted_segment_sum(parts, sparse.indices[:, row], sparse.dense_shape[row])


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: Any = None,
               reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """The sums over `axis` (None: all), as a tensor or, with `output_is_sparse`, a sparse one."""
    return _reduced(unsorted_segment_sum, sp_input, reduction_axes if axis is None else axis,
                    bool(keepdims or keep_dims), output_is_sparse)


def reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: Any = None,
               reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """The greatest stored element over `axis` (None: all); 0 where there is none."""
    return _reduced(unsorted_segment_max, sp_input, reduction_axes if axis is None else axis,
                    bool(keepdims or keep_dims), output_is_sparse)


def _reduced(by_segment: Callable[..., Any], sp_input: Any, axis: Any, keepdims: bool, output_is_sparse: bool) -> Any:
    sparse = as_sparse(sp_input)
    rank = sparse.shape.rank
    if rank is None:
        raise ValueError('the rank of a sparse tensor to be reduced must be known')
    axes = range(rank) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    for one in axes:
        if not -rank <= one < rank:
            raise invalid(f'Invalid reduction dimension {one}, for input with {rank} dimensions.')
    reduced_axes = {one % rank for one in axes}
    kept_axes = [i for i in range(rank) if i not in reduced_axes]
    sizes = gather(sparse.dense_shape, convert_to_tensor(kept_axes, int32)) if kept_axes else convert_to_tensor([1], int64)
    indices = gather(sparse.indices, convert_to_tensor(kept_axes, int32), axis=1) if kept_axes else sparse.indices[:, :1] * 0
    narrow = SparseTensor(indices, sparse.values, sizes)
    numbers, place = unique(numbers_of(narrow))
    sums = by_segment(sparse.values, place, size(numbers))
    result = in_order(SparseTensor(by_number(numbers, sizes), sums, sizes))
    if output_is_sparse:
        return result
    dense = to_dense(result, validate_indices=False)
    full = [1 if i in reduced_axes else sparse.shape[i] for i in range(rank)]
    if keepdims:
        return reshape(dense, [-1 if n is None else n for n in full])
    return dense if kept_axes else reshape(dense, [])


def to_indicator(sp_input: Any, vocab_size: Any, name: Any = None) -> Tensor:
    """A bool tensor: for each row which ids it has."""
    sparse = as_sparse(sp_input)
    ids = reshape(cast(sparse.values, int64), [-1, 1])
    indices = concat([sparse.indices[:, :-1], ids], 1)
    ones = convert_to_tensor(True)
    shape = concat([sparse.dense_shape[:-1], [vocab_size]], 0)
    marks = broadcast_to(ones, shape_of(sparse.values))
    return to_dense(in_order(SparseTensor(indices, marks, shape)), False, validate_indices=False)
