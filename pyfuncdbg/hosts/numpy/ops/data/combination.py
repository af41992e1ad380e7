"""Datasets made of several others: zip, concatenate, choose, sample."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.data.source import (
    INFINITE,
    UNKNOWN,
    DatasetReading,
    Element,
    ElementSource,
    EndOfSequence,
    Pull,
    dataset_op,
    seeded_generator,
)
from pyfuncdbg.hosts.numpy.ops.data.sources import seed_pair
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def zip_datasets(cls: Any, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
    """One element of each of a structure of datasets, side by side.

    Raises:
        TypeError: There are no datasets, or a leaf is no dataset.
    """
    if not args and datasets is None:
        raise TypeError('Must pass at least one dataset to `zip`.')
    if args and datasets is not None:
        raise TypeError('Both `*args` and `datasets` cannot be set.')
    structure_of_datasets = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
    leaf_datasets = structure.leaves(structure_of_datasets)
    for one in leaf_datasets:
        if not hasattr(one, '_variant_tensor'):
            if isinstance(one, list):
                raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of '
                                '`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` '
                                'instead.')
            raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` '
                            f'objects but encountered object of type {type(one)}.')
    spec = structure.packed(structure_of_datasets, iter([one.element_spec for one in leaf_datasets]))
    variant = apply('ZipDataset', [one._variant_tensor for one in leaf_datasets],
                    {**output_attrs(spec), 'N': len(leaf_datasets)}, name)
    return cls(variant, spec, '_ZipDataset', leaf_datasets)


def concatenate(self: Any, dataset: Any, name: str | None = None) -> Any:
    """The elements of this one, then those of another.

    Raises:
        TypeError: They have elements of different kinds.
    """
    first_spec, second_spec = self.element_spec, dataset.element_spec
    try:
        if not structure.same_form(first_spec, second_spec):
            raise ValueError(first_spec)
        spec = structure.narrowest_for_both(first_spec, second_spec)
    except ValueError:
        raise TypeError(f'Incompatible dataset elements:\n  {first_spec} vs.   {second_spec}') from None
    return self._derived('ConcatenateDataset', spec, '_ConcatenateDataset', dataset._variant_tensor, others=[dataset],
                          name=name)


def choose_from_datasets(cls: Any, datasets: Sequence[Any], choice_dataset: Any,
                         stop_on_empty_dataset: bool = True) -> Any:
    """For each number in `choice_dataset` the next element of the dataset with this index.

    Raises:
        TypeError: `choice_dataset` has elements other than int64 numbers.
        ValueError: There are no datasets.
    """
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    if not structure.compatible(choice_dataset.element_spec, TensorSpec((), dtypes.int64)):
        raise TypeError('Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are '
                        f'{choice_dataset.element_spec}.')
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        spec = structure.narrowest_for_both(spec, other.element_spec)
    return choice_dataset._derived('DirectedInterleaveDataset', spec, '_DirectedInterleaveDataset',
                                   *[one._variant_tensor for one in datasets], others=datasets,
                                   stop_on_empty_dataset=stop_on_empty_dataset, N=len(datasets))


def sample_from_datasets(cls: Any, datasets: Sequence[Any], weights: Any = None, seed: int | None = None,
                         stop_on_empty_dataset: bool = False, rerandomize_each_iteration: bool | None = None) -> Any:
    """Elements of datasets that are drawn at random."""
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    count = len(datasets)
    if weights is not None and len(weights) != count:
        raise ValueError('Invalid `weights`. `weights` should have the same length as `datasets` but got '
                         f'`len(weights)={len(weights)}` vs. `len(datasets)={count}`.')
    probabilities = np.full(count, 1 / count) if weights is None else np.asarray(weights, np.float64)
    spec = TensorSpec((), dtypes.int64)
    kind = type(datasets[0])
    variant = apply('SampledNumbers', (convert_to_tensor(probabilities / probabilities.sum()), *seed_pair(_seeds(seed))),
                    output_attrs(spec))
    return choose_from_datasets(cls, datasets, kind(variant, spec), stop_on_empty_dataset)


@dataset_op('ConcatenateDataset')
def _concatenate(first: ElementSource, second: ElementSource) -> ElementSource:
    """The elements of one, then those of another."""
    def start(reading: DatasetReading, path: str) -> Pull:
        rest = [(1, second), (0, first)]
        current: Pull | None = None

        def pull() -> Element:
            nonlocal current
            while True:
                if current is None:
                    if not rest:
                        raise EndOfSequence
                    number, source = rest.pop()
                    current = source.open(reading, f'{path}::Concatenate[{number}]')
                try:
                    return current()
                except EndOfSequence:
                    current = None
        return pull
    counts = first.cardinality, second.cardinality
    total = INFINITE if INFINITE in counts else UNKNOWN if UNKNOWN in counts else sum(counts)
    return ElementSource(total, start, max(first.depth, second.depth) + 1)


@dataset_op('ZipDataset')
def _zip(*sources: ElementSource) -> ElementSource:
    """Tuples of one element of each source; ends with the shortest."""
    def start(reading: DatasetReading, path: str) -> Pull:
        pulls = [source.open(reading, f'{path}::Zip[{i}]') for i, source in enumerate(sources)]
        return lambda: tuple([value for pull in pulls for value in pull()])
    counts = [source.cardinality for source in sources]
    finite = [count for count in counts if count >= 0]
    total = UNKNOWN if UNKNOWN in counts and 0 not in counts else min(finite) if finite else INFINITE
    return ElementSource(total, start, max(source.depth for source in sources) + 1)


@dataset_op('DirectedInterleaveDataset', 'stop_on_empty_dataset')
def _choose(numbers: ElementSource, *sources: ElementSource, stop_on_empty_dataset: bool = False) -> ElementSource:
    """Interleaving of datasets by number: each number selects the dataset of the next element. Ends with the first dataset
    that ends, or goes on with the others."""
    def start(reading: DatasetReading, path: str) -> Pull:
        path += '::DirectedInterleave'
        next_number = numbers.open(reading, f'{path}[0]')
        pulls: list[Pull | None] = [source.open(reading, f'{path}[{i + 1}]') for i, source in enumerate(sources)]

        def pull() -> Element:
            while any(pulls):
                place = int(next_number()[0])
                if not 0 <= place < len(pulls):
                    raise invalid(f'Selector index out of range: {place} >= {len(pulls)}')
                choose = pulls[place]
                if choose is None:
                    continue
                try:
                    return choose()
                except EndOfSequence:
                    if stop_on_empty_dataset:
                        raise
                    pulls[place] = None
            raise EndOfSequence
        return pull
    return ElementSource(UNKNOWN, start, numbers.depth + 1)


@dataset_op('SampledNumbers', stateful=True)
def _sample(weights: Any, seed: Any, seed2: Any) -> ElementSource:
    """Infinitely many random numbers of given probabilities."""
    def start(reading: DatasetReading, path: str) -> Pull:
        generator = seeded_generator((int(seed), int(seed2)))
        return lambda: (np.int64(generator.choice(len(weights), p=weights)),)
    return ElementSource(INFINITE, start)
