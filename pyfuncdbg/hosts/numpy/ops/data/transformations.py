"""`tf.data.experimental`: transformations as functions for `Dataset.apply`, the older names of its methods."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.data.dataset import Dataset
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor

Transformation = Callable[[Any], Any]


def cardinality(dataset: Any) -> Any:
    """The number of elements, as a tensor."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Declare the number of elements; a reading with another number fails."""
    def apply(dataset: Any) -> Any:
        count = convert_to_tensor(expected_cardinality, dtypes.int64, name='expected_cardinality')
        return dataset._derived('AssertCardinalityDataset', dataset.element_spec, '_AssertCardinalityDataset', count)
    return apply


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
                  num_parallel_calls: Any = None) -> Transformation:
    """`map`, then `batch`."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: int | None = None) -> Transformation:
    """`shuffle`, then `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """`Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def take_while(predicate: Any) -> Transformation:
    """`Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def scan(initial_state: Any, scan_func: Any) -> Transformation:
    """`Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def parallel_interleave(map_func: Any, cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
                        buffer_output_elements: Any = None, prefetch_input_elements: Any = None) -> Transformation:
    """`Dataset.interleave`."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False) -> Transformation:
    """Not supported.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError('pyfuncdbg has no ragged batches; use padded_batch')


def get_single_element(dataset: Any) -> Any:
    """The element of a dataset that has just one."""
    return dataset.get_single_element()


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Any:
    """For each number in `choice_dataset` the next element of the dataset with this index."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets: Any, weights: Any = None, seed: int | None = None,
                         stop_on_empty_dataset: bool = False) -> Any:
    """Elements of datasets that are drawn at random."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def get_structure(dataset_or_iterator: Any) -> Any:
    """The spec of an element."""
    return dataset_or_iterator.element_spec


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """`Dataset.prefetch`: there is one device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = '/cpu:0') -> Transformation:
    """The same dataset: there is one device."""
    return lambda dataset: dataset


def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator, or nothing."""
    return iterator.get_next_as_optional()


def random_dataset(seed: int | None = None) -> Any:
    """Infinitely many random integers below 2**32."""
    return Dataset.random(seed)

