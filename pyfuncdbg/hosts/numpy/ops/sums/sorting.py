"""Cumulative sums and products, top k, sorting, distinct elements."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import (
    Attrs,
    Kernel,
    Node,
    OpDef,
    Output,
    TypedInput,
    no_gradient,
    register,
)
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    NUMBER,
    REAL,
    at_least_rank,
    check_attr_type,
    check_dtype,
    check_eager_types,
    ints,
    invalid,
    same_rule,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import negative
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- cumulative sum and product
def _scan(ufunc: Any, start: int) -> Kernel:
    def kernel(x: Any, axis: Any, exclusive: bool = False, reverse: bool = False) -> Any:
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise invalid(f'ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {at}')
        if reverse:
            x = np.flip(x, at)
        result = ufunc.accumulate(x, at, x.dtype)
        if exclusive:
            result = np.roll(result, 1, at)
            first: list[Any] = [slice(None)] * x.ndim
            first[at] = slice(0, 1)
            result[tuple(first)] = start
        return np.flip(result, at) if reverse else result
    return kernel


def _cumsum_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    attrs = {**node.attrs, 'reverse': not node.attrs['reverse']}
    return [apply('Cumsum', (grad, node.inputs[1]), attrs), None]


def _cumprod_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    """By division, as in TensorFlow: NaN where an element is 0."""
    x, axis = node.inputs
    attrs = {**node.attrs, 'reverse': not node.attrs['reverse']}
    product = apply('Cumprod', (x, axis), dict(node.attrs))
    total = apply('Cumsum', (product * grad, axis), attrs)
    return [total / x, None]


register(OpDef('Cumsum', _scan(np.add, 0), same_rule('Cumsum', NUMBER), _cumsum_gradient,
               kernel_attrs=('exclusive', 'reverse')))
register(OpDef('Cumprod', _scan(np.multiply, 1), same_rule('Cumprod', NUMBER), _cumprod_gradient,
               kernel_attrs=('exclusive', 'reverse')))


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along `axis`; `exclusive` excludes the element itself, `reverse` starts at the end."""
    if isinstance(axis, float) and current_graph() is None:
        convert_to_tensor(axis, dtypes.int32)           # refuses it
    return call('Cumsum', {'x': x, 'axis': axis}, {'exclusive': exclusive, 'reverse': reverse}, name)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along `axis`."""
    return call('Cumprod', {'x': x, 'axis': axis}, {'exclusive': exclusive, 'reverse': reverse}, name)


# ---------------------------------------------------------------- argmax, argmin
def _arg(op: str, choose: Any, worst: float) -> None:
    def kernel(x: Any, dimension: Any, output_type: Any = dtypes.int64) -> Any:
        at = int(dimension)
        if not -x.ndim <= at < x.ndim:
            raise invalid(f'Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {at}')
        if not x.shape[at]:
            raise invalid(f'Reduction axis {at} is empty in shape [{",".join(map(str, x.shape))}]')
        if x.dtype.kind == 'f':
            x = np.where(np.isnan(x), x.dtype.type(worst), x)      # TensorFlow ignores NaNs
        return choose(x, at).astype(output_type.array)

    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        x, dimension = inputs
        check_dtype(op, 'input', x.dtype, (*NUMBER, dtypes.bool))
        sizes, at = x.shape.sizes, ints(dimension)
        if sizes is None or at is None:
            return [(attrs['output_type'], unknown(None if sizes is None else len(sizes) - 1))]
        if not -len(sizes) <= at[0] < len(sizes):
            raise ValueError(f'Dimension ({at[0]}) must be in the range [{-len(sizes)}, {len(sizes)}), where {len(sizes)} '
                             f'is the number of dimensions in the input.')
        place = at[0] % len(sizes)
        return [(attrs['output_type'], TensorShape.of(sizes[:place] + sizes[place + 1:]))]

    register(OpDef(op, kernel, infer, no_gradient, kernel_attrs=('output_type',)))


_arg('ArgMax', np.argmax, -np.inf)
_arg('ArgMin', np.argmin, np.inf)


def _axis(axis: Any) -> Any:
    if axis is None:
        return 0
    if isinstance(axis, (str, bytes, float)):
        raise TypeError('axis must be int or Tensor with integer datatype')
    return axis


def argmax(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None,
           dimension: Any = None) -> Tensor:
    """The index of the largest element along `axis` (0; TensorFlow 1: `dimension`), the first of several."""
    arguments = {'input': input, 'dimension': _axis(dimension if axis is None else axis)}
    check_attr_type('ArgMax', 'output_type', as_dtype(output_type))
    return call('ArgMax', arguments, {'output_type': as_dtype(output_type)}, name)


def argmin(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None,
           dimension: Any = None) -> Tensor:
    """The index of the smallest element along `axis` (0; TensorFlow 1: `dimension`), the first of several."""
    arguments = {'input': input, 'dimension': _axis(dimension if axis is None else axis)}
    check_attr_type('ArgMin', 'output_type', as_dtype(output_type))
    return call('ArgMin', arguments, {'output_type': as_dtype(output_type)}, name)


def argmax_v1(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
              output_type: Any = dtypes.int64) -> Tensor:
    """`argmax` with TensorFlow 1's arguments."""
    return argmax(input, dimension if axis is None else axis, output_type, name)


def argmin_v1(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
              output_type: Any = dtypes.int64) -> Tensor:
    """`argmin` with TensorFlow 1's arguments."""
    return argmin(input, dimension if axis is None else axis, output_type, name)


# ---------------------------------------------------------------- top_k and sort
class TopK(NamedTuple):
    """Result of `top_k`."""

    values: Any
    indices: Any


def _top_k(x: Any, k: Any, sorted: bool = True) -> tuple[Any, Any]:
    if not x.ndim:
        raise invalid('input must be >= 1-D, got shape []')
    length = x.shape[-1]
    if k < 0 or k > length:
        raise invalid(f'Need k >= 0, got {k}' if k < 0 else
                                   f'input must have at least k columns. Had {length}, needed {k}')
    # A stable ascending sort of the reversed row, read backwards: descending, equal elements in their order.
    order = (length - 1 - np.argsort(x[..., ::-1], -1, 'stable')[..., ::-1])[..., :int(k)]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def _top_k_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, k = inputs[0], ints(inputs[1])
    check_dtype('TopKV2', 'input', x.dtype, REAL)
    sizes = at_least_rank(x.shape, 1).sizes
    if sizes is None:
        return [(x.dtype, UNKNOWN), (dtypes.int32, UNKNOWN)]
    if k is not None and sizes[-1] is not None and sizes[-1] < k[0]:
        raise ValueError(f'input must have last dimension >= k = {k[0]} but is {sizes[-1]}')
    shape = TensorShape.of((*sizes[:-1], None if k is None else k[0]))
    return [(x.dtype, shape), (dtypes.int32, shape)]


def _top_k_gradient(node: Node, grad: Tensor, _: Any) -> Sequence[Any]:
    x = node.inputs[0]
    return [apply('GatherV2Grad', (sizes_of(x), node.outputs[1], constant(np.int32(-1)), grad), {'batch_dims': -1}), None]


register(OpDef('TopKV2', _top_k, _top_k_types, _top_k_gradient, outputs=2, kernel_attrs=('sorted',)))


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None) -> TopK:
    """The `k` largest elements of each row, in descending order, and their places."""
    values, indices = call('TopKV2', {'input': input, 'k': k}, {'sorted': sorted}, name)
    kind = as_dtype(index_type)
    return TopK(values, indices if kind == dtypes.int32 else apply('Cast', (indices,), {'DstT': kind}))


def _backwards(x: Tensor) -> Tensor:
    """Values in reverse order, without overflow; an involution."""
    if x.dtype.is_integer:
        return (x.dtype.max if x.dtype.is_unsigned else -1) - x
    return negative(x)


def _ordered(values: Any, axis: int, direction: str, which: int, name: str | None, default: str) -> Tensor:
    if direction not in ('ASCENDING', 'DESCENDING'):
        raise ValueError(f'Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}')
    with scope(name, default):
        x = convert_to_tensor(values)
        check_eager_types('Neg' if direction == 'ASCENDING' else 'TopKV2', (x,))
        rank = x.shape.rank
        if rank == 0:
            vector([])[int(axis)]                       # refuses it
        last = axis == -1 or (rank is not None and axis == rank - 1)
        order = None if last else constant(_swapped(axis, rank))
        if order is not None:
            x = apply('Transpose', (x, order))
        rising = direction == 'ASCENDING'
        length = sizes_of(x)[-1]
        result = top_k(_backwards(x) if rising else x, length)[which]
        if rising and which == 0:
            result = _backwards(result)
        return result if order is None else apply('Transpose', (result, order))


def _swapped(axis: int, rank: int | None) -> Any:
    """The permutation that swaps `axis` with the last one."""
    if rank is None:
        raise ValueError('Sorting along another axis than the last needs a tensor of known rank')
    if not -rank <= axis < rank:
        vector(range(rank))[axis]                      # refuses it
    order = np.arange(rank, dtype=np.int32)
    order[[axis, -1]] = order[[-1, axis]]
    return order


def sort(values: Any, axis: int = -1, direction: str = 'ASCENDING', name: str | None = None) -> Tensor:
    """The elements in order along `axis`; direction 'ASCENDING' or 'DESCENDING'."""
    return _ordered(values, axis, direction, 0, name, 'sort')


def argsort(values: Any, axis: int = -1, direction: str = 'ASCENDING', stable: bool = False,
            name: str | None = None) -> Tensor:
    """The int32 places of the elements in order along `axis`; equal ones stay in their order."""
    return _ordered(values, axis, direction, 1, name, 'argsort')


# ---------------------------------------------------------------- distinct elements
class Unique(NamedTuple):
    """Result of `unique`."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """Result of `unique_with_counts`."""

    y: Any
    idx: Any
    count: Any


def _unique(x: Any, out_idx: Any = dtypes.int32) -> tuple[Any, Any, Any]:
    if x.ndim != 1:
        raise invalid('unique expects a 1D vector.')
    values, first, inverse, count = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    order = np.argsort(first, kind='stable')              # in order of first appearance
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return values[order], place[inverse].astype(out_idx.array), count[order].astype(out_idx.array)


def _unique_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, kind = inputs[0], attrs['out_idx']
    if x.shape.rank not in (None, 1):
        raise ValueError(f'Shape must be rank 1 but is rank {x.shape.rank}')
    return [(x.dtype, unknown(1)), (kind, x.shape), (kind, unknown(1))]


register(OpDef('Unique', lambda x, out_idx=dtypes.int32: _unique(x, out_idx)[:2],
               lambda inputs, attrs: _unique_types(inputs, attrs)[:2], outputs=2, kernel_attrs=('out_idx',)))
register(OpDef('UniqueWithCounts', _unique, _unique_types, outputs=3, kernel_attrs=('out_idx',)))


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector in order of appearance, and for each element the index of its value among them."""
    check_attr_type('Unique', 'out_idx', as_dtype(out_idx))
    return Unique(*apply('Unique', (convert_to_tensor(x),), {'out_idx': as_dtype(out_idx)}, name))


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> UniqueWithCounts:
    """`unique`, and how often each value occurs."""
    check_attr_type('UniqueWithCounts', 'out_idx', as_dtype(out_idx))
    return UniqueWithCounts(*apply('UniqueWithCounts', (convert_to_tensor(x),), {'out_idx': as_dtype(out_idx)}, name))


def _list_diff(x: Any, y: Any, out_idx: Any = dtypes.int32) -> tuple[Any, Any]:
    keep = ~np.isin(x, y)
    return x[keep], np.flatnonzero(keep).astype(out_idx.array)


register(OpDef('ListDiff', _list_diff,
               lambda inputs, attrs: [(inputs[0].dtype, unknown(1)), (attrs.get('out_idx', dtypes.int32), unknown(1))],
               outputs=2, kernel_attrs=('out_idx',)))
