"""Shape ops: the shape as a tensor, and changes of shape or axis order that keep every element."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import SCALAR, UNKNOWN, TensorShape, as_shape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    as_static_shape,
    check_attr_type,
    int_attr,
    ints,
    invalid,
    merged,
    text,
)
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- shape, size, rank
def _shape_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(attrs['out_type'], TensorShape.of((inputs[0].shape.rank,)))]


register(OpDef('Shape', lambda x, out_type=dtypes.int32: np.array(x.shape, out_type.array), _shape_types, no_gradient,
               kernel_attrs=('out_type',)))
register(OpDef('Size', lambda x, out_type=dtypes.int32: out_type.as_numpy_dtype(x.size),
               lambda inputs, attrs: [(attrs['out_type'], SCALAR)], no_gradient, kernel_attrs=('out_type',)))
register(OpDef('Rank', lambda x: np.int32(x.ndim), lambda inputs, attrs: [(dtypes.int32, SCALAR)], no_gradient))


@overridable
def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The shape as a rank 1 integer tensor; a constant where it is known before the run."""
    x, kind = convert_to_tensor(input), as_dtype(out_type)
    if x.shape.is_fully_defined():
        return constant(np.array(x.shape.as_list(), kind.array), name=name or 'Shape')
    return apply('Shape', (x,), {'out_type': kind}, name)


@overridable
def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of elements."""
    x, kind = convert_to_tensor(input), as_dtype(out_type)
    count = x.shape.num_elements()
    if count is not None:
        return constant(kind.as_numpy_dtype(count), name=name or 'Size')
    return apply('Size', (x,), {'out_type': kind}, name)


@overridable
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes, int32."""
    x = convert_to_tensor(input)
    if x.shape.rank is not None:
        return constant(np.int32(x.shape.rank), name=name or 'Rank')
    return apply('Rank', (x,), None, name)


# ---------------------------------------------------------------- reshape
def _reshape(x: Any, shape: Any) -> Any:
    sizes = shape.tolist()
    try:
        return x.reshape(sizes) if sizes or x.dtype.hasobject else x.reshape(())[()]
    except ValueError:
        raise invalid(_reshape_fault(x.size, sizes)) from None


def _reshape_fault(count: int, sizes: list[int]) -> str:
    free = [i for i, n in enumerate(sizes) if n == -1]
    if len(free) > 1:
        return f'Only one input size may be -1, not both {free[0]} and {free[1]}'
    negative = next((i for i, n in enumerate(sizes) if n < -1), None)
    if negative is not None:
        return f'Size {negative} must be non-negative, not {sizes[negative]}'
    product = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
    asks = f'requires a multiple of {product}' if free else f'has {product}'
    return f'Input to reshape is a tensor with {count} values, but the requested shape {asks}'


def _reshape_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x = inputs[0]
    target = as_static_shape(inputs[1], captures=True)
    if target.sizes is None or (target.is_fully_defined() and x.shape.num_elements() == target.num_elements()):
        return [(x.dtype, target)]
    static_sizes = ints(inputs[1])
    count = x.shape.num_elements()
    if static_sizes is not None and static_sizes.count(-1) > 1:
        raise ValueError(f'Only one input size may be -1, not both {static_sizes.index(-1)} and '
                         f'{static_sizes.index(-1, static_sizes.index(-1) + 1)}')
    if count is not None and target.is_fully_defined():
        raise ValueError(f'Cannot reshape a tensor with {count} elements to shape {text(target)} '
                         f'({target.num_elements()} elements)')
    fixed = int(np.prod([n for n in x.shape.sizes or () if n is not None], dtype=np.int64))
    if target.is_fully_defined() and fixed and (target.num_elements() or 0) % fixed:
        raise ValueError(f'Dimension size must be evenly divisible by {fixed} but is {target.num_elements()}')
    if count is not None and static_sizes is not None and -1 in static_sizes:
        rest = int(np.prod([n for n in static_sizes if n != -1], dtype=np.int64))
        if rest and count % rest:
            raise ValueError(f'Dimension size must be evenly divisible by {rest} but is {count}')
        if rest:
            target = TensorShape.of(tuple([count // rest if n == -1 else n for n in static_sizes]))
    return [(x.dtype, target)]


def _to_input_shape(node: Node, grad: Tensor) -> list[Tensor | None]:
    """The gradient of ops that only change the shape."""
    back = apply('Reshape', (grad, sizes_of(node.inputs[0])))
    return [back, *[None] * (len(node.inputs) - 1)]


register(OpDef('Reshape', _reshape, _reshape_types, _to_input_shape, free=True))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements, in row-major order, in another shape; one size may be -1."""
    return call('Reshape', {'tensor': tensor, 'shape': shape}, None, name, shape=dtypes.int32)


# ---------------------------------------------------------------- expand_dims, squeeze
def _expand_dims(x: Any, axis: Any) -> Any:
    at, rank = int(axis.reshape(-1)[0] if axis.ndim else axis), x.ndim
    if not -rank - 1 <= at <= rank:
        raise invalid(f'Tried to expand dim index {at} for tensor with {rank} dimensions.')
    sizes = x.shape
    place = at if at >= 0 else at + rank + 1
    return x.reshape((*sizes[:place], 1, *sizes[place:]))


def _expand_dims_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, axis = inputs
    sizes, at = x.shape.sizes, ints(axis)
    if sizes is None:
        return [(x.dtype, UNKNOWN)]
    if at is None:
        return [(x.dtype, UNKNOWN)]
    if not -len(sizes) - 1 <= at[0] <= len(sizes):
        raise ValueError(f'dim {at[0]} not in the interval [{-len(sizes) - 1}, {len(sizes)}].')
    place = at[0] % (len(sizes) + 1)
    return [(x.dtype, TensorShape.of((*sizes[:place], 1, *sizes[place:])))]


register(OpDef('ExpandDims', _expand_dims, _expand_dims_types, _to_input_shape, free=True))


@overridable
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Insert an axis of size 1 before `axis` (TensorFlow 1: `dim`).

    Raises:
        ValueError: No axis is given.
    """
    axis = dim if axis is None else axis
    if axis is None:
        convert_to_tensor(axis)                         # refuses it
    return call('ExpandDims', {'input': input, 'dim': axis}, None, name)


def _squeeze(x: Any, squeeze_dims: Sequence[int] = ()) -> Any:
    for axis in squeeze_dims:
        if not -x.ndim <= axis < x.ndim:
            raise invalid(f'Tried to squeeze dim index {axis} for tensor with {x.ndim} dimensions.')
        if x.shape[axis] != 1:
            raise invalid(f'Can not squeeze dim[{axis % x.ndim}], expected a dimension of 1, got {x.shape[axis]}')
    result = np.squeeze(x, tuple(squeeze_dims) or None)
    return result if result.ndim or result.dtype.hasobject else result[()]


def _squeeze_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, axes = inputs[0], attrs.get('squeeze_dims') or ()
    sizes = x.shape.sizes
    if sizes is None or (not axes and None in sizes):
        return [(x.dtype, UNKNOWN)]
    removed_axes = set()
    for axis in axes:
        if not -len(sizes) <= axis < len(sizes):
            raise ValueError(f'squeeze_dims[{axis}] not in [{-len(sizes)},{len(sizes)}).')
        if sizes[axis] not in (1, None):
            raise ValueError(f'Can not squeeze dim[{axis % len(sizes)}], expected a dimension of 1, got {sizes[axis]}')
        removed_axes.add(axis % len(sizes))
    return [(x.dtype,
             TensorShape.of(tuple([n for i, n in enumerate(sizes) if (i not in removed_axes if axes else n != 1)])))]


register(OpDef('Squeeze', _squeeze, _squeeze_types, _to_input_shape, kernel_attrs=('squeeze_dims',), free=True))


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Remove axes of size 1: all, or the ones named by `axis` (an int or several; TensorFlow 1: `squeeze_dims`)."""
    axis = squeeze_dims if axis is None else axis
    axes = [] if axis is None else [int_attr(a, 'axis') for a in (axis if isinstance(axis, (list, tuple)) else
                                                                  np.atleast_1d(axis) if not isinstance(axis, str) else
                                                                  [axis])]
    return apply('Squeeze', (convert_to_tensor(input),), {'squeeze_dims': axes}, name)


# ---------------------------------------------------------------- transpose
def _transpose(x: Any, perm: Any) -> Any:
    order = perm.tolist()
    if len(order) != x.ndim:
        raise invalid(f'transpose expects a vector of size {x.ndim}. But input(1) is a vector of size {len(order)}')
    for axis in range(x.ndim):
        if axis not in order and axis - x.ndim not in order:
            outside = [at for at in order if not -x.ndim <= at < x.ndim]
            if outside:
                raise invalid(f'{outside[0]} is out of range [0 .. {x.ndim})')
            raise invalid(f'{axis} is missing from {{{",".join(map(str, order))}}}.')
    return np.transpose(x, order) if order else x


def _transpose_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, perm = inputs
    order, sizes = ints(perm), x.shape.sizes
    if order is None:
        length = perm.shape.sizes
        return [(x.dtype, unknown(len(sizes) if sizes is not None else length[0] if length else None))]
    if sizes is None:
        return [(x.dtype, unknown(len(order)))]
    if len(order) != len(sizes):
        raise ValueError(f'Dimension must be {len(sizes)} but is {len(order)}')
    for axis in order:
        if not -len(sizes) <= axis < len(sizes):
            raise ValueError(f'perm dim {axis} is out of range of input rank {len(sizes)}')
    return [(x.dtype, TensorShape.of(tuple([sizes[axis] for axis in order])))]


def _transpose_gradient(node: Node, grad: Tensor) -> list[Tensor | None]:
    return [apply('Transpose', (grad, apply('InvertPermutation', (node.inputs[1],)))), None]


def _invert_permutation(order: Any) -> Any:
    outside = order[(order < 0) | (order >= len(order))]
    if outside.size:
        raise invalid(f'{outside[0]} is not between 0 and {len(order)}')
    places: set[int] = set()
    for place in order.tolist() if len(set(order.tolist())) < len(order) else ():
        if place in places:
            raise invalid(f'{place} is duplicated in the input.')
        places.add(place)
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order), dtype=order.dtype)
    return inverse


register(OpDef('Transpose', _transpose, _transpose_types, _transpose_gradient, free=True))
register(OpDef('InvertPermutation', _invert_permutation, lambda inputs, attrs: [(inputs[0].dtype, inputs[0].shape)],
               no_gradient))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Tensor:
    """Reorder the axes: axis i of the result is axis `perm[i]` of `a`; reversed without `perm`."""
    with scope(name, 'transpose') as full:
        a = convert_to_tensor(a, name='a')
        if perm is None:
            if a.shape.rank is not None:
                perm = constant(np.arange(a.shape.rank, dtype=np.int32)[::-1], name='perm')
            else:
                count = apply('Rank', (a,))
                perm = call('Range', {'start': count - 1, 'limit': -1, 'delta': -1}, default='Range')
        elif not isinstance(perm, Tensor):
            perm = convert_to_tensor(perm, dtype_hint=dtypes.int32, name='perm')
            check_attr_type('Transpose', 'Tperm', perm.dtype)
        if conjugate and a.dtype.is_complex:
            return apply('Conj', (apply('Transpose', (a, perm)),), None, full)
        return apply('Transpose', (a, perm), None, full or 'transpose')


def transpose_v1(a: Any, perm: Any = None, name: str = 'transpose', conjugate: bool = False) -> Tensor:
    """`transpose` with TensorFlow 1's order of arguments."""
    return transpose(a, perm, conjugate, name)


# ---------------------------------------------------------------- passing on
def _same(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(inputs[0].dtype, inputs[0].shape)]


def _identity_n_gradient(node: Node, *grads: Any) -> Sequence[Any]:
    """The gradient of `custom_gradient` where the node represents one."""
    rule = node.attrs.get('_py_gradient')
    return list(grads) if rule is None else rule(node, *grads)


def _refuse_gradient(node: Node, *grads: Any) -> Sequence[Any]:
    message = node.attrs.get('message', b'')
    reason = message if isinstance(message, bytes) else str(message).encode()
    raise LookupError(f'Gradient explicitly disabled. Reason: {reason!r}')


register(OpDef('Identity', lambda x: x, _same, lambda node, grad: [grad], free=True, slices=True))
register(OpDef('StopGradient', lambda x: x, _same, no_gradient, free=True))
register(OpDef('PreventGradient', lambda x: x, _same, _refuse_gradient, free=True))
register(OpDef('IdentityN', lambda *values: values, lambda inputs, attrs: [(x.dtype, x.shape) for x in inputs],
               _identity_n_gradient, outputs=-1, free=True))


@overridable
def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor of the same value that is a step of its own."""
    return apply('Identity', (convert_to_tensor(input),), None, name)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """`identity` of several tensors in one step."""
    return apply('IdentityN', [convert_to_tensor(x) for x in input], None, name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The value of `input`, as a constant to differentiation."""
    return apply('StopGradient', (convert_to_tensor(input),), None, name)


def _ensure_shape(x: Any, shape: TensorShape) -> Any:
    if not shape.is_compatible_with(x.shape):
        raise invalid(f'Shape of tensor input {text(as_shape(x.shape))} is not compatible with '
                                               f'expected shape {text(shape)}.')
    return x


register(OpDef('EnsureShape', _ensure_shape, lambda inputs, attrs: [(inputs[0].dtype,
                                                                     merged(attrs['shape'], inputs[0].shape))],
               lambda node, grad: [grad], kernel_attrs=('shape',), free=True))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, checked at run time to have this shape (None fits any size), which becomes its static shape."""
    return apply('EnsureShape', (convert_to_tensor(x),), {'shape': as_shape(shape)}, name)
