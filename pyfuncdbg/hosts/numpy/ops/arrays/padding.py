"""Padding a tensor with a constant or with its own mirror image."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor, get_static_value
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _check(x: Any, paddings: Any) -> None:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise invalid(f'paddings must be a matrix with 2 columns: [{",".join(map(str, paddings.shape))}]')
    if paddings.shape != (x.ndim, 2):
        sizes = (f'[{",".join(map(str, value.shape))}]' for value in (paddings, x))
        raise invalid(f'The first dimension of paddings must be the rank of inputs{" ".join(sizes)}')


def _pad(x: Any, paddings: Any, value: Any = 0) -> Any:
    _check(x, paddings)
    for before, after in paddings.tolist():
        if before < 0 or after < 0:
            raise invalid(f'Paddings must be non-negative: {before} {after}')
    return np.pad(x, paddings, constant_values=value) if x.ndim else x


def _pad_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, paddings = inputs[:2]
    sizes, amounts = x.shape.sizes, constant_value(paddings)
    if amounts is None or sizes is None:
        rows = paddings.shape.sizes
        return [(x.dtype, unknown(len(sizes) if sizes is not None else rows[0] if rows else None))]
    if amounts.shape != (len(sizes), 2):
        raise ValueError(f'Shape must be rank {amounts.shape[0]} but is rank {len(sizes)}')
    padded = [None if n is None else n + int(p.sum()) for n, p in zip(sizes, amounts, strict=True)]
    return [(x.dtype, TensorShape.of(tuple(padded)))]


def _pad_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, paddings = node.inputs[:2]
    before = apply('Unpack', (paddings,), {'num': 2, 'axis': 1})[0]
    shape = apply('Cast', (sizes_of(x),), {'DstT': paddings.dtype})
    inner = apply('Slice', (grad, before, shape))
    return [inner, None, *([reduce_sum(grad) - reduce_sum(inner)] if len(node.inputs) == 3 else [])]


register(OpDef('Pad', _pad, _pad_types, _pad_gradient))
register(OpDef('PadV2', _pad, _pad_types, _pad_gradient))


def _mirror_pad(x: Any, paddings: Any, mode: str = 'REFLECT') -> Any:
    _check(x, paddings)
    for (before, after), size in zip(paddings.tolist(), x.shape, strict=True):
        if before < 0 or after < 0:
            raise invalid(f'paddings must be non-negative: {before} {after}')
        if mode == 'REFLECT' and max(before, after) >= size:
            raise invalid(f'paddings must be less than the dimension size: {before}, {after} not less than {size}')
        if mode == 'SYMMETRIC' and max(before, after) > size:
            raise invalid(f'paddings must be no greater than the dimension size: {before}, {after} greater than {size}')
    return np.pad(x, paddings, mode=mode.lower())  # type: ignore[call-overload]


def _mirror_pad_grad(grad: Any, paddings: Any, mode: str = 'REFLECT') -> Any:
    """Sum, axis by axis, of the gradients of an element and its mirror images."""
    for axis, (before, after) in enumerate(paddings.tolist()):
        length = grad.shape[axis] - before - after
        source = np.pad(np.arange(length), (before, after), mode=mode.lower())  # type: ignore[call-overload]
        moved = np.moveaxis(grad, axis, 0)
        total = np.zeros((length, *moved.shape[1:]), grad.dtype)
        np.add.at(total, source, moved)
        grad = np.moveaxis(total, 0, axis)
    return grad


def _mirror_pad_grad_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x, paddings = inputs
    sizes, amounts = x.shape.sizes, constant_value(paddings)
    if sizes is None or amounts is None:
        return [(x.dtype, unknown(None if sizes is None else len(sizes)))]
    padded = [None if n is None else n - int(p.sum()) for n, p in zip(sizes, amounts, strict=True)]
    return [(x.dtype, TensorShape.of(tuple(padded)))]


register(OpDef('MirrorPad', _mirror_pad, _pad_types,
               lambda node, grad: [apply('MirrorPadGrad', (grad, node.inputs[1]), dict(node.attrs)), None],
               kernel_attrs=('mode',)))
register(OpDef('MirrorPadGrad', _mirror_pad_grad, _mirror_pad_grad_types,
               lambda node, grad: [apply('MirrorPad', (grad, node.inputs[1]), dict(node.attrs)), None],
               kernel_attrs=('mode',)))


def pad(tensor: Any, paddings: Any, mode: str = 'CONSTANT', constant_values: Any = 0, name: str | None = None) -> Tensor:
    """Put `paddings[i] = (before, after)` elements around axis i: a constant, or its mirror image.

    Args:
        tensor: Of any dtype.
        paddings: Integer (rank, 2).
        mode: 'CONSTANT', 'REFLECT' (without the edge) or 'SYMMETRIC' (with the edge).
        constant_values: Value of the padding in mode 'CONSTANT'.
        name: Of the node.

    Raises:
        ValueError: An unknown mode.
    """
    padded: Any = _padded(tensor, paddings, mode, constant_values, name)
    if not padded.shape.is_fully_defined() and isinstance(paddings, (list, tuple)):
        padded.set_shape(_of_list(tensor, paddings))
    return padded


def _of_list(tensor: Any, paddings: Any) -> TensorShape:
    """The static shape for a list of paddings with captured tensors in it."""
    amounts = [get_static_value(pair) for pair in paddings]
    sizes = convert_to_tensor(tensor).shape.sizes
    if sizes is None or len(sizes) != len(amounts) or any(pair is None or np.shape(pair) != (2,) or any(
            isinstance(n, Tensor) for n in pair) for pair in amounts):
        return UNKNOWN
    return TensorShape([None if n is None else n + int(sum(pair)) for n, pair in zip(sizes, amounts, strict=True)])


def _padded(tensor: Any, paddings: Any, mode: str, constant_values: Any, name: str | None) -> Tensor:
    kind = mode.upper()
    arguments = {'input': tensor, 'paddings': paddings}
    if kind in ('REFLECT', 'SYMMETRIC'):
        return call('MirrorPad', arguments, {'mode': kind}, name, paddings=dtypes.int32)
    if kind != 'CONSTANT':
        raise ValueError('Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". Received '
                         f'`mode` = {mode}')
    if not isinstance(constant_values, Tensor) and not np.any(constant_values):
        return call('Pad', arguments, None, name, paddings=dtypes.int32)
    value = constant_values
    if not isinstance(value, Tensor) and isinstance(tensor, Tensor):
        value = constant(value, tensor.dtype)
    return call('PadV2', {**arguments, 'constant_values': value}, None, name, paddings=dtypes.int32)
