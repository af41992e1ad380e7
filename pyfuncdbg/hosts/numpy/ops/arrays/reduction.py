"""Reductions: sums, products, extremes and logic over axes. The axes are an input of the op, as in TensorFlow."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.shapes import SCALAR, UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    BOOL,
    NUMBER,
    REAL,
    Allowed,
    check_dtype,
    check_eager_types,
    ints,
    invalid,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import conj
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

Rule = Callable[[Node, Tensor], Tensor]


def _axes(axes: Any, rank: int) -> tuple[int, ...]:
    """Axes as a tuple for NumPy.

    Raises:
        InvalidArgumentError: One is out of range or named twice.
    """
    numbers = axes.tolist()
    if type(numbers) is int:
        numbers = [numbers]
    if len(numbers) == 1 and 0 <= numbers[0] < rank:
        return tuple(numbers)
    for axis in numbers:
        if not -rank <= axis < rank:
            raise invalid(f'Invalid reduction dimension ({axis} for input with {rank} dimension(s)')
    normal = tuple([axis % rank for axis in numbers])
    if len(set(normal)) != len(normal):
        twice = next(a for a in normal if normal.count(a) > 1)
        raise invalid(f'Invalid reduction arguments: Axes contains duplicate dimension: {twice}')
    return normal


def _reducing(op: str, allowed: Allowed | None) -> Callable[[Sequence[TypedInput], Attrs], list[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        x, axes = inputs
        check_dtype(op, 'input', x.dtype, allowed)
        return [(x.dtype, _reduced(x.shape, axes, bool(attrs.get('keep_dims'))))]
    return infer


def _reduced(shape: TensorShape, axes: TypedInput, keep: bool) -> TensorShape:
    sizes = shape.sizes
    static_axes = ints(axes)
    if sizes is None:
        return UNKNOWN
    if static_axes is None:
        if axes.shape.sizes == (len(sizes),):           # as many axes as the rank: all of them
            return TensorShape.of((1,) * len(sizes)) if keep else SCALAR
        return unknown(len(sizes)) if keep else UNKNOWN
    for axis in static_axes:
        if not -len(sizes) <= axis < len(sizes):
            raise ValueError(f'Invalid reduction dimension {axis} for input with {len(sizes)} dimensions.')
    reduced_axes = {axis % len(sizes) for axis in static_axes}
    return TensorShape.of(tuple([1 if i in reduced_axes else n for i,
                                 n in enumerate(sizes) if keep or i not in reduced_axes]))


def _reduction(op: str, reduce: Kernel, allowed: Allowed | None, rule: Rule | None) -> None:
    """Define a reduction by `reduce(x, axes, keepdims)`."""
    def kernel(x: Any, axes: Any, keep_dims: bool = False) -> Any:
        return reduce(x, _axes(axes, x.ndim), keep_dims)

    def gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        assert rule is not None
        return [rule(node, grad), None]

    register(OpDef(op, kernel, _reducing(op, allowed), gradient if rule else no_gradient, kernel_attrs=('keep_dims',)))


# ---------------------------------------------------------------- kernels
_plus: Any = np.add
_times: Any = np.multiply


def _sum(x: Any, axes: Any, keep: bool) -> Any:
    return _plus.reduce(x, axes, x.dtype, None, keep) if x.ndim else x


def _mean(x: Any, axes: Any, keep: bool) -> Any:
    if not x.ndim:
        return x
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    kind = x.dtype.kind
    if kind in 'iu':                                    # truncated, and 0 for no elements, as in TensorFlow
        total = _plus.reduce(x, axes, x.dtype, None, keep)
        return (np.trunc(total / count) if count else np.zeros_like(total)).astype(x.dtype)
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    total = _plus.reduce(x, axes, wide, None, keep)
    return (total / total.dtype.type(count)).astype(x.dtype, copy=False)


def _extreme(ufunc: Any, lowest: bool) -> Kernel:
    def reduce(x: Any, axes: Any, keep: bool) -> Any:
        if not x.ndim:
            return x
        if x.size:
            return ufunc.reduce(x, axes, None, None, keep)
        kind, limits = x.dtype.kind, dtypes.as_dtype(x.dtype)
        start = (limits.min if lowest else limits.max) if kind in 'iu' else x.dtype.type(-np.inf if lowest else np.inf)
        return ufunc.reduce(x, axes, None, None, keep, start)
    return reduce


def _logic(ufunc: Any) -> Kernel:
    return lambda x, axes, keep: ufunc.reduce(x, axes, np.bool_, None, keep) if x.ndim else x


# ---------------------------------------------------------------- gradients
def kept_sizes(node: Node) -> Tensor:
    """The sizes of a reduction's output, had it kept the reduced axes with size 1."""
    x, axes = node.inputs
    sizes, static_axes = x.shape.sizes, ints(axes)
    if sizes is not None and None not in sizes and static_axes is not None:
        reduced_axes = {axis % len(sizes) for axis in static_axes}
        return vector([1 if i in reduced_axes else n for i, n in enumerate(sizes)])
    shape = sizes_of(x)
    axes = apply('Reshape', (cast(axes, dtypes.int32), vector([-1])))
    rank = apply('Size', (shape,), {'out_type': dtypes.int32})
    every = apply('Range', (constant(np.int32(0)), rank, constant(np.int32(1))))
    return apply('DynamicStitch', (every, (axes + rank) % rank, shape, apply('OnesLike', (axes,))))


def _spread(node: Node, grad: Tensor) -> Tensor:
    """Repeat a gradient along the axes that were summed."""
    x = node.inputs[0]
    if current_graph() is not None and x.shape.sizes is not None:
        axes = ints(node.inputs[1])
        if axes is not None:
            tiled = _tiled(x, {axis % len(x.shape.sizes) for axis in axes} if x.shape.sizes else set(), grad)
            if tiled is not None:
                return tiled
    if not node.attrs.get('keep_dims'):
        grad = apply('Reshape', (grad, kept_sizes(node)))
    return apply('BroadcastTo', (grad, sizes_of(x)))


def _tiled(x: Any, axes: set[int], grad: Any) -> Any:
    """Gradient of a sum over static axes, in the nodes that TensorFlow makes; None where it makes others."""
    sizes = x.shape.sizes
    if len(axes) < len(sizes) and None in sizes:
        return None
    kept_shape = [1 if i in axes else n for i, n in enumerate(sizes)]
    grad = call('Reshape', {'tensor': grad, 'shape': kept_shape}, shape=dtypes.int32)
    if len(axes) < len(sizes):
        return call('Tile', {'input': grad, 'multiples': [n if i in axes else 1 for i, n in enumerate(sizes)]})
    return apply('Tile', (grad, sizes_of(x)))


def _mean_rule(node: Node, grad: Tensor) -> Tensor:
    x, y = node.inputs[0], node.outputs[0]
    count_of_x, count_of_y = x.shape.num_elements(), y.shape.num_elements()
    spread = _spread(node, grad)
    if count_of_x is not None and count_of_y is not None:
        count: Any = constant(np.asarray(count_of_x // max(count_of_y, 1)).astype(x.dtype.array)[()])
    else:
        size_x, size_y = (apply('Size', (t,), {'out_type': dtypes.int32}) for t in (x, y))
        count = cast(size_x // apply('Maximum', (size_y, constant(np.int32(1)))), x.dtype)
    return spread / count


def _extreme_rule(node: Node, grad: Tensor) -> Tensor:
    """Elements that are equally extreme share the gradient."""
    x, axes = node.inputs
    sizes = kept_sizes(node)
    y, grad = apply('Reshape', (node.outputs[0], sizes)), apply('Reshape', (grad, sizes))
    is_extreme = cast(apply('Equal', (y, x)), grad.dtype)
    count = apply('Reshape', (apply('Sum', (is_extreme, axes), {'keep_dims': False}), sizes))
    return is_extreme / count * grad


def _prod_rule(node: Node, grad: Tensor) -> Tensor:
    """Product of the cumulative products before and after each element: correct for zeros, and differentiable."""
    x, axes = node.inputs
    shape = sizes_of(x)
    grad = apply('BroadcastTo', (apply('Reshape', (grad, kept_sizes(node))), shape))
    rank = apply('Size', (shape,), {'out_type': dtypes.int32})
    axes = (apply('Reshape', (cast(axes, dtypes.int32), vector([-1]))) + rank) % rank
    every = apply('Range', (constant(np.int32(0)), rank, constant(np.int32(1))))
    others = apply('ListDiff', (every, axes))[0]
    order = apply('ConcatV2', (axes, others, constant(np.int32(0))))
    moved = apply('Transpose', (x, order))
    flat = apply('Reshape', (moved, apply('ConcatV2', (_product(shape, axes), _product(shape, others),
                                                       constant(np.int32(0))))))
    zero = constant(np.int32(0))
    before = apply('Cumprod', (flat, zero), {'exclusive': True, 'reverse': False})
    after = apply('Cumprod', (flat, zero), {'exclusive': True, 'reverse': True})
    rest = apply('Reshape', (conj(before) * conj(after), apply('Shape', (moved,), {'out_type': dtypes.int32})))
    back = apply('Transpose', (rest, apply('InvertPermutation', (order,))))
    return apply('Reshape', (grad * back, shape))


def _product(shape: Tensor, axes: Tensor) -> Tensor:
    """The number of elements along some axes, as a vector of one."""
    factors = apply('GatherV2', (shape, axes, constant(np.int32(0))), {'batch_dims': 0})
    return apply('Prod', (factors, constant(np.int32(0))), {'keep_dims': True})


_reduction('Sum', _sum, NUMBER, _spread)
_reduction('Mean', _mean, NUMBER, _mean_rule)
_reduction('Prod', lambda x, axes, keep: _times.reduce(x, axes, x.dtype, None, keep) if x.ndim else x, NUMBER, _prod_rule)
_reduction('Max', _extreme(np.maximum, True), REAL, _extreme_rule)
_reduction('Min', _extreme(np.minimum, False), REAL, _extreme_rule)
_reduction('All', _logic(np.logical_and), BOOL, None)
_reduction('Any', _logic(np.logical_or), BOOL, None)


# ---------------------------------------------------------------- public functions
def reduce(op: str, x: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    """Apply a reduction; `axis` None means all axes."""
    x = convert_to_tensor(x, dtypes.bool if op in ('All', 'Any') else None)
    attrs = {'keep_dims': bool(keepdims)}
    if axis is None:
        rank = x.shape.rank
        axes = _all_axes(x) if rank is None else vector(range(rank))
        check_eager_types(op, (x, axes))
        result: Tensor = apply(op, (x, axes), attrs, name)
        if rank is None and not keepdims and isinstance(result, SymbolicTensor):
            result.set_shape(())
        return result
    return call(op, {'input': x, 'reduction_indices': axis}, attrs, name, reduction_indices=dtypes.int32)


def _all_axes(x: Tensor) -> Any:
    rank = apply('Rank', (x,))
    return call('Range', {'start': 0, 'limit': rank, 'delta': 1}, default='range')


def old_arguments(axis: Any, keepdims: Any, reduction_indices: Any, keep_dims: Any) -> tuple[Any, bool]:
    """(axis, keepdims) from the names of TensorFlow 2 and 1.

    Raises:
        ValueError: Both names of one argument.
    """
    for old, new, a, b in (('reduction_indices', 'axis', reduction_indices, axis),
                           ('keep_dims', 'keepdims', keep_dims, keepdims)):
        if a is not None and b:
            raise ValueError(f"Cannot specify both '{new}' and '{old}'.")
    return reduction_indices if axis is None else axis, bool(keep_dims or keepdims)


def _public(op: str) -> Callable[..., Tensor]:
    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None,
                 reduction_indices: Any = None, keep_dims: Any = None) -> Tensor:
        if reduction_indices is not None or keep_dims is not None:
            axis, keepdims = old_arguments(axis, keepdims, reduction_indices, keep_dims)
        return reduce(op, input_tensor, axis, keepdims, name)
    function.__name__ = function.__qualname__ = f'reduce_{op.lower()}'
    function.__doc__ = (f'TensorFlow\'s `{op}` over `axis` (an int, several, or None for all); `keepdims` leaves them with '
                        f'size 1. `reduction_indices` and `keep_dims` are the names in TensorFlow 1.')
    return overridable(function)


reduce_sum, reduce_mean, reduce_prod = _public('Sum'), _public('Mean'), _public('Prod')
reduce_max, reduce_min = _public('Max'), _public('Min')
reduce_all, reduce_any = _public('All'), _public('Any')


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None,
                     reduction_indices: Any = None, keep_dims: Any = None) -> Tensor:
    """`log(sum(exp(x)))` over `axis`, without overflow."""
    axis, keepdims = old_arguments(axis, keepdims, reduction_indices, keep_dims)
    with scope(name, 'ReduceLogSumExp') as full:
        x = convert_to_tensor(input_tensor)
        top = reduce_max(x, axis, True)
        finite = apply('SelectV2', (apply('IsFinite', (top,)), top, apply('ZerosLike', (top,))))
        shift = apply('StopGradient', (finite,))
        total = apply('Log', (reduce_sum(apply('Exp', (x - shift,)), axis, keepdims),))
        if not keepdims:
            shift = apply('Reshape', (shift, sizes_of(total)))
        return apply('AddV2', (total, shift), None, full)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean squared distance from the mean over `axis` (divided by N, not N - 1)."""
    with scope(name, 'reduce_variance'):
        x = convert_to_tensor(input_tensor)
        mean = reduce_mean(x, axis, True)
        if mean.dtype.is_integer:
            raise TypeError(f'Input must be either real or complex. Received integer type {mean.dtype}.')
        distance = x - mean
        squared = apply('Square', (apply('ComplexAbs', (distance,)) if x.dtype.is_complex else distance,))
        return reduce_mean(squared, axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of `reduce_variance`."""
    with scope(name, 'reduce_std'):
        return apply('Sqrt', (reduce_variance(input_tensor, axis, keepdims),))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of the sum of squares over `axis`."""
    x = convert_to_tensor(input_tensor)
    return apply('Sqrt', (reduce_sum(x * conj(x), axis, keepdims),), None, name)


def count_nonzero(input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = dtypes.int64,
                  name: str | None = None) -> Tensor:
    """The number of elements that are not 0 (strings: not empty) over `axis`."""
    with scope(name, 'count_nonzero'):
        x = convert_to_tensor(input)
        zero = constant(b'') if x.dtype == dtypes.string else apply('ZerosLike', (x,))
        return cast(reduce_sum(cast(apply('NotEqual', (x, zero)), dtypes.int64), axis, keepdims), dtype)
