"""Sources of elements: tensors, their slices, ranges, random numbers."""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.data.source import (
    INFINITE,
    DatasetReading,
    ElementSource,
    Pull,
    dataset_op,
    pull_from,
    row,
    seeded_generator,
    source_of,
)
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def from_tensors(cls: Any, tensors: Any, name: str | None = None) -> Any:
    """One element."""
    element = structure.as_element(tensors)
    spec = structure.map_structure(structure.spec_of, element)
    flat = structure.tensors_of(element)
    return cls(apply('TensorDataset', flat, {'Toutput_types': [t.dtype for t in flat], **output_attrs(spec)}, name), spec,
               '_TensorDataset')


def from_tensor_slices(cls: Any, tensors: Any, name: str | None = None) -> Any:
    """The slices of tensors along their first axis.

    Raises:
        ValueError: There is no tensor, one is of rank 0, or their first axes differ.
        NotImplementedError: A tensor is sparse or ragged.
    """
    element = structure.as_element(tensors)
    for leaf in structure.leaves(element):
        if leaf is not None and not isinstance(leaf, Tensor):
            raise NotImplementedError(f'pyfuncdbg takes no slices of a {type(leaf).__name__}; use from_tensors, or make it '
                                      'a tensor first')
    flat = structure.tensors_of(element)
    if not flat:
        raise ValueError('Invalid `element`. `element` should not be empty.')
    if any(tensor.shape.rank == 0 for tensor in flat):
        raise ValueError('Unbatching a tensor is only supported for rank >= 1')
    spec = structure.map_structure(lambda leaf: structure.NoneSpec() if leaf is None else TensorSpec(leaf.shape[1:],
                                                                                                     leaf.dtype),
                                   element)
    sizes = [tensor.shape[0] for tensor in flat if tensor.shape.rank is not None and tensor.shape[0] is not None]
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(f'Dimensions {sizes[0]} and {size} are not compatible')
    attrs = {'Toutput_types': [t.dtype for t in flat], **output_attrs(spec), 'is_files': False}
    return cls(apply('TensorSliceDataset', flat, attrs, name), spec, '_TensorSliceDataset')


def from_range(cls: Any, *args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
    """Numbers, with the arguments of Python's `range`.

    Raises:
        ValueError: The number of arguments is not 1 to 3.
    """
    if not 1 <= len(args) <= 3:
        raise ValueError(f'Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.')
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    bounds = [convert_to_tensor(value, dtypes.int64, name=word)
              for word, value in (('start', start), ('stop', stop), ('step', step))]
    spec = TensorSpec((), as_dtype(output_type))
    return cls(apply('RangeDataset', bounds, output_attrs(spec), name), spec, '_RangeDataset')


def seed_pair(seeds: dict[str, int]) -> tuple[Any, Any]:
    """The two seeds of an op as tensors."""
    return constant(seeds['seed'], dtypes.int64, name='seed'), constant(seeds['seed2'], dtypes.int64, name='seed2')


def from_random(cls: Any, seed: int | None = None, rerandomize_each_iteration: bool | None = None,
                name: str | None = None) -> Any:
    """Infinitely many random integers below 2**32."""
    spec = TensorSpec((), dtypes.int64)
    return cls(apply('RandomDatasetV2', seed_pair(_seeds(seed)), output_attrs(spec), name), spec, '_RandomDataset')


@dataset_op('TensorDataset')
def _single(*tensors: Any) -> ElementSource:
    """One element."""
    return source_of((tensors,))


@dataset_op('TensorSliceDataset')
def _slices(*tensors: Any) -> ElementSource:
    """The slices of tensors along their first axis."""
    sizes = {len(tensor) for tensor in tensors}
    if len(sizes) > 1:
        raise invalid(f'All components must have the same size in the 0th dimension, but got {sorted(sizes)}')
    count = len(tensors[0])
    return ElementSource(count, lambda reading, path: pull_from(
        tuple([row(tensor, index) for tensor in tensors]) for index in range(count)))


@dataset_op('RangeDataset', 'output_types')
def _range(start: Any, stop: Any, step: Any, output_types: Any) -> ElementSource:
    """Numbers from `start` to before `stop`."""
    if not int(step):
        raise invalid('step must be a non-zero integer.')
    numbers, dtype = range(int(start), int(stop), int(step)), output_types[0].array.type
    return ElementSource(len(numbers), lambda reading, path: pull_from((dtype(number),) for number in numbers))


@dataset_op('RandomDatasetV2', stateful=True)
def _random(seed: Any, seed2: Any) -> ElementSource:
    """Infinitely many random integers below 2**32; the same in each reading if there are seeds."""
    def start(reading: DatasetReading, path: str) -> Pull:
        generator = seeded_generator((int(seed), int(seed2)))
        return lambda: (np.int64(generator.integers(0, 2**32)),)
    return ElementSource(INFINITE, start)
