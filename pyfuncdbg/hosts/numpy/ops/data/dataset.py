"""`tf.data.Dataset`: the description of a pipeline, as a node or an eager value; and its transformations.

Programs build them, in eager code, in functions and in graphs; nothing is read until an iterator does.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.data import batch, combination, mapping, reduction, sources, structure
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
        element_spec: What an element looks like.
        kind: Name of its kind, for `repr`.
        inputs: The datasets it is made of.
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

    def cardinality(self) -> Any:
        """The number of elements, as a tensor; -1: infinitely many, -2: unknown."""
        return reduction.cardinality_of(self, None)

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
        """The same with options."""
        found = type(self)(self._variant_tensor, self._spec, '_OptionsDataset', [self])
        found._set_options = self._set_options.merge(options)
        return found

    def _derived(self, op: str, spec: Any, kind: str, *inputs: Any, others: Sequence[Dataset] = (), name: str | None = None,
                 **attrs: Any) -> Any:
        """A dataset made of this one."""
        variant = apply(op, (self._variant_tensor, *inputs), {**attrs, **output_attrs(spec)}, name)
        return type(self)(variant, spec, kind, [self, *others])

    # ------------------------------------------------------------------ making
    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Any:
        """One element."""
        return sources.from_tensors(cls, tensors, name)

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """The slices of tensors along their first axis."""
        return sources.from_tensor_slices(cls, tensors, name)

    @classmethod
    def range(cls, *args: Any, **kwargs: Any) -> Any:
        """Numbers, with the arguments of Python's `range`; `output_type` is int64 by default."""
        return sources.from_range(cls, *args, **kwargs)

    @classmethod
    def from_generator(cls, generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None,
                       args: Any = None, output_signature: Any = None, name: str | None = None) -> Any:
        """The elements that `generator(*args)` yields, begun anew for each reading."""
        return from_generator(cls, generator, output_types, output_shapes, args, output_signature, name)

    @classmethod
    def random(cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Any:
        """Integers below 2**32 without end."""
        return sources.from_random(cls, seed, name)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """One element of each of a structure of datasets, side by side."""
        return combination.zip_datasets(cls, args, datasets, name)

    @classmethod
    def choose_from_datasets(cls, datasets: Sequence[Dataset], choice_dataset: Dataset,
                             stop_on_empty_dataset: bool = True) -> Any:
        """An element of the dataset whose number `choice_dataset` gives, for each such number."""
        return combination.choose(datasets, choice_dataset, stop_on_empty_dataset)

    @classmethod
    def sample_from_datasets(cls, datasets: Sequence[Dataset], weights: Any = None, seed: int | None = None,
                             stop_on_empty_dataset: bool = False, rerandomize_each_iteration: bool | None = None) -> Any:
        """Elements of datasets that are drawn at random."""
        return combination.sample(datasets, weights, seed, stop_on_empty_dataset)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Any:
        """The elements of this one, then those of another."""
        return combination.concatenate(self, dataset, name)

    # ------------------------------------------------------------------ functions
    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: bool | None = None,
            synchronous: bool | None = None, use_unbounded_threadpool: bool = False, name: str | None = None) -> Any:
        """A function of each element; with `num_parallel_calls` on so many threads, in the elements' order unless
        `deterministic` is False."""
        return mapping.map_dataset(self, map_func, num_parallel_calls, deterministic, name)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements for which a function gives True."""
        return mapping.filter_dataset(self, predicate, name)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements before the first for which a function gives False."""
        return mapping.take_while(self, predicate, name)

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
        """A function from (state, element) to (new state, output), element by element."""
        return mapping.scan(self, initial_state, scan_func, name)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last state of a function from (state, element) to the next state."""
        return reduction.reduce_dataset(self, initial_state, reduce_func, name)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """The elements of the datasets that a function gives, one after the other."""
        return mapping.flat_map(self, map_func, name)

    def interleave(self, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
                   num_parallel_calls: Any = None, deterministic: bool | None = None, name: str | None = None) -> Any:
        """The elements of `cycle_length` of those datasets in turn, `block_length` at a time."""
        return mapping.interleave(self, map_func, cycle_length, block_length, num_parallel_calls, name)

    def apply(self, transformation_func: Callable[..., Any]) -> Any:
        """The result of a function from dataset to dataset.

        Raises:
            TypeError: It gives none.
        """
        found = transformation_func(self)
        if not isinstance(found, Dataset):
            raise TypeError(f'`transformation_func` must return a `tf.data.Dataset` object. Got {type(found)}.')
        return found

    # ------------------------------------------------------------------ order and number
    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The elements `count` times, by default without end."""
        return self._counted('RepeatDataset', '_RepeatDataset', 'count', -1 if count is None else count, name)

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first `count` elements; -1: all."""
        return self._counted('TakeDataset', '_TakeDataset', 'count', count, name)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """The elements after the first `count`; -1: none."""
        return self._counted('SkipDataset', '_SkipDataset', 'count', count, name)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """The same, with up to `buffer_size` elements got before they are asked for, on a thread."""
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
        """The same, kept in memory from the first whole reading on.

        Raises:
            NotImplementedError: A file is asked for.
        """
        if not isinstance(filename, str) or filename:
            raise NotImplementedError('pyfuncdbg caches datasets in memory only; call cache() without a file name')
        return self._derived('CacheDatasetV2', self._spec, 'CacheDataset', name=name)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """The elements with their numbers before them."""
        return type(self).zip((type(self).range(start, dtypes.int64.max, name=name), self))

    # ------------------------------------------------------------------ batches
    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: bool | None = None, name: str | None = None) -> Any:
        """`batch_size` elements stacked into one."""
        return batch.batch(self, batch_size, drop_remainder, name)

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: bool = False, name: str | None = None) -> Any:
        """The same for elements of different shapes: what is missing is filled."""
        return batch.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder, name)

    def unbatch(self, name: str | None = None) -> Any:
        """The slices of each element along its first axis."""
        return batch.unbatch(self, name)

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Batches of another size."""
        return self.unbatch(name).batch(batch_size, drop_remainder, name=name)

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
               name: str | None = None) -> Any:
        """Datasets of `size` elements; the next one begins `shift` elements later and takes every `stride`-th."""
        return batch.window(self, size, shift, stride, drop_remainder, name)

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has just one.

        Raises:
            InvalidArgumentError: It has none, or more.
        """
        return reduction.single_element(self, name)


def _as_numpy(leaf: Any) -> Any:
    if isinstance(leaf, Dataset):
        return leaf.as_numpy_iterator()
    return leaf.numpy() if isinstance(leaf, EagerTensor) else leaf
