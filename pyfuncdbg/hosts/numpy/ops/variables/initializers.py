"""Initial values of variables: `initializer(shape, dtype)` gives a tensor. TensorFlow 1's names; the same objects serve
both."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames_in_methods
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import eye, ones, zeros
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import reshape, transpose
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import sign
from pyfuncdbg.hosts.numpy.ops.random.random import random_normal, random_uniform, truncated_normal


@hide_own_frames_in_methods
class Initializer:
    """Factory of initial values.

    Args:
        make: `make(shape, dtype)` gives the tensor.
        dtype: Default of the call.
        config: Its arguments, for `get_config`.
        name: For `repr`.
    """

    def __init__(self, make: Callable[[Any, Any], Any], dtype: Any, config: dict[str, Any], name: str) -> None:
        self._make = make
        self.dtype = as_dtype(dtype)
        self._config = config
        self._name = name

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, **kwargs: Any) -> Any:
        """A tensor of this shape."""
        return self._make(shape, self.dtype if dtype is None else as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """Its arguments."""
        return {**self._config, 'dtype': self.dtype.name}

    def __repr__(self) -> str:
        return f'<{self._name} {self.get_config()}>'


def zeros_initializer(dtype: Any = dtypes.float32) -> Initializer:
    """All zeros."""
    return Initializer(lambda shape, kind: zeros(shape, kind), dtype, {}, 'zeros_initializer')


def ones_initializer(dtype: Any = dtypes.float32) -> Initializer:
    """All ones."""
    return Initializer(lambda shape, kind: ones(shape, kind), dtype, {}, 'ones_initializer')


def constant_initializer(value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> Initializer:
    """A value, or the elements of a list."""
    return Initializer(lambda shape, kind: constant(value, kind, shape=shape), dtype, {'value': value},
                       'constant_initializer')


def random_uniform_initializer(minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None,
                               dtype: Any = dtypes.float32) -> Initializer:
    """Uniform in [minval, maxval)."""
    return Initializer(lambda shape, kind: random_uniform(shape, minval, maxval, kind, seed=seed), dtype,
                       {'minval': minval, 'maxval': maxval, 'seed': seed}, 'random_uniform_initializer')


def _floating(dtype: Any) -> Any:
    if not dtype.is_floating:
        raise ValueError(f'Argument `dtype` is expected to be floating point. Received: {dtype}.')
    return dtype


def random_normal_initializer(mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
                              dtype: Any = dtypes.float32) -> Initializer:
    """Normal."""
    return Initializer(lambda shape, kind: random_normal(shape, mean, stddev, _floating(kind), seed=seed), dtype,
                       {'mean': mean, 'stddev': stddev, 'seed': seed}, 'random_normal_initializer')


def truncated_normal_initializer(mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
                                 dtype: Any = dtypes.float32) -> Initializer:
    """Normal, redrawn beyond two standard deviations."""
    return Initializer(lambda shape, kind: truncated_normal(shape, mean, stddev, _floating(kind), seed=seed), dtype,
                       {'mean': mean, 'stddev': stddev, 'seed': seed}, 'truncated_normal_initializer')


def variance_scaling_initializer(scale: float = 1.0, mode: str = 'fan_in', distribution: str = 'truncated_normal',
                                 seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Of variance scale / n, where n is the number of inputs or outputs of a unit, or their mean.

    Raises:
        ValueError: The scale is not positive, or the mode or distribution is unknown.
    """
    if scale <= 0:
        raise ValueError(f'Argument `scale` must be a positive float. Received: {scale}')
    if mode not in ('fan_in', 'fan_out', 'fan_avg'):
        raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
    distribution = distribution.lower()
    if distribution not in ('normal', 'uniform', 'truncated_normal', 'untruncated_normal'):
        raise ValueError("Argument `distribution` should be one of ('normal', 'uniform', 'truncated_normal', "
                         "'untruncated_normal'). "
                         f'Received: {distribution}')

    def make(shape: Any, kind: Any) -> Any:
        inputs, outputs = _fans(TensorShape(shape).as_list())
        variance = scale / max(1.0, {'fan_in': inputs, 'fan_out': outputs, 'fan_avg': (inputs + outputs) / 2}[mode])
        if distribution == 'uniform':
            limit = math.sqrt(3 * variance)
            return random_uniform(shape, -limit, limit, kind, seed=seed)
        if distribution == 'untruncated_normal':
            return random_normal(shape, 0.0, math.sqrt(variance), kind, seed=seed)
        # 0.8796... is the standard deviation of a normal distribution truncated at two of its own.
        return truncated_normal(shape, 0.0, math.sqrt(variance) / 0.87962566103423978, kind, seed=seed)
    config = {'scale': scale, 'mode': mode, 'distribution': distribution, 'seed': seed}
    return Initializer(make, dtype, config, 'variance_scaling_initializer')


def _fans(sizes: Sequence[int | None]) -> tuple[float, float]:
    """Inputs and outputs of a unit, for weights of this shape; leading axes of a convolution count for both."""
    dimensions = [size or 1 for size in sizes]
    if len(dimensions) < 2:
        return float(dimensions[0]) if dimensions else 1.0, float(dimensions[0]) if dimensions else 1.0
    field = math.prod(dimensions[:-2])
    return float(dimensions[-2] * field), float(dimensions[-1] * field)


def glorot_uniform_initializer(seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Uniform, scaled by the mean of inputs and outputs; what `get_variable` uses for floats."""
    return variance_scaling_initializer(1.0, 'fan_avg', 'uniform', seed, dtype)


def glorot_normal_initializer(seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Truncated normal, scaled by the mean of inputs and outputs."""
    return variance_scaling_initializer(1.0, 'fan_avg', 'truncated_normal', seed, dtype)


def he_normal(seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Truncated normal of variance 2 / inputs."""
    return variance_scaling_initializer(2.0, 'fan_in', 'truncated_normal', seed, dtype)


def he_uniform(seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Uniform of variance 2 / inputs."""
    return variance_scaling_initializer(2.0, 'fan_in', 'uniform', seed, dtype)


def lecun_normal(seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Truncated normal of variance 1 / inputs."""
    return variance_scaling_initializer(1.0, 'fan_in', 'truncated_normal', seed, dtype)


def orthogonal_initializer(gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Orthogonal rows or columns, from the QR decomposition of a random normal matrix.

    Raises:
        ValueError: When it is called for a tensor of fewer than two axes.
    """
    def make(shape: Any, kind: Any) -> Any:
        sizes = TensorShape(shape).as_list()
        if len(sizes) < 2:
            raise ValueError('The tensor to initialize, specified by argument `shape` must be at least two-dimensional. '
                             f'Received shape={shape}')
        rows, columns = math.prod(size or 1 for size in sizes[:-1]), sizes[-1] or 1
        from pyfuncdbg.hosts.numpy.ops.linalg.decompositions import qr  # few programs need them
        from pyfuncdbg.hosts.numpy.ops.linalg.diagonals import diag_part
        q, r = qr(random_normal([max(rows, columns), min(rows, columns)], 0.0, 1.0, kind, seed=seed))
        q = q * sign(diag_part(r))
        return reshape((q if rows >= columns else transpose(q)) * gain, sizes)
    return Initializer(make, dtype, {'gain': gain, 'seed': seed}, 'orthogonal_initializer')


def identity_initializer(gain: float = 1.0, dtype: Any = dtypes.float32) -> Initializer:
    """The identity matrix times `gain`.

    Raises:
        ValueError: When it is called for something other than a matrix.
    """
    def make(shape: Any, kind: Any) -> Any:
        sizes = TensorShape(shape).as_list()
        if len(sizes) != 2:
            raise ValueError('The tensor to initialize, specified by argument `shape` must be at least two-dimensional. '
                             f'Received shape={shape}')
        return eye(sizes[0], sizes[1], dtype=kind) * gain
    return Initializer(make, dtype, {'gain': gain}, 'identity_initializer')


FACTORIES: tuple[Any, ...] = (
    zeros_initializer, ones_initializer, constant_initializer, random_uniform_initializer, random_normal_initializer,
    truncated_normal_initializer, variance_scaling_initializer, glorot_uniform_initializer, glorot_normal_initializer,
    he_normal,
    he_uniform, lecun_normal, orthogonal_initializer, identity_initializer)
"""The functions above: `get_variable` calls one that is passed without parentheses."""
