"""Broadcasting: `tf.broadcast_to`, and its reverse for gradients of elementwise ops."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape, broadcast, unknown
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, check_attr_type, invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


def vector(values: Sequence[int]) -> Tensor:
    """A constant int32 vector: axes or sizes."""
    array = np.array(values, np.int32)
    return EagerTensor(array) if current_graph() is None else constant(array)


def sizes_of(x: Tensor) -> Tensor:
    """The shape of `x` as an int32 tensor: a constant where it is static, else a node."""
    sizes = x.shape.sizes
    if sizes is not None and None not in sizes:
        return vector(sizes)  # type: ignore[arg-type]
    return apply('Shape', (x,), {'out_type': dtypes.int32})


def unbroadcast(x: Tensor, y: Tensor, gx: Tensor | None, gy: Tensor | None) -> list[Tensor | None]:
    """Sum the gradients over the axes along which `x` or `y` was repeated.

    Args:
        x, y: The inputs of an elementwise op.
        gx, gy: Gradients with respect to each, of the broadcast shape; None stays None.
    """
    if gx is None and gy is None:
        return [None, None]
    a, b = x.shape, y.shape
    if a.is_fully_defined() and b.is_fully_defined():
        if a.sizes == b.sizes:
            return [gx, gy]
        common = broadcast(a, b)
        return [None if gx is None else _sum_to(gx, common, a), None if gy is None else _sum_to(gy, common, b)]
    shape_x, shape_y = sizes_of(x), sizes_of(y)
    axes_x, axes_y = apply('BroadcastGradientArgs', (shape_x, shape_y))
    return [None if g is None else apply('Reshape', (apply('Sum', (g, axes), {'keep_dims': False}), shape))
            for g, axes, shape in ((gx, axes_x, shape_x), (gy, axes_y, shape_y))]


def _sum_to(grad: Tensor, from_shape: TensorShape, to_shape: TensorShape) -> Tensor:
    if from_shape.sizes == to_shape.sizes:
        return grad
    assert from_shape.sizes is not None and to_shape.sizes is not None
    added = len(from_shape.sizes) - len(to_shape.sizes)
    axes = [*range(added), *(added + i for i, n in enumerate(to_shape.sizes) if n == 1 and from_shape.sizes[added + i] != 1)]
    summed = apply('Sum', (grad, vector(axes)), {'keep_dims': False})
    return summed if len(axes) == added else apply('Reshape', (summed, vector(to_shape.as_list())))  # type: ignore[arg-type]


def _broadcast_gradient_args(a: Any, b: Any) -> tuple[Any, Any]:
    m, n = a.tolist(), b.tolist()
    rank = max(len(m), len(n))
    m, n = [1] * (rank - len(m)) + m, [1] * (rank - len(n)) + n
    # An axis of size 1 in both could be in either list; TensorFlow puts it in both.
    of_a, of_b = ([i for i in range(rank) if sizes[i] == 1] for sizes in (m, n))
    return np.array(of_a, a.dtype), np.array(of_b, a.dtype)


def _two_vectors(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(inputs[0].dtype, unknown(1)), (inputs[0].dtype, unknown(1))]


register(OpDef('BroadcastGradientArgs', _broadcast_gradient_args, _two_vectors, no_gradient, outputs=2))


_SMALL = 1024
"""Number of elements up to which a copy is faster than a view: 0.7 against 3 µs."""


def _broadcast_to(x: Any, shape: Any) -> Any:
    sizes = shape.tolist()
    try:
        if 0 < math.prod(sizes) <= _SMALL and x.ndim <= len(sizes) and not x.dtype.hasobject:
            small = np.empty(sizes, x.dtype)
            small[...] = x
            return small if sizes else small[()]
        wide = np.broadcast_to(x, sizes)
        return wide if wide.ndim or wide.dtype.hasobject else wide[()]
    except ValueError:
        if x.ndim > len(sizes):
            raise invalid(f'Rank of input ({x.ndim}) must be no greater than rank of output shape ({len(sizes)}).') from None
        raise invalid('Incompatible shapes: [{}] vs. [{}]'.format(
            ','.join(map(str, np.shape(x))), ','.join(map(str, shape)))) from None


def _broadcast_to_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(inputs[0].dtype, as_static_shape(inputs[1]))]


def _broadcast_to_gradient(node: Node, grad: Tensor) -> list[Tensor | None]:
    x = node.inputs[0]
    broadcast_shape = node.outputs[0].shape
    if x.shape.is_fully_defined() and broadcast_shape.is_fully_defined():
        return [_sum_to(grad, broadcast_shape, x.shape), None]
    axes, _ = apply('BroadcastGradientArgs', (sizes_of(x), apply('Cast', (node.inputs[1],), {'DstT': dtypes.int32})))
    return [apply('Reshape', (apply('Sum', (grad, axes), {'keep_dims': False}), sizes_of(x))), None]


register(OpDef('BroadcastTo', _broadcast_to, _broadcast_to_types, _broadcast_to_gradient, free=True))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Repeat `input` along its axes of size 1, and new ones in front, to have this shape."""
    sizes = convert_to_tensor(shape, dtype_hint=dtypes.int32)
    check_attr_type('BroadcastTo', 'Tidx', sizes.dtype)
    return apply('BroadcastTo', (convert_to_tensor(input), sizes), None, name)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The static shape of an elementwise op on tensors of two static shapes; ValueError if there is none."""
    return broadcast(as_shape(shape_x), as_shape(shape_y))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The same of two shapes that are vectors."""
    x = convert_to_tensor(shape_x, dtype_hint=dtypes.int32)
    return apply('BroadcastArgs', (x, convert_to_tensor(shape_y, dtype_hint=x.dtype)))


def _broadcast_args(x: Any, y: Any) -> Any:
    try:
        return np.array(np.broadcast_shapes(tuple(x), tuple(y)), x.dtype)
    except ValueError:
        raise invalid(f'Incompatible shapes: [{",".join(map(str, x))}] vs. [{",".join(map(str, y))}]') from None


def _broadcast_args_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    sizes = [t.shape[0] if t.shape.rank == 1 else None for t in inputs]
    rank = None if None in sizes else max(sizes)  # type: ignore[type-var]
    return [(inputs[0].dtype, TensorShape([rank]))]


register(OpDef('BroadcastArgs', _broadcast_args, _broadcast_args_types))
