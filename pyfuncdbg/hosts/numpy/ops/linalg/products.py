"""Linear algebra: products of matrices and tensors, norms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import SCALAR, UNKNOWN, TensorShape, as_shape
from pyfuncdbg.hosts.numpy.ops.arrays import computed_axes
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_max, reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FLOAT,
    NUMBER,
    at_least_rank,
    broadcast_shapes,
    check_dtype,
    check_eager_types,
    check_same_dtype,
    invalid,
    text,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import abs as absolute, conj, sqrt
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- matrices
def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    if a.ndim == b.ndim == 2:
        try:
            return np.matmul(a.T if transpose_a else a, b.T if transpose_b else b)
        except ValueError:
            raise invalid(f'Matrix size-incompatible: In[0]: {text(as_shape(a.shape))}, '
                          f'In[1]: {text(as_shape(b.shape))}') from None
    if a.ndim != b.ndim:
        raise invalid(f'In[0] and In[1] has different ndims: {text(as_shape(a.shape))} vs. {text(as_shape(b.shape))}')
    raise invalid(f'In[0] and In[1] ndims must be == 2: {a.ndim}')


def _equal_sizes(m: int | None, n: int | None) -> None:
    if m is not None and n is not None and m != n:
        raise ValueError(f'Dimensions must be equal, but are {m} and {n}')


def _matmul_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    a, b = inputs
    check_dtype('MatMul', 'a', a.dtype, NUMBER)
    check_same_dtype('MatMul', ('a', 'b'), inputs)
    rows, inner = with_rank(a.shape, 2)
    inner_b, columns = with_rank(b.shape, 2)
    if attrs.get('transpose_a'):
        rows, inner = inner, rows
    if attrs.get('transpose_b'):
        inner_b, columns = columns, inner_b
    _equal_sizes(inner, inner_b)
    return [(a.dtype, TensorShape.of((rows, columns)))]


def _product(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return apply('MatMul', (a, b), {'transpose_a': transpose_a, 'transpose_b': transpose_b})


def _matmul_gradient(node: Node, grad: Tensor, needed: Sequence[bool]) -> Sequence[Any]:
    transpose_a, transpose_b = bool(node.attrs.get('transpose_a')), bool(node.attrs.get('transpose_b'))
    a, b = node.inputs
    of_a = of_b = None
    if needed[0]:
        b = conj(b)
        of_a = (_product(b, grad, transpose_b, True) if transpose_a else _product(grad, b, False, not transpose_b))
    if needed[1]:
        a = conj(a)
        of_b = (_product(grad, a, True, transpose_a) if transpose_b else _product(a, grad, not transpose_a))
    return [of_a, of_b]


register(OpDef('MatMul', _matmul, _matmul_types, _matmul_gradient, kernel_attrs=('transpose_a', 'transpose_b'),
               selective=True))


# ---------------------------------------------------------------- batches of matrices
def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2)) if x.dtype.kind == 'c' else np.swapaxes(x, -1, -2)


def _batch_matmul(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    for k, value in enumerate((x, y)):
        if value.ndim < 2:
            raise invalid(f'In[{k}] ndims must be >= 2: {value.ndim}')
    m, n = x.shape[-2 if adj_x else -1], y.shape[-1 if adj_y else -2]
    shapes = text(as_shape(x.shape)), text(as_shape(y.shape))
    if m != n:
        raise invalid('Matrix size-incompatible: In[0]: {}, In[1]: {}'.format(*shapes))
    try:
        return np.matmul(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y)
    except ValueError:
        raise invalid('In[0] and In[1] must have compatible batch dimensions: {} vs. {}'.format(*shapes)) from None


def _batch_matmul_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, y = inputs
    check_dtype('BatchMatMulV2', 'x', x.dtype, NUMBER)
    check_same_dtype('BatchMatMulV2', ('x', 'y'), inputs)
    a, b = at_least_rank(x.shape, 2).sizes, at_least_rank(y.shape, 2).sizes
    if a is None or b is None:
        return [(x.dtype, UNKNOWN)]
    rows, inner = a[-2:] if not attrs.get('adj_x') else (a[-1], a[-2])
    inner_y, columns = b[-2:] if not attrs.get('adj_y') else (b[-1], b[-2])
    _equal_sizes(inner, inner_y)
    batch = broadcast_shapes(TensorShape.of(a[:-2]), TensorShape.of(b[:-2]))
    return [(x.dtype, batch.concatenate(TensorShape.of((rows, columns))))]


def _batch(x: Tensor, y: Tensor, adj_x: bool = False, adj_y: bool = False) -> Tensor:
    return apply('BatchMatMulV2', (x, y), {'adj_x': adj_x, 'adj_y': adj_y})


def _batch_matmul_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, y = node.inputs
    match bool(node.attrs.get('adj_x')), bool(node.attrs.get('adj_y')):
        case False, False:
            gx, gy = _batch(grad, y, adj_y=True), _batch(x, grad, adj_x=True)
        case False, True:
            gx, gy = _batch(grad, y), _batch(grad, x, adj_x=True)
        case True, False:
            gx, gy = _batch(y, grad, adj_y=True), _batch(x, grad)
        case _:
            gx, gy = _batch(y, grad, True, True), _batch(grad, x, True, True)
    a, b = x.shape.sizes, y.shape.sizes
    if a is not None and a == b and None not in a[:-2]:
        return [gx, gy]
    return _to_batches(x, y, gx, gy)


def _to_batches(x: Tensor, y: Tensor, gx: Tensor, gy: Tensor) -> Sequence[Any]:
    """Sum gradients over broadcast batch axes; the two axes of the matrices stay."""
    shape_x, shape_y = sizes_of(x), sizes_of(y)
    axes = apply('BroadcastGradientArgs', (shape_x[:-2], shape_y[:-2]))
    return [apply('Reshape', (apply('Sum', (g, axis), {'keep_dims': False}), shape))
            for g, axis, shape in zip((gx, gy), axes, (shape_x, shape_y), strict=True)]


register(OpDef('BatchMatMulV2', _batch_matmul, _batch_matmul_types, _batch_matmul_gradient, kernel_attrs=('adj_x', 'adj_y')))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False,
           a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None, name: str | None = None) -> Tensor:
    """The product of two matrices, or of the matrices in the last two axes, with broadcasting of those before.

    Raises:
        ValueError: Both `transpose_` and `adjoint_` of one argument.
    """
    for transposed, adjoint, which in ((transpose_a, adjoint_a, 'a'), (transpose_b, adjoint_b, 'b')):
        if transposed and adjoint:
            raise ValueError(f'Only one of `transpose_{which}` and `adjoint_{which}` can be True. Received '
                             f'`transpose_{which}`=True, `adjoint_{which}`=True.')
    with scope(name, 'MatMul') as full:
        a, b = convert_together([a, b], names=('a', 'b'), op='MatMul')
        if a.dtype is not b.dtype:
            check_eager_types('MatMul', (a, b))
        if (a.shape.rank is None or a.shape.rank > 2) or (b.shape.rank is None or b.shape.rank > 2):
            a, adj_x = (conj(a), True) if transpose_a else (a, adjoint_a)
            b, adj_y = (conj(b), True) if transpose_b else (b, adjoint_b)
            return apply('BatchMatMulV2', (a, b), {'adj_x': adj_x, 'adj_y': adj_y}, full)
        a, transpose_a = (conj(a), True) if adjoint_a else (a, transpose_a)
        b, transpose_b = (conj(b), True) if adjoint_b else (b, transpose_b)
        return apply('MatMul', (a, b), {'transpose_a': transpose_a, 'transpose_b': transpose_b}, full)


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, name: str | None = None) -> Tensor:
    """The product of matrices and vectors."""
    with scope(name, 'MatVec'):
        column = apply('ExpandDims', (convert_to_tensor(b), constant(np.int32(-1))))
        return apply('Squeeze', (matmul(a, column, transpose_a, adjoint_a=adjoint_a),), {'squeeze_dims': [-1]})


def matrix_transpose(a: Any, name: str = 'matrix_transpose', conjugate: bool = False) -> Tensor:
    """Swap the last two axes.

    Raises:
        ValueError: The rank is below 2.
    """
    with scope(name, 'matrix_transpose') as full:
        a = convert_to_tensor(a)
        count = a.shape.rank
        if count is not None and count < 2:
            raise ValueError(f'Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: '
                             f'{a.shape}')
        order = _last_two_swapped(a) if count is None else constant(
            np.array([*range(count - 2), count - 1, count - 2], np.int32))
        return apply('Transpose', (conj(a) if conjugate else a, order), None, full)


def _last_two_swapped(a: Tensor) -> Tensor:
    count = apply('Rank', (a,))
    outer = apply('Range', (constant(np.int32(0)), count - 2, constant(np.int32(1))))
    return apply('ConcatV2', (outer, apply('Pack', (count - 1, count - 2), {'axis': 0, 'N': 2}), constant(np.int32(0))))


# ---------------------------------------------------------------- tensordot
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sum products over axes of `a` and `b`: the last and first `axes` of them, or two lists of axes.

    Raises:
        ValueError: The numbers of axes differ.
    """
    with scope(name, 'Tensordot') as full:
        if current_graph() is None:
            a, b = convert_to_tensor(a), convert_to_tensor(b)
        else:
            a, b = convert_together([a, b], names=('a', 'b'), op='Tensordot')
        if a.shape.rank is None or b.shape.rank is None or _is_computed(axes):
            return computed_axes.tensordot(a, b, axes, _product, full)
        axes_a, axes_b = _contracted(a.shape.rank, b.shape.rank, axes, a)
        if a.dtype is not b.dtype:
            check_eager_types('MatMul', (a, b))
        free_a = [i for i in range(a.shape.rank) if i not in axes_a]
        free_b = [i for i in range(b.shape.rank) if i not in axes_b]
        sizes_a, sizes_b = sizes_of(a), sizes_of(b)
        matrix_a = _as_matrix(a, sizes_a, free_a + axes_a, len(free_a))
        matrix_b = _as_matrix(b, sizes_b, axes_b + free_b, len(axes_b))
        shape = apply('ConcatV2', (_gather_sizes(sizes_a, free_a), _gather_sizes(sizes_b, free_b), constant(np.int32(0))))
        result = apply('Reshape', (_product(matrix_a, matrix_b), shape), None, full)
        static_shape = TensorShape([a.shape[i] for i in free_a] + [b.shape[i] for i in free_b])
        if not result.shape.is_fully_defined():
            result.set_shape(static_shape)
        return result


def _is_computed(axes: Any) -> bool:
    """Whether the axes are known at run time only."""
    if isinstance(axes, (list, tuple)):
        return any(map(_is_computed, axes))
    return isinstance(axes, Tensor) and constant_value(axes) is None


def _contracted(rank_a: int, rank_b: int, axes: Any, tensor_text: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f'`axes` must be at least 0. Received: {axes}.')
        if axes > rank_a:
            raise ValueError(f'`axes` must not be larger than the number of dimensions of tensor {tensor_text}.  '
                             f'Received {axes}, vs tensor dimensions {rank_a}.')
        return list(range(rank_a - axes, rank_a)), list(range(axes))
    if not isinstance(axes, (list, tuple)):
        axes = constant_value(convert_to_tensor(axes, dtypes.int32))
        return _contracted(rank_a, rank_b, int(axes) if not axes.ndim else axes.tolist(), tensor_text)
    if len(axes) != 2:
        raise ValueError(f'`axes` must be an integer or have length 2. Received {axes}.')
    axes_a, axes_b = (np.atleast_1d(np.asarray(part)).tolist() for part in axes)
    if len(axes_a) != len(axes_b):
        raise ValueError(f'Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}.')
    for places, rank in ((axes_a, rank_a), (axes_b, rank_b)):
        if any(not -rank <= place < rank for place in places):
            raise IndexError('list index out of range')
    return [i % rank_a for i in axes_a], [i % rank_b for i in axes_b]


def _gather_sizes(sizes: Tensor, axes: list[int]) -> Tensor:
    return apply('GatherV2', (sizes, constant(np.array(axes, np.int32)), constant(np.int32(0))), {'batch_dims': 0})


def _as_matrix(x: Tensor, sizes: Tensor, order: list[int], rows: int) -> Tensor:
    if order != sorted(order):
        x = apply('Transpose', (x, constant(np.array(order, np.int32))))
    lengths = [reduce_prod_of(sizes, part) for part in (order[:rows], order[rows:])]
    return apply('Reshape', (x, apply('Pack', lengths, {'axis': 0, 'N': 2})))


def reduce_prod_of(sizes: Tensor, axes: list[int]) -> Tensor:
    """The product of the sizes of these axes."""
    return apply('Prod', (_gather_sizes(sizes, axes), constant(np.int32(0))), {'keep_dims': False})


# ---------------------------------------------------------------- norms
register(OpDef('L2Loss', lambda t: (np.square(t).sum(dtype=t.dtype) / 2).astype(t.dtype),
               lambda inputs, attrs: [(_float('L2Loss', inputs[0]), SCALAR)], lambda node, grad: [node.inputs[0] * grad]))


def _float(op: str, x: TypedInput) -> Any:
    check_dtype(op, 't', x.dtype, FLOAT)
    return x.dtype


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of squares."""
    x = convert_to_tensor(t)
    check_eager_types('L2Loss', (x,))
    return apply('L2Loss', (x,), None, name)


def norm(tensor: Any, ord: Any = 'euclidean', axis: Any = None, keepdims: bool | None = None, name: str | None = None,
         keep_dims: bool | None = None) -> Tensor:
    """The norm of vectors (or, 'euclidean' or 'fro', of matrices) along `axis`; without it that of the whole tensor.

    Args:
        tensor: Of a float or complex dtype.
        ord: 'euclidean', 'fro', or for vectors 1, 2, inf or any positive number.
        axis: An axis, two axes for matrices, or None for all.
        keepdims: Keep the axes with size 1.
        name: Of the scope.
        keep_dims: `keepdims` in TensorFlow 1.

    Raises:
        ValueError: `ord` is none of these.
    """
    _check_norm(ord, axis)
    with scope(name, 'norm'):
        x = convert_to_tensor(tensor)
        if x.dtype is dtypes.string:
            raise TypeError(f'Expected numeric or variant tensor, got dtype {x.dtype!r}.')
        keep = bool(keepdims or keep_dims)
        if ord in ('euclidean', 'fro', 2):
            squares = reduce_sum(x * conj(x), axis, True)
            root = sqrt(squares)
            return root if keep else _without(root, axis)
        size = absolute(x)
        if ord == 1:
            return reduce_sum(size, axis, keep)
        if ord == np.inf:
            return reduce_max(size, axis, keep)
        return reduce_sum(size ** ord, axis, keep) ** (1.0 / ord)


def _check_norm(ord: Any, axis: Any) -> None:
    if isinstance(axis, (list, tuple)):
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord not in ('euclidean', 'fro', 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
        return
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if ord != 'euclidean' and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _without(x: Tensor, axis: Any) -> Tensor:
    axes = [] if axis is None else [int(a) for a in np.atleast_1d(np.asarray(axis))]
    return apply('Squeeze', (x,), {'squeeze_dims': axes})


