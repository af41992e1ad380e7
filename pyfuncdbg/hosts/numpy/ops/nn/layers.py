"""Building blocks of neural networks: softmax, bias, moments, normalization, dropout."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.arrays import computed_axes
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_mean, reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FLOAT,
    at_least_rank,
    check_eager,
    check_eager_types,
    check_same_dtype,
    invalid,
    permit,
    same_rule,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import exp
from pyfuncdbg.hosts.numpy.ops.random.random import random_uniform
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_plus: Any = np.add
_largest: Any = np.maximum


# ---------------------------------------------------------------- softmax
_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
permit('Softmax', _FLOATS)
permit('LogSoftmax', _FLOATS)


def _shifted(logits: Any) -> Any:
    if not logits.ndim:
        raise invalid('logits must have >= 1 dimension, got []')
    if not logits.size:
        return logits
    return logits - _largest.reduce(logits, -1, None, None, True)


def _softmax(logits: Any) -> Any:
    powers = np.exp(_shifted(logits))
    return powers / _plus.reduce(powers, -1, logits.dtype, None, True)


def log_probabilities(logits: Any) -> Any:
    """The kernel of `log_softmax`."""
    shifted = _shifted(logits)
    return shifted - np.log(_plus.reduce(np.exp(shifted), -1, logits.dtype, None, True))


def _softmax_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    y = node.outputs[0]
    return [(grad - reduce_sum(grad * y, -1, True)) * y]


def _log_softmax_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    return [grad - reduce_sum(grad, -1, True) * exp(node.outputs[0])]


register(OpDef('Softmax', _softmax, same_rule('Softmax', FLOAT, 'logits'), _softmax_gradient))
register(OpDef('LogSoftmax', log_probabilities, same_rule('LogSoftmax', FLOAT, 'logits'), _log_softmax_gradient))


def _along(op: str, logits: Any, axis: Any, name: str | None) -> Tensor:
    """Apply an op of the last axis along another one."""
    x = convert_to_tensor(logits)
    check_eager(op, x)
    count = x.shape.rank
    if axis == -1 or (count is not None and axis == count - 1):
        return apply(op, (x,), None, name)
    if isinstance(axis, Tensor):
        static_axis = constant_value(axis)
        if static_axis is None:
            return computed_axes.along(op, x, axis, name)
        if static_axis.ndim:
            raise ValueError(f'Shape must be rank 0 but is rank {static_axis.ndim}')
        axis = int(static_axis)
    if count is None or not -count <= axis < count:
        raise invalid(f'`dim` must be in the range [{-(count or 0)}, {count or 0}) where {count} is the number of '
                      f'dimensions in the input. Received: dim={axis}')
    order = np.arange(count, dtype=np.int32)
    order[[axis, -1]] = order[[-1, axis]]
    with scope(name, op):
        swap = constant(order)
        return apply('Transpose', (apply(op, (apply('Transpose', (x, swap)),)), swap))


def softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `axis` (the last; TensorFlow 1: `dim`)."""
    return _along('Softmax', logits, axis if axis is not None else -1 if dim is None else dim, name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """The logarithm of `softmax`, without underflow."""
    return _along('LogSoftmax', logits, axis if axis is not None else -1 if dim is None else dim, name)


# ---------------------------------------------------------------- bias
def _channel_axis(attrs: Attrs) -> int:
    return 1 if attrs.get('data_format') == 'NCHW' else -1


def _bias_add(value: Any, bias: Any, data_format: str = 'NHWC') -> Any:
    axis = 1 if data_format == 'NCHW' else -1
    if value.ndim < 2:
        raise invalid(f'Input tensor must be at least 2D: [{",".join(map(str, value.shape))}]')
    if bias.ndim != 1:
        raise invalid(f'Biases must be 1D: [{",".join(map(str, bias.shape))}]')
    if bias.ndim != 1 or value.ndim < 2 or value.shape[axis] != bias.shape[0]:
        raise invalid('Must provide as many biases as the last dimension of the input tensor: '
                                   f'[{",".join(map(str, bias.shape))}] vs. [{",".join(map(str, value.shape))}]')
    return value + (bias if axis == -1 else bias.reshape([-1] + [1] * (value.ndim - 2)))


def _bias_add_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    value, bias = inputs
    check_same_dtype('BiasAdd', ('value', 'bias'), inputs)
    shape = at_least_rank(value.shape, 2)
    length = with_rank(bias.shape, 1)[0]
    if shape.sizes is None:
        return [(value.dtype, shape)]
    sizes, axis = list(shape.sizes), _channel_axis(attrs)
    if length is not None and sizes[axis] is not None and sizes[axis] != length:
        raise ValueError(f'Dimensions must be equal, but are {sizes[axis]} and {length}')
    sizes[axis] = length if sizes[axis] is None else sizes[axis]
    return [(value.dtype, TensorShape.of(tuple(sizes)))]


def _bias_add_grad(grad: Any, data_format: str = 'NHWC') -> Any:
    axis = 1 if data_format == 'NCHW' else grad.ndim - 1
    return _plus.reduce(grad, tuple(i for i in range(grad.ndim) if i != axis), grad.dtype)


def _bias_add_grad_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    value = node.inputs[0]
    if _channel_axis(node.attrs) == 1:
        ones = apply('OnesLike', (sizes_of(value)[2:],))
        grad = apply('Reshape', (grad, apply('ConcatV2', (vector([-1]), ones, constant(np.int32(0))))))
    return [apply('BroadcastTo', (grad, sizes_of(value)))]


register(OpDef('BiasAdd', _bias_add, _bias_add_types,
               lambda node, grad: [grad, apply('BiasAddGrad', (grad,), dict(node.attrs))], kernel_attrs=('data_format',)))
register(OpDef('BiasAddGrad', _bias_add_grad,
               lambda inputs, attrs: [(inputs[0].dtype, unknown(1) if not inputs[0].shape.sizes else
                                       TensorShape.of((inputs[0].shape.sizes[_channel_axis(attrs)],)))],
               _bias_add_grad_gradient, kernel_attrs=('data_format',)))


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Add a vector to the last axis (`data_format` 'NCHW': to axis 1).

    Raises:
        ValueError: Another data format.
    """
    if data_format is not None and data_format not in ('NHWC', 'NCHW', 'N...C', 'NC...'):
        raise ValueError(f'`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}')
    form = 'NCHW' if data_format and data_format.startswith('NC') else 'NHWC'
    value, bias = convert_together([value, bias], names=('value', 'bias'), op='BiasAdd')
    check_eager_types('BiasAdd', (value, bias))
    return apply('BiasAdd', (value, bias), {'data_format': form}, name)


# ---------------------------------------------------------------- moments, normalization
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`."""
    with scope(name, 'moments'):
        x = convert_to_tensor(x)
        mean = reduce_mean(x, axes, True, 'mean')
        difference = apply('SquaredDifference', (x, apply('StopGradient', (mean,))))
        variance = reduce_mean(difference, axes, True, 'variance')
        if keepdims:
            return mean, variance
        squeezed = {'squeeze_dims': [] if axes is None else [int(a) for a in np.atleast_1d(axes)]}
        return apply('Squeeze', (mean,), squeezed), apply('Squeeze', (variance,), squeezed)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """`x` divided by its Euclidean norm along `axis`."""
    with scope(name, 'l2_normalize') as full:
        x = convert_to_tensor(x)
        check_eager_types('Square', (x,))
        squares = reduce_sum(apply('Square', (x,)), axis, True)
        inverse = apply('Rsqrt', (apply('Maximum', (squares, convert_to_tensor(epsilon, squares.dtype))),))
        return apply('Mul', (x, inverse), None, full)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The share of elements that are 0, float32."""
    with scope(name, 'zero_fraction'):
        value = convert_to_tensor(value)
        return reduce_mean(cast(apply('Equal', (value, apply('ZerosLike', (value,)))), dtypes.float32))


# ---------------------------------------------------------------- dropout
@overridable
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """Set elements to 0 with probability `rate` and scale the others by `1 / (1 - rate)`.

    Args:
        x: Of a float dtype.
        rate: In [0, 1).
        noise_shape: Shape of the mask, which is broadcast to that of `x`.
        seed: Makes the mask repeatable.
        name: Of the scope.

    Raises:
        ValueError: A rate out of range, or an integer tensor.
    """
    with scope(name, 'dropout'):
        if not isinstance(rate, (int, float, np.number, np.ndarray, Tensor)) and not hasattr(rate, '_as_tensor'):
            raise ValueError(f'`rate` must be a scalar or scalar tensor. Received: rate={rate}')
        if isinstance(rate, (int, float)) and not 0 <= rate < 1:
            raise ValueError(f'`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}')
        x = convert_to_tensor(x)
        if not x.dtype.is_floating:
            raise ValueError(f'`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}')
        if isinstance(rate, (int, float)) and rate == 0:
            return x
        if isinstance(rate, (int, float)):
            scaled = x * (1 / (1 - rate))               # rounded once
            rate = convert_to_tensor(rate, x.dtype)
        else:
            rate = convert_to_tensor(rate, x.dtype)
            rate.shape.assert_has_rank(0)
            scaled = x * (1 / (1 - rate))
        shape = sizes_of(x) if noise_shape is None else convert_to_tensor(noise_shape, dtype_hint=dtypes.int32)
        keep = random_uniform(shape, seed=seed, dtype=x.dtype) >= rate
        return apply('SelectV2', (keep, scaled, apply('ZerosLike', (scaled,))))


def dropout_v1(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
               rate: Any = None) -> Tensor:
    """TensorFlow 1's `dropout`, by `keep_prob` or `rate`.

    Raises:
        ValueError: Both or neither are given.
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError('Only one of `keep_prob` and `rate` can be set.' if rate is not None else
                         'The `rate` argument is required but not set.')
    return dropout(x, 1 - keep_prob if rate is None else rate, noise_shape, seed, name)

