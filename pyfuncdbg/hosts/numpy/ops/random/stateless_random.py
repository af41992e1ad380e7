"""Stateless random tensors: equal seeds give equal numbers, TensorFlow's."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, invalid
from pyfuncdbg.hosts.numpy.ops.random import philox
from pyfuncdbg.hosts.numpy.ops.random.philox import Blocks, Distribution
from pyfuncdbg.hosts.numpy.ops.random.random import (
    check_bounds,
    check_classes,
    class_dtype,
    classes_types,
    shape_of,
    sizes_in,
)
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_ALGORITHMS = {'philox': 1, 'threefry': 2, 'auto_select': 3}
_SCRAMBLING = 0x02461e293ec8f720
"""TensorFlow's key for mixing the two numbers of a seed."""


# ---------------------------------------------------------------- seeds
def _scrambled(seed: Any) -> tuple[int, int]:
    """The key and the counter of a seed of two numbers."""
    if seed.shape != (2,):
        raise invalid(f'seed must have shape [2], not [{",".join(map(str, seed.shape))}]')
    first, second = (int(n) & 2**64 - 1 for n in seed.tolist())
    mixed = Blocks(_SCRAMBLING, second << 64 | first).numbers(4).tolist()
    return mixed[1] << 32 | mixed[0], (mixed[3] << 32 | mixed[2]) << 64


def _key_counter(seed: Any) -> tuple[Any, Any]:
    key, counter = _scrambled(seed)
    return np.array([key], np.uint64), np.array([counter & 2**64 - 1, counter >> 64], np.uint64)


def _key_counter_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    shape = inputs[0].shape
    if not shape.is_compatible_with([2]):
        raise ValueError(f'seed must have shape [2], not {shape}')
    return [(dtypes.uint64, TensorShape.of((1,))), (dtypes.uint64, TensorShape.of((2,)))]


register(OpDef('StatelessRandomGetKeyCounter', _key_counter, _key_counter_types, no_gradient, outputs=2))


def _position(seed: Any, alg: Any) -> tuple[Any, Any, Any]:
    """The key, counter and algorithm inputs of an op.

    Raises:
        ValueError: Another algorithm than Philox.
    """
    number = _ALGORITHMS.get(alg, alg) if isinstance(alg, str) else int(getattr(alg, 'value', alg))
    if number not in (1, 3):
        raise ValueError(f'Argument `alg` got unsupported value {alg!r}. Supported values are "philox" and "auto_select".')
    key, counter = call('StatelessRandomGetKeyCounter', {'seed': seed}, None, seed=dtypes.int64)
    return key, counter, constant(np.int32(number), name='alg')


def _blocks(key: Any, counter: Any) -> Blocks:
    low, high = counter.tolist()
    return Blocks(int(key[0]), high << 64 | low)


# ---------------------------------------------------------------- numbers
def _drawing(op: str, draw: Distribution) -> None:
    """Define an op that fills a shape."""
    def kernel(shape: Any, key: Any, counter: Any, alg: Any, dtype: DType) -> Any:
        sizes = sizes_in(shape)
        return draw(_blocks(key, counter), math.prod(sizes), dtype.array).reshape(sizes)[()]

    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        return [(attrs['dtype'], as_static_shape(inputs[0], captures=True))]

    register(OpDef(op, kernel, infer, no_gradient, kernel_attrs=('dtype',)))


_drawing('StatelessRandomUniformV2', philox.uniform)
_drawing('StatelessRandomNormalV2', philox.normal)
_drawing('StatelessTruncatedNormalV2', philox.truncated_normal)
_drawing('StatelessRandomUniformFullIntV2',
         lambda blocks, count, dtype: philox.integers(blocks, count, dtype).view(dtype))


def _uniform_int(shape: Any, key: Any, counter: Any, alg: Any, low: Any, high: Any) -> Any:
    check_bounds(low, high)
    sizes = sizes_in(shape)
    return philox.integers_between(_blocks(key, counter), math.prod(sizes), low, high).reshape(sizes)[()]


register(OpDef('StatelessRandomUniformIntV2', _uniform_int,
               lambda inputs, attrs: [(inputs[4].dtype, as_static_shape(inputs[0], captures=True))], no_gradient))


def _multinomial(logits: Any, samples: Any, seed: Any, output_dtype: DType = dtypes.int64) -> Any:
    check_classes(logits, samples)
    return philox.categorical(Blocks(*_scrambled(seed)), logits, int(samples), output_dtype.array)


register(OpDef('StatelessMultinomial', _multinomial, classes_types, no_gradient, kernel_attrs=('output_dtype',)))


# ---------------------------------------------------------------- public functions
_UNIFORM = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32,
            dtypes.uint64)


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                      name: str | None = None, alg: Any = 'auto_select') -> Tensor:
    """Uniform in [minval, maxval); integers without bounds: all values of the dtype.

    Args:
        shape: Of the result.
        seed: Two integers.
        minval: Lower bound.
        maxval: Upper bound; 1 for floats.
        dtype: A float dtype, int32, int64, uint32 or uint64.
        name: Of the scope.
        alg: 'philox' or 'auto_select', which is Philox here as on TensorFlow's CPU.

    Raises:
        ValueError: Another dtype, or only one bound.
    """
    kind = as_dtype(dtype)
    _check_uniform(kind, minval, maxval)
    with scope(name, 'stateless_random_uniform') as full:
        sizes = shape_of(shape)
        if kind.is_integer and minval is None:
            return apply('StatelessRandomUniformFullIntV2', (sizes, *_position(seed, alg)), {'dtype': kind}, full)
        low = convert_to_tensor(minval, kind, name='min')
        high = convert_to_tensor(1 if maxval is None else maxval, kind, name='max')
        if kind.is_integer:
            return apply('StatelessRandomUniformIntV2', (sizes, *_position(seed, alg), low, high), None, full)
        samples = apply('StatelessRandomUniformV2', (sizes, *_position(seed, alg)), {'dtype': kind})
        return apply('AddV2', (samples * (high - low), low), None, full)


def _check_uniform(kind: DType, minval: Any, maxval: Any) -> None:
    if kind not in _UNIFORM:
        raise ValueError(f'Argument `dtype` got invalid value {kind}. Accepted dtypes are {_UNIFORM}.')
    if not kind.is_integer:
        return
    if (minval is None) != (maxval is None):
        raise ValueError(f'For integer `dtype` argument {kind}, argument `minval` and `maxval` must be both None or not '
                         f'None. Got `minval`={minval} and `maxval`={maxval}.')
    if minval is not None and kind in (dtypes.uint32, dtypes.uint64):
        raise ValueError(f"Argument `dtype` got invalid value {kind} when argument `minval` is not None. Please don't use "
                         'unsigned integers in this case.')


def _around(op: str, default: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: str | None,
            alg: Any) -> Tensor:
    kind = as_dtype(dtype)
    with scope(name, default) as full:
        sizes = shape_of(shape)
        mean, stddev = convert_to_tensor(mean, kind, name='mean'), convert_to_tensor(stddev, kind, name='stddev')
        samples = apply(op, (sizes, *_position(seed, alg)), {'dtype': kind})
        return apply('AddV2', (samples * stddev, mean), None, full)


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                     name: str | None = None, alg: Any = 'auto_select') -> Tensor:
    """Normally distributed with this mean and standard deviation."""
    return _around('StatelessRandomNormalV2', 'stateless_random_normal', shape, seed, mean, stddev, dtype, name, alg)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                               name: str | None = None, alg: Any = 'auto_select') -> Tensor:
    """Normally distributed, redrawn beyond two standard deviations."""
    return _around('StatelessTruncatedNormalV2', 'stateless_truncated_normal', shape, seed, mean, stddev, dtype, name, alg)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """Class numbers sampled from each row of unnormalized log-probabilities, [rows, num_samples].

    Raises:
        ValueError: `dtype` is neither int32 nor int64.
    """
    with scope(name, 'stateless_categorical'):
        arguments = {'logits': logits, 'num_samples': num_samples, 'seed': seed}
        return call('StatelessMultinomial', arguments, {'output_dtype': class_dtype(dtype)}, seed=dtypes.int64)


def split(seed: Any, num: int = 2, alg: Any = 'auto_select') -> Tensor:
    """`num` new seeds from one, [num, 2]."""
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: Any = 'auto_select') -> Tensor:
    """A new seed from one and a number, such as that of a step."""
    data = convert_to_tensor(data)
    first = stateless_uniform([], seed, None, None, data.dtype, alg=alg)
    return stack([first, cast(data, first.dtype)])
