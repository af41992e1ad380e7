"""Random tensors. Each op draws from a generator of its own that lives in the execution's resources, so that a seeded
program gives the same numbers in every process; they are not TensorFlow's."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pyfuncdbg.graph import dtypes
from pyfuncdbg.graph.context import current_graph
from pyfuncdbg.graph.dtypes import DType, as_dtype
from pyfuncdbg.graph.graph import Graph
from pyfuncdbg.graph.registry import Attrs, OpDef, Output, Typed, no_gradient, register
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.ops.constant import convert_to_tensor
from pyfuncdbg.ops.inference import as_static_shape, invalid, same_rule
from pyfuncdbg.ops.scope import call, scope
from pyfuncdbg.runtime.dispatch import apply
from pyfuncdbg.runtime.execution import EAGER_RESOURCES

_DEFAULT_GRAPH_SEED = 87654321
"""What TensorFlow uses where only the op has a seed."""
_nodes = itertools.count(1)
_counters: WeakKeyDictionary[Graph, itertools.count[int]] = WeakKeyDictionary()
"""For each graph with a seed, how many ops took theirs from it."""


class _EagerSeed:
    """The global seed of eager code."""

    def __init__(self) -> None:
        self.value: int | None = None


_eager = _EagerSeed()


def set_seed(seed: int) -> None:
    """`tf.random.set_seed`: make ops without a seed of their own repeatable; in a graph, for the ops made after it."""
    graph = current_graph()
    if graph is not None:
        graph.seed = seed
        return
    _eager.value = seed
    for key in [key for key in EAGER_RESOURCES if isinstance(key, tuple) and key[0] == 'random']:
        del EAGER_RESOURCES[key]


def _global_seed(graph: Graph | None) -> int | None:
    """The seed of the graph, of those around a function, or of eager code."""
    while graph is not None:
        if graph.seed is not None or not graph.building_function:
            return graph.seed
        graph = graph.outer
    return _eager.value


def _seeds(seed: int | None) -> dict[str, int]:
    """The attrs that say which generator an op draws from; both seeds 0: one that differs from process to process.

    Each node of a graph has its own, so that two nodes with equal seeds give equal numbers; in eager code calls with
    equal seeds share one, so that each call gives other numbers. Both is as in TensorFlow.
    """
    graph = current_graph()
    first = _global_seed(graph)
    stream = 0 if graph is None else next(_nodes)
    if first is None and seed is None:
        return {'seed': 0, 'seed2': 0, '_py_stream': stream}
    second = seed if seed is not None else 0 if graph is None else next(_counters.setdefault(graph, itertools.count()))
    pair = _DEFAULT_GRAPH_SEED if first is None else first, second
    return {'seed': pair[0], 'seed2': pair[1] if any(pair) else 2**31 - 1, '_py_stream': stream}


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """`tf.compat.v1.get_seed`: the two seeds of an op that is given this one; (None, None) for one that is not seeded."""
    attrs = _seeds(op_seed)
    return (None, None) if not (attrs['seed'] or attrs['seed2']) else (attrs['seed'], attrs['seed2'])


_SEED_ATTRS = ('seed', 'seed2', '_py_stream')


def _generator(execution: Any, attrs: dict[str, int]) -> np.random.Generator:
    seeds = attrs['seed'], attrs['seed2']
    key = ('random', *seeds, attrs['_py_stream'])
    entropy = None if seeds == (0, 0) else [seed % 2**64 for seed in seeds]
    found: np.random.Generator = execution.resource(key, lambda: np.random.Generator(np.random.Philox(entropy)))
    return found


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape.tolist())
    if any(n < 0 for n in sizes):
        raise invalid(f'Dimension {min(sizes)} must be >= 0')
    return sizes


def _drawing(op: str, draw: Any) -> None:
    """Define an op that fills a shape: `draw(generator, sizes, dtype)` gives floats of enough precision."""
    def kernel(execution: Any, shape: Any, dtype: DType, **attrs: int) -> Any:
        return np.asarray(draw(_generator(execution, attrs), _sizes(shape), dtype)).astype(dtype.array)[()]

    def infer(inputs: Sequence[Typed], attrs: Attrs) -> list[Output]:
        return [(attrs['dtype'], as_static_shape(inputs[0]))]

    register(OpDef(op, kernel, infer, no_gradient, stateful=True, in_execution=True, kernel_attrs=('dtype', *_SEED_ATTRS)))


_MANTISSA = {dtypes.bfloat16: 7, dtypes.float16: 10, dtypes.float32: 23, dtypes.float64: 52}


def _below_one(generator: np.random.Generator, sizes: tuple[int, ...], dtype: DType) -> Any:
    # As many random bits as the dtype holds: rounding more of them could give 1.
    bits = _MANTISSA[dtype]
    return generator.integers(0, 1 << bits, sizes) / float(1 << bits)


def _truncated(generator: np.random.Generator, sizes: tuple[int, ...], dtype: DType) -> Any:
    values = np.asarray(generator.standard_normal(sizes))
    while True:
        far = np.abs(values) >= 2
        count = int(far.sum())
        if not count:
            return values
        values[far] = generator.standard_normal(count)


_drawing('RandomUniform', _below_one)
_drawing('RandomStandardNormal', lambda generator, sizes, dtype: generator.standard_normal(sizes))
_drawing('TruncatedNormal', _truncated)


def _uniform_int(execution: Any, shape: Any, low: Any, high: Any, **attrs: int) -> Any:
    if low >= high:
        raise invalid(f'Need minval < maxval, got {low} >= {high}')
    return np.asarray(_generator(execution, attrs).integers(low, high, _sizes(shape), low.dtype))[()]


def _shuffle(execution: Any, value: Any, **attrs: int) -> Any:
    return _generator(execution, attrs).permutation(value, 0) if value.ndim else value


register(OpDef('RandomUniformInt', _uniform_int, lambda inputs, attrs: [(inputs[1].dtype, as_static_shape(inputs[0]))],
               no_gradient,
               stateful=True, in_execution=True, kernel_attrs=_SEED_ATTRS))
register(OpDef('RandomShuffle', _shuffle, same_rule('RandomShuffle'), no_gradient, stateful=True, in_execution=True,
               kernel_attrs=_SEED_ATTRS))


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
        ValueError: Another dtype, or integers without `maxval`.
    """
    kind = as_dtype(dtype)
    if not kind.is_floating and kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f'Argument `dtype` got invalid value {kind}. Accepted dtypes are float16, bfloat16, float32, '
                         f'float64, '
                         'int32, int64.')
    if maxval is None and kind.is_integer:
        raise ValueError(f'Must specify maxval for integer dtype {kind}')
    with scope(name, 'random_uniform') as full:
        sizes = _shape(shape)
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


def _shape(shape: Any) -> Tensor:
    if not isinstance(shape, Tensor):
        shape = shape.as_list() if hasattr(shape, 'as_list') else shape
    return convert_to_tensor(shape, dtype_hint=dtypes.int32, name='shape')


def _normal(op: str, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None,
            name: str | None) -> Tensor:
    kind = as_dtype(dtype)
    with scope(name, default) as full:
        sizes = _shape(shape)
        mean, stddev = convert_to_tensor(mean, kind, name='mean'), convert_to_tensor(stddev, kind, name='stddev')
        drawn = apply(op, (sizes,), {'dtype': kind, **_seeds(seed)})
        return apply('AddV2', (drawn * stddev, mean), None, full)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
                  name: str | None = None) -> Tensor:
    """Normally distributed with this mean and standard deviation."""
    return _normal('RandomStandardNormal', 'random_normal', shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
                     name: str | None = None) -> Tensor:
    """Normally distributed, drawn again where it is more than two standard deviations away."""
    return _normal('TruncatedNormal', 'truncated_normal', shape, mean, stddev, dtype, seed, name)


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows (slices along axis 0) in random order."""
    return apply('RandomShuffle', (convert_to_tensor(value),), _seeds(seed), name)


