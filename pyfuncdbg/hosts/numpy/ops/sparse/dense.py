"""Conversion between sparse tensors and tensors: `from_dense`, `to_dense`; `eye`, placeholders."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, float32, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones, range, zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import gather_nd, tensor_scatter_nd_update
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant_value, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import not_equal, where
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor, as_sparse
from pyfuncdbg.hosts.numpy.ops.variables.handles import placeholder as tensor_placeholder
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _to_dense(indices: Any, sizes: Any, values: Any, default: Any, validate_indices: bool = True) -> Any:
    places = np.asarray(indices)
    if places.ndim < 2:
        places = places.reshape(-1, 1) if len(sizes) == 1 else places.reshape(1, -1)
    if validate_indices:
        _check_order(places, sizes)
    dense = np.empty(tuple(sizes), np.asarray(values).dtype)
    dense[...] = default
    dense[tuple(places.T)] = values
    return dense


def _check_order(places: np.ndarray, sizes: Any) -> None:
    """Refuse coordinates that are out of bounds, repeated, or not in row-major order."""
    before: list[int] | None = None
    for i, place in enumerate(places.tolist()):
        text = f'indices[{i}] = [{",".join(map(str, place))}] is '
        if any(not 0 <= n < size for n, size in zip(place, sizes, strict=True)):
            raise invalid(text + 'out of bounds: need 0 <= index < [' + ','.join(map(str, np.asarray(sizes))) + ']')
        if before is not None and place <= before:
            raise invalid(text + ('repeated' if place == before else
                                  'out of order. Many sparse ops require sorted indices.\n'
                                  '    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n'))
        before = place


def _to_dense_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    sizes = constant_value(inputs[1])
    rank = inputs[1].shape[0] if inputs[1].shape.rank == 1 else None
    shape = TensorShape([None if n < 0 else int(n) for n in sizes.tolist()]) if sizes is not None else (
        TensorShape(None if rank is None else [None] * rank))
    return [(inputs[2].dtype, shape)]


def _to_dense_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    indices, _, values, _ = node.inputs
    of_values = gather_nd(grad, indices)
    others = tensor_scatter_nd_update(grad, indices, zeros_like(of_values))
    return [None, None, reduce_sum(of_values) if values.shape.rank == 0 else of_values, reduce_sum(others)]


register(OpDef('SparseToDense', _to_dense, _to_dense_types, _to_dense_gradient, kernel_attrs=('validate_indices',)))


def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None) -> Tensor:
    """The dense tensor, `default_value` (zero, False, '') where no element is stored.

    Raises:
        InvalidArgumentError: Coordinates are not in row-major order, repeated or out of bounds.
    """
    sparse = as_sparse(sp_input)
    default = ('' if sparse.dtype.name == 'string' else sparse.dtype.as_numpy_dtype(0)) if default_value is None \
        else default_value
    default = convert_to_tensor(default, sparse.dtype)
    result: Tensor = apply('SparseToDense', (sparse.indices, sparse.dense_shape, sparse.values, default),
                           {'validate_indices': validate_indices}, name)
    if hasattr(result, 'op') and sparse.shape.rank is not None and not hasattr(result, '_value'):
        result.set_shape(sparse.shape)  # type: ignore[attr-defined]
    return result


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: Any = None) -> Tensor:
    """`to_dense` of TensorFlow 1, from components."""
    values = convert_to_tensor(sparse_values)
    indices = convert_to_tensor(sparse_indices)
    return apply('SparseToDense', (indices, convert_to_tensor(output_shape, indices.dtype), values,
                                   convert_to_tensor(default_value, values.dtype)),
                 {'validate_indices': validate_indices}, name)


def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """The elements of a tensor that are not zero (or '' or False)."""
    with scope(name, 'dense_to_sparse'):
        tensor = convert_to_tensor(tensor)
        zero = '' if tensor.dtype.name == 'string' else tensor.dtype.as_numpy_dtype(0)
        indices = where(not_equal(tensor, convert_to_tensor(zero, tensor.dtype)))
        sparse = SparseTensor(indices, gather_nd(tensor, indices), shape_of(tensor, out_type=int64))
        sparse.shape = sparse.shape.merge_with(tensor.shape)
        return sparse


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: Any = None) -> SparseTensor:
    """Ones on the diagonal."""
    columns = num_rows if num_columns is None else num_columns
    count = min(num_rows, columns)
    diagonal = range(count, dtype=int64)
    return SparseTensor(stack([diagonal, diagonal], 1), ones([count], as_dtype(dtype)), [num_rows, columns])


def sparse_placeholder(dtype: Any, shape: Any = None, name: Any = None) -> SparseTensor:
    """Placeholder of a sparse tensor (TensorFlow 1)."""
    static_shape = TensorShape(shape)
    def part(label: str) -> str | None:
        return None if name is None else f'{name}/{label}'
    rank = static_shape.rank
    if static_shape.is_fully_defined():
        sizes: Any = convert_to_tensor(static_shape.as_list(), int64, name=part('shape') or 'Const')
    else:
        sizes = tensor_placeholder(int64, [rank], part('shape'))
    values = tensor_placeholder(as_dtype(dtype), [None], part('values'))
    indices = tensor_placeholder(int64, [None, rank], part('indices'))
    sparse = SparseTensor(indices, values, sizes)
    sparse.shape = sparse.shape.merge_with(static_shape)
    return sparse
