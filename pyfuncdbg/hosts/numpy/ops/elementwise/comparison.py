"""Comparisons, logic, and selection between two tensors by a condition."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, as_shape
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    BOOL,
    REAL,
    Allowed,
    broadcast_rule,
    broadcast_shapes,
    check_dtype,
    check_same_dtype,
    invalid,
    permit,
    text,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import Binary, elementwise, maximum, minimum
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import scalar
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _comparison(name: str, op: str, kernel: Kernel, allowed: Allowed | None, infix: str | None = None) -> Binary:
    register(OpDef(op, kernel, broadcast_rule(op, allowed, dtype=dtypes.bool), no_gradient, infix=infix,
                   into=isinstance(kernel, np.ufunc)))
    permit(op, allowed)

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        return elementwise(op, x, y, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'TensorFlow\'s `{op}` of `x` and `y`, element by element, with broadcasting; bool.'
    return function


def _plain(ufunc: Kernel) -> Kernel:
    """`==` on object arrays (strings) gives an object array."""
    def kernel(x: Any, y: Any) -> Any:
        result = ufunc(x, y)
        return np.asarray(result, np.bool_)[()] if getattr(x, 'dtype', None) == np.object_ else result
    return kernel


less = _comparison('less', 'Less', np.less, REAL, '<')
less_equal = _comparison('less_equal', 'LessEqual', np.less_equal, REAL, '<=')
greater = _comparison('greater', 'Greater', np.greater, REAL, '>')
greater_equal = _comparison('greater_equal', 'GreaterEqual', np.greater_equal, REAL, '>=')
equal = _comparison('equal', 'Equal', _plain(np.equal), None)
not_equal = _comparison('not_equal', 'NotEqual', _plain(np.not_equal), None)
logical_and = _comparison('logical_and', 'LogicalAnd', np.logical_and, BOOL)
logical_or = _comparison('logical_or', 'LogicalOr', np.logical_or, BOOL)


def logical_xor(x: Any, y: Any, name: str = 'LogicalXor') -> Tensor:
    """True where one of `x` and `y` is True and the other is not."""
    with scope(name, 'LogicalXor') as full:
        x, y = convert_to_tensor(x, dtypes.bool), convert_to_tensor(y, dtypes.bool)
        return elementwise('LogicalAnd', logical_or(x, y), apply('LogicalNot', (logical_and(x, y),)), full)


# ---------------------------------------------------------------- choosing
def _select(condition: Any, x: Any, y: Any) -> Any:
    try:
        return scalar(np.where(condition, x, y))
    except ValueError:
        shapes = [text(as_shape(np.shape(v))) for v in (condition, x, y)]
        raise invalid('condition {}, then {}, and else {} must be broadcastable'.format(*shapes)) from None


def _select_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    condition, x, y = inputs
    check_dtype('SelectV2', 'condition', condition.dtype, BOOL)
    check_same_dtype('SelectV2', ('t', 'e'), (x, y))
    return [(x.dtype, broadcast_shapes(condition.shape, broadcast_shapes(x.shape, y.shape)))]


def _select_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    condition, x, y = node.inputs
    zeros = apply('ZerosLike', (grad,))
    return [None, _to_shape_of(x, node, apply('SelectV2', (condition, grad, zeros))),
            _to_shape_of(y, node, apply('SelectV2', (condition, zeros, grad)))]


def _to_shape_of(x: Tensor, node: Node, grad: Tensor) -> Tensor:
    """Sum a gradient over the axes along which `x` was broadcast."""
    output = node.outputs[0]
    if x.shape.is_fully_defined() and x.shape == output.shape:
        return grad
    axes, _ = apply('BroadcastGradientArgs', (sizes_of(x), sizes_of(output)))
    return apply('Reshape', (apply('Sum', (grad, axes), {'keep_dims': False}), sizes_of(x)))


register(OpDef('SelectV2', _select, _select_types, _select_gradient))


def _where_kernel(condition: Any) -> Any:
    return np.argwhere(condition)


def _where_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(dtypes.int64, TensorShape.of((None, inputs[0].shape.rank)))]


register(OpDef('Where', _where_kernel, _where_types))


@overridable
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of `x` where `condition` is True, else of `y`; without them the coordinates of True as (count, rank) int64.

    Raises:
        ValueError: Only one of `x` and `y` is given.
    """
    if (x is None) != (y is None):
        raise ValueError('x and y must both be non-None or both be None.')
    if x is None:
        return apply('Where', (convert_to_tensor(condition),), None, name)
    condition = convert_to_tensor(condition, dtypes.bool)
    with scope(name, 'SelectV2') as full:
        x, y = convert_together([x, y], names=('t', 'e'), op=name or 'SelectV2')
        return apply('SelectV2', (condition, x, y), None, full or name)


def where_v1(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`where` of TensorFlow 1: a condition of rank 1 selects rows; otherwise nothing is broadcast."""
    if x is None or y is None:
        return where(condition, x, y, name)
    condition = convert_to_tensor(condition, dtypes.bool)
    x, y = convert_together([x, y], names=('t', 'e'), op=name or 'Select')
    if condition.shape.rank == 1 and (x.shape.rank or 0) > 1:
        ones = [1] * ((x.shape.rank or 1) - 1)
        condition = apply('Reshape', (condition, convert_to_tensor([-1, *ones], dtypes.int32)))
    return apply('SelectV2', (condition, x, y), None, name or 'Select')


@overridable
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """Elements outside of [min, max] are replaced by the nearer bound."""
    with scope(name, 'clip_by_value') as full:
        t = convert_to_tensor(t)
        return maximum(minimum(t, clip_value_max), clip_value_min, full)
