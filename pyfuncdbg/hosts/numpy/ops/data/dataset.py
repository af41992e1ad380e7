"""`tf.data.Dataset`: the description of a pipeline, as a node or an eager value; and its transformations.

Programs build them, in eager code, in functions and in graphs; nothing is read until an iterator does.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.data import batch as batches, combination, mapping, reduction, sources, structure
from pyfuncdbg.hosts.numpy.ops.data.generator import from_generator
from pyfuncdbg.hosts.numpy.ops.data.iterator import OwnedIterator, output_attrs, over
from pyfuncdbg.hosts.numpy.ops.data.options import Options
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE, UNKNOWN
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


class Dataset:
    """Elements of one structure.

    Args:
        variant_tensor: The tensor that represents it.
        element_spec: The spec of an element.
        kind: Name of its kind, for `repr`.
        inputs: The datasets it is derived from.
    """

    def __init__(self, variant_tensor: Tensor, element_spec: Any, kind: str = '_VariantDataset',
                 inputs: Sequence[Dataset] = ()) -> None:
        self._variant_tensor = variant_tensor
        self._spec = element_spec
        self._kind = kind
        self._inputs_given = list(inputs)
        self._set_options: Options = inputs[0]._set_options if inputs else Options()

    # ------------------------------------------------------------------ what it is
    @property
    def element_spec(self) -> Any:
        """The spec of an element."""
        return self._spec

    @property
    def _data_spec(self) -> structure.VariantSpec:
        return structure.VariantSpec(type(self), self._spec, 'DatasetSpec')

    def _inputs(self) -> list[Dataset]:
        return self._inputs_given

    def __repr__(self) -> str:
        return f'<{self._kind} element_spec={self._spec!r}>'

    def __iter__(self) -> OwnedIterator:
        if context.current_graph() is not None and not context.current_graph().building_function:  # type: ignore[union-attr]
            raise RuntimeError('`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function.')
        return OwnedIterator(self)

    def _autograph_for(self, stop: Any, body: Callable[[Any], Any], state: Any, options: dict[str, Any]) -> None:
        """A `for` over it in a traced function: a loop of the graph."""
        over(OwnedIterator(self), stop, body, state, options)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """The number of elements.

        Raises:
            TypeError: Infinitely many, or unknown.
        """
        if context.current_graph() is not None:
            raise TypeError('`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` '
                            'instead.')
        count = int(self.cardinality())
        if count == INFINITE:
            raise TypeError('The dataset is infinite.')
        if count == UNKNOWN:
            raise TypeError('The dataset length is unknown.')
        return count

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as NumPy values.

        Raises:
            RuntimeError: Not in eager mode.
        """
        if context.current_graph() is not None:
            raise RuntimeError('`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.')
        return (structure.map_structure(_as_numpy, element) for element in self)

    def options(self) -> Options:
        """The options that are set."""
        return self._set_options

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The dataset with these options."""
        dataset = type(self)(self._variant_tensor, self._spec, '_OptionsDataset', [self])
        dataset._set_options = self._set_options.merge(options)
        return dataset

    def _derived(self, op: str, spec: Any, kind: str, *inputs: Any, others: Sequence[Dataset] = (), name: str | None = None,
                 **attrs: Any) -> Any:
        """A dataset derived from this one."""
        variant = apply(op, (self._variant_tensor, *inputs), {**attrs, **output_attrs(spec)}, name)
        return type(self)(variant, spec, kind, [self, *others])

    # ------------------------------------------------------------------ beside their kernels
    from_tensors = classmethod(sources.from_tensors)
    from_tensor_slices = classmethod(sources.from_tensor_slices)
    range = classmethod(sources.from_range)
    random = classmethod(sources.from_random)
    from_generator = classmethod(from_generator)
    zip = classmethod(combination.zip_datasets)
    choose_from_datasets = classmethod(combination.choose_from_datasets)
    sample_from_datasets = classmethod(combination.sample_from_datasets)
    concatenate = combination.concatenate
    map = mapping.map_dataset
    filter = mapping.filter_dataset
    take_while = mapping.take_while
    scan = mapping.scan
    flat_map = mapping.flat_map
    interleave = mapping.interleave
    batch = batches.batch
    padded_batch = batches.padded_batch
    unbatch = batches.unbatch
    window = batches.window
    reduce = reduction.reduce_dataset
    get_single_element = reduction.get_single_element
    cardinality = reduction.cardinality

    # ------------------------------------------------------------------ here
    def apply(self, transformation_func: Callable[..., Any]) -> Any:
        """The result of a function from dataset to dataset.

        Raises:
            TypeError: The function returns no dataset.
        """
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f'`transformation_func` must return a `tf.data.Dataset` object. Got {type(result)}.')
        return result

    # ------------------------------------------------------------------ order and number
    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The elements `count` times, by default infinitely often."""
        return self._counted('RepeatDataset', '_RepeatDataset', 'count', -1 if count is None else count, name)

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first `count` elements; -1: all."""
        return self._counted('TakeDataset', '_TakeDataset', 'count', count, name)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """The elements after the first `count`; -1: none."""
        return self._counted('SkipDataset', '_SkipDataset', 'count', count, name)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """The elements, up to `buffer_size` of them read ahead on a thread."""
        size = -1 if buffer_size is None else buffer_size
        return self._counted('PrefetchDataset', '_PrefetchDataset', 'buffer_size', size, name)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Every `num_shards`-th element, beginning with number `index`."""
        return self._counted('ShardDataset', '_ShardDataset', 'num_shards', num_shards, name,
                             convert_to_tensor(index, dtypes.int64, name='index'))

    def _counted(self, op: str, kind: str, argument: str, value: Any, name: str | None, *more: Any) -> Any:
        return self._derived(op, self._spec, kind, convert_to_tensor(value, dtypes.int64, name=argument), *more, name=name)

    def shuffle(self, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool | None = None,
                name: str | None = None) -> Any:
        """The elements in random order, drawn from a buffer of `buffer_size`; another order in each reading unless
        `reshuffle_each_iteration` is False."""
        size = convert_to_tensor(UNKNOWN if buffer_size is None else buffer_size, dtypes.int64, name='buffer_size')
        first, second = sources.seed_pair(_seeds(seed))
        return self._derived('ShuffleDatasetV3', self._spec, '_ShuffleDataset', size, first, second, name=name,
                             reshuffle_each_iteration=reshuffle_each_iteration is not False)

    def cache(self, filename: Any = '', name: str | None = None) -> Any:
        """The elements, cached in memory after the first complete reading.

        Raises:
            NotImplementedError: `filename` is given.
        """
        if not isinstance(filename, str) or filename:
            raise NotImplementedError('pyfuncdbg caches datasets in memory only; call cache() without a file name')
        return self._derived('CacheDatasetV2', self._spec, 'CacheDataset', name=name)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Pairs of number and element."""
        return type(self).zip((type(self).range(start, dtypes.int64.max, name=name), self))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """The elements of batches in batches of another size."""
        return self.unbatch(name).batch(batch_size, drop_remainder, name=name)


for _name, _member in vars(Dataset).items():
    _function = getattr(_member, '__func__', _member)
    if isinstance(_function, FunctionType):     # maybe of another module; errors and pickle use its qualified name
        _function.__module__, _function.__name__, _function.__qualname__ = __name__, _name, f'Dataset.{_name}'


def _as_numpy(leaf: Any) -> Any:
    if isinstance(leaf, Dataset):
        return leaf.as_numpy_iterator()
    return leaf.numpy() if isinstance(leaf, EagerTensor) else leaf
