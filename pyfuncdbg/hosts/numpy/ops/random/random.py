"""Random tensors. Each op draws from a generator of its own that lives in the execution's resources, so that a seeded
program gives the same numbers in every process. They are TensorFlow's, but for the last bit of about one normal number in a
hundred, and for `categorical` with many rows, whose numbers in TensorFlow depend on how many threads it has."""
from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import as_static_shape, ints, invalid, same_rule, with_rank
from pyfuncdbg.hosts.numpy.ops.random import philox
from pyfuncdbg.hosts.numpy.ops.random.philox import Distribution, Philox
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import eager_execution
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.resources import EAGER_RESOURCES, RANDOM, eager_seed, in_restored_state

_DEFAULT_GRAPH_SEED = 87654321
"""Graph seed that TensorFlow uses where only the op has a seed."""
_nodes = itertools.count(1)
_counters: WeakKeys[Graph, itertools.count[int]] = WeakKeys()
"""For each graph with a seed, the number of ops with a seed derived from it."""


def set_seed(seed: int) -> None:
    """`tf.random.set_seed`: make ops without a seed of their own repeatable; in a graph, for the ops made after it."""
    graph = current_graph()
    if graph is not None:
        graph.seed = seed
        return
    eager_seed.value = seed
    host.op_draws += 1
    for key in [key for key in EAGER_RESOURCES if isinstance(key, tuple) and key[0] == RANDOM]:
        del EAGER_RESOURCES[key]


def _global_seed(graph: Graph | None) -> int | None:
    """The seed of the graph, of those around a function, or of eager code."""
    while graph is not None:
        if graph.seed is not None or not graph.building_function:
            return graph.seed
        graph = graph.outer
    return eager_seed.value


def _seeds(seed: int | None) -> dict[str, int]:
    """The seed attrs of an op; both 0: a random generator for each process.

    Each node of a graph has its own generator, so two nodes with equal seeds give equal numbers; eager calls with
    equal seeds share one, so each call gives new numbers. Both as in TensorFlow.
    """
    graph = current_graph()
    first = _global_seed(graph)
    stream = 0 if graph is None else next(_nodes)
    if first is None and seed is None:
        return {'seed': 0, 'seed2': 0, '_py_stream': stream}
    of_graph = _DEFAULT_GRAPH_SEED if first is None else first % _LARGEST
    second = seed if seed is not None else _next_eager_seed(first or 0) if graph is None else next(
        _counters.setdefault(graph, itertools.count()))
    pair = of_graph, second % _LARGEST
    return {'seed': pair[0], 'seed2': pair[1] if any(pair) else _LARGEST, '_py_stream': stream}


_LARGEST = 2**31 - 1


def _next_eager_seed(seed: int) -> int:
    """The seed of the next eager op without one: Python's `random.Random(seed).randint(0, 2**31 - 1)`."""
    host.op_draws += 1
    key = RANDOM, 'seeds'

    def make() -> np.random.Generator:
        words = [abs(seed) >> shift & 0xFFFFFFFF for shift in range(0, max(abs(seed).bit_length(), 1), 32)]
        state: Any = np.random.RandomState(words).get_state()
        bits = np.random.MT19937()
        bits.state = {'bit_generator': 'MT19937', 'state': {'key': state[1], 'pos': state[2]}}
        return in_restored_state(key, np.random.Generator(bits))

    bits = eager_execution().resource(key, make).bit_generator
    number = bits.random_raw()
    while number > _LARGEST:
        number = bits.random_raw()
    return int(number)


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """`tf.compat.v1.get_seed`: the two seeds of an op with this seed; (None, None) for an unseeded op."""
    attrs = _seeds(op_seed)
    return (None, None) if not (attrs['seed'] or attrs['seed2']) else (attrs['seed'], attrs['seed2'])


_SEED_ATTRS = ('seed', 'seed2', '_py_stream')


def _generator(execution: Any, op: str, dtype: Any, attrs: dict[str, int]) -> Philox:
    seeds = attrs['seed'], attrs['seed2']
    host.op_draws += 1
    key = (RANDOM, op, str(dtype), *seeds, attrs.get('_py_stream', 0))
    generator: Philox = execution.resource(key, lambda: in_restored_state(key, Philox.seeded(*seeds)))
    return generator


def sizes_in(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape.tolist())
    if any(n < 0 for n in sizes):
        raise invalid(f'Dimension {min(sizes)} must be >= 0')
    return sizes


def _drawing(op: str, draw: Distribution) -> None:
    """Define an op that fills a shape."""
    def kernel(execution: Any, shape: Any, dtype: DType, **attrs: int) -> Any:
        sizes = sizes_in(shape)
        count = math.prod(sizes)
        blocks = _generator(execution, op, dtype.array, attrs).reserve(count * _RESERVED)
        return draw(blocks, count, dtype.array).reshape(sizes)[()]

    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        return [(attrs['dtype'], as_static_shape(inputs[0], captures=True))]

    register(OpDef(op, kernel, infer, no_gradient, stateful=True, in_execution=True, kernel_attrs=('dtype', *_SEED_ATTRS)))


_RESERVED = 256
"""Blocks that TensorFlow reserves for each output."""
_drawing('RandomUniform', philox.uniform)
_drawing('RandomStandardNormal', philox.normal)
_drawing('TruncatedNormal', philox.truncated_normal)


def check_bounds(low: Any, high: Any) -> None:
    """Refuse an empty range of integers, in a kernel."""
    if low >= high:
        raise invalid(f'Need minval < maxval, got {low} >= {high}')


def _uniform_int(execution: Any, shape: Any, low: Any, high: Any, **attrs: int) -> Any:
    check_bounds(low, high)
    sizes = sizes_in(shape)
    count = math.prod(sizes)
    blocks = _generator(execution, 'RandomUniformInt', low.dtype, attrs).reserve(count * _RESERVED)
    return philox.integers_between(blocks, count, low, high).reshape(sizes)[()]


def _shuffle(execution: Any, value: Any, **attrs: int) -> Any:
    if not value.ndim:
        return value.copy()
    count = len(value)
    blocks = _generator(execution, 'RandomShuffle', value.dtype, attrs).reserve(-(-count // 4))
    return value[philox.permutation(blocks, count)]


register(OpDef('RandomUniformInt', _uniform_int,
               lambda inputs, attrs: [(inputs[1].dtype, as_static_shape(inputs[0], captures=True))], no_gradient,
               stateful=True, in_execution=True, kernel_attrs=_SEED_ATTRS))
register(OpDef('RandomShuffle', _shuffle, same_rule('RandomShuffle'), no_gradient, stateful=True, in_execution=True,
               kernel_attrs=_SEED_ATTRS))


# ---------------------------------------------------------------- classes
def check_classes(logits: Any, samples: Any) -> None:
    """Refuse logits that are no matrix, in a kernel."""
    if logits.ndim != 2:
        raise invalid(f'logits should be a matrix, got shape {list(logits.shape)}')
    if np.ndim(samples):
        raise invalid(f'num_samples should be a scalar, got shape {list(samples.shape)}')
    if samples < 0:
        raise invalid(f'num_samples should be non-negative, got {samples}')
    if not logits.shape[1]:
        raise invalid('num_classes should be positive, got 0')


def classes_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    """The shape rule of ops that sample classes."""
    rows = with_rank(inputs[0].shape, 2)[0]
    count = ints(inputs[1])
    return [(attrs['output_dtype'], TensorShape.of((rows, None if count is None else count[0])))]


def _multinomial(execution: Any, logits: Any, samples: Any, output_dtype: DType = dtypes.int64, **attrs: int) -> Any:
    check_classes(logits, samples)
    rounded = (int(samples) + 3) // 4 * 4 * 2
    generator = _generator(execution, 'Multinomial', (logits.dtype, output_dtype.array), attrs)
    return philox.categorical(generator.reserve(len(logits) * rounded * _RESERVED), logits, int(samples), output_dtype.array)


register(OpDef('Multinomial', _multinomial, classes_types, no_gradient, stateful=True, in_execution=True,
               kernel_attrs=('output_dtype', *_SEED_ATTRS)))


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Tensor:
    """Class numbers sampled from each row of unnormalized log-probabilities, [rows, num_samples].

    Raises:
        ValueError: `dtype` is neither int32 nor int64.
    """
    with scope(name, 'categorical'):
        attrs = {'output_dtype': class_dtype(dtype), **_seeds(seed)}
        if isinstance(num_samples, str):
            convert_to_tensor(num_samples, dtypes.int32)        # refuses it
        return call('Multinomial', {'logits': logits, 'num_samples': num_samples}, attrs)


def class_dtype(dtype: Any) -> DType:
    """The dtype of class numbers; int64 by default."""
    kind = as_dtype(dtype or dtypes.int64)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f'Argument `dtype` got invalid value {kind}. Accepted dtypes are (tf.int32, tf.int64).')
    return kind


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Tensor:
    """`categorical` with TensorFlow 1's arguments."""
    with scope(name, 'multinomial'):
        attrs = {'output_dtype': class_dtype(output_dtype), **_seeds(seed)}
        return call('Multinomial', {'logits': logits, 'num_samples': num_samples}, attrs)


# ---------------------------------------------------------------- public functions
def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Uniform in [minval, maxval).

    Args:
        shape: Of the result.
        minval: Lower bound.
        maxval: Upper bound; 1 for floats.
        dtype: float16, bfloat16, float32, float64, int32 or int64.
        seed: Of this op.
        name: Of the scope.

    Raises:
        ValueError: Another dtype, or an integer dtype without `maxval`.
    """
    kind = as_dtype(dtype)
    if not kind.is_floating and kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f'Argument `dtype` got invalid value {kind}. Accepted dtypes are (tf.float16, tf.bfloat16, '
                         'tf.float32, tf.float64, tf.int32, tf.int64).')
    if maxval is None and kind.is_integer:
        raise ValueError(f'Must specify maxval for integer dtype {kind!r}')
    with scope(name, 'random_uniform') as full:
        sizes = shape_of(shape)
        if kind.is_integer:
            bounds = {'minval': convert_to_tensor(minval, kind), 'maxval': convert_to_tensor(maxval, kind)}
            return call('RandomUniformInt', {'shape': sizes, **bounds}, _seeds(seed), full)
        unit = apply('RandomUniform', (sizes,), {'dtype': kind, **_seeds(seed)})
        upper = 1 if maxval is None else maxval
        if not isinstance(minval, Tensor) and not isinstance(upper, Tensor) and np.ndim(minval) == np.ndim(upper) == 0 and (
                minval, upper) == (0, 1):
            return unit
        low, high = convert_to_tensor(minval, kind, name='min'), convert_to_tensor(upper, kind, name='max')
        return apply('AddV2', (unit * (high - low), low), None, full)


def shape_of(shape: Any) -> Tensor:
    if not isinstance(shape, Tensor):
        shape = shape.as_list() if hasattr(shape, 'as_list') else shape
    sizes = convert_to_tensor(shape, dtype_hint=dtypes.int32, name='shape')
    if sizes.dtype is dtypes.string and current_graph() is None:
        raise invalid("Value for attr 'T' of string is not in the list of allowed values: int32, int64")
    return sizes


def _normal(op: str, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None,
            name: str | None) -> Tensor:
    kind = as_dtype(dtype)
    with scope(name, default) as full:
        sizes = shape_of(shape)
        mean, stddev = convert_to_tensor(mean, kind, name='mean'), convert_to_tensor(stddev, kind, name='stddev')
        samples = apply(op, (sizes,), {'dtype': kind, **_seeds(seed)})
        return apply('AddV2', (samples * stddev, mean), None, full)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
                  name: str | None = None) -> Tensor:
    """Normally distributed with this mean and standard deviation."""
    return _normal('RandomStandardNormal', 'random_normal', shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
                     name: str | None = None) -> Tensor:
    """Normally distributed, redrawn beyond two standard deviations."""
    return _normal('TruncatedNormal', 'truncated_normal', shape, mean, stddev, dtype, seed, name)


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows (slices along axis 0) in random order."""
    return apply('RandomShuffle', (convert_to_tensor(value),), _seeds(seed), name)


