"""Datasets made of several others: zip, concatenate, choose, sample."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
)
from pyfuncdbg.hosts.numpy.ops.data.sources import seed_pair
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.random.random import _seeds
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def zip_datasets(kind: Any, args: Any, datasets: Any, name: str | None) -> Any:
    """One element of each.

    Raises:
        TypeError: There is nothing to zip, or something that is no dataset.
    """
    if not args and datasets is None:
        raise TypeError('Must pass at least one dataset to `zip`.')
    if args and datasets is not None:
        raise TypeError('Both `*args` and `datasets` cannot be set.')
    given = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
    found = structure.leaves(given)
    for one in found:
        if not hasattr(one, '_variant_tensor'):
            if isinstance(one, list):
                raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of '
                                '`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` '
                                'instead.')
            raise TypeError('Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` '
                            f'objects but encountered object of type {type(one)}.')
    spec = structure.packed(given, iter([one.element_spec for one in found]))
    variant = apply('ZipDataset', [one._variant_tensor for one in found], {**output_attrs(spec), 'N': len(found)}, name)
    return kind(variant, spec, '_ZipDataset', found)


def concatenate(first: Any, second: Any, name: str | None) -> Any:
    """The elements of one, then those of another.

    Raises:
        TypeError: They have elements of different kinds.
    """
    ours, theirs = first.element_spec, second.element_spec
    try:
        if not structure.same_form(ours, theirs):
            raise ValueError(ours)
        spec = structure.narrowest_for_both(ours, theirs)
    except ValueError:
        raise TypeError(f'Incompatible dataset elements:\n  {ours} vs.   {theirs}') from None
    return first._derived('ConcatenateDataset', spec, '_ConcatenateDataset', second._variant_tensor, others=[second],
                          name=name)


def choose(datasets: Sequence[Any], choice: Any, stop_on_empty: bool) -> Any:
    """An element of the dataset whose number another one gives.

    Raises:
        TypeError: `choice` has elements other than int64 numbers.
        ValueError: There are no datasets.
    """
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    if not structure.compatible(choice.element_spec, TensorSpec((), dtypes.int64)):
        raise TypeError('Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are '
                        f'{choice.element_spec}.')
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        spec = structure.narrowest_for_both(spec, other.element_spec)
    return choice._derived('DirectedInterleaveDataset', spec, '_DirectedInterleaveDataset',
                           *[one._variant_tensor for one in datasets], others=datasets, stop_on_empty_dataset=stop_on_empty,
                           N=len(datasets))


def sample(datasets: Sequence[Any], weights: Any, seed: int | None, stop_on_empty: bool) -> Any:
    """Elements of datasets that are drawn at random."""
    if not datasets:
        raise ValueError('Invalid `datasets`. `datasets` should not be empty.')
    count = len(datasets)
    if weights is not None and len(weights) != count:
        raise ValueError('Invalid `weights`. `weights` should have the same length as `datasets` but got '
                         f'`len(weights)={len(weights)}` vs. `len(datasets)={count}`.')
    given = np.full(count, 1 / count) if weights is None else np.asarray(weights, np.float64)
    spec = TensorSpec((), dtypes.int64)
    kind = type(datasets[0])
    variant = apply('SampledNumbers', (convert_to_tensor(given / given.sum()), *seed_pair(_seeds(seed))), output_attrs(spec))
    return choose(datasets, kind(variant, spec), stop_on_empty)


@dataclass(frozen=True, slots=True, eq=False)
class ConcatenateSource:
    """The elements of one, then those of another."""

    first: ElementSource
    second: ElementSource
    depth: int

    def cardinality(self) -> int:
        counts = self.first.cardinality(), self.second.cardinality()
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def open(self, reading: DatasetReading, path: str) -> Pull:
        rest = [(1, self.second), (0, self.first)]
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


@dataclass(frozen=True, slots=True, eq=False)
class ZipSource:
    """One element of each, side by side, as long as all have one."""

    sources: Sequence[ElementSource]
    depth: int

    def cardinality(self) -> int:
        counts = [source.cardinality() for source in self.sources]
        known = [count for count in counts if count >= 0]
        if UNKNOWN in counts:
            return UNKNOWN if 0 not in counts else 0
        return min(known) if known else INFINITE

    def open(self, reading: DatasetReading, path: str) -> Pull:
        pulls = [source.open(reading, f'{path}::Zip[{i}]') for i, source in enumerate(self.sources)]

        def pull() -> Element:
            return tuple([value for one in pulls for value in one()])
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class ChooseSource:
    """Interleaving of datasets by number: each number selects the dataset of the next element. Ends with the first dataset
    that ends, or goes on with the others."""

    numbers: ElementSource
    sources: Sequence[ElementSource]
    stops: bool
    depth: int

    def cardinality(self) -> int:
        return UNKNOWN

    def open(self, reading: DatasetReading, path: str) -> Pull:
        path += '::DirectedInterleave'
        numbers = self.numbers.open(reading, f'{path}[0]')
        pulls: list[Pull | None] = [s.open(reading, f'{path}[{i + 1}]') for i, s in enumerate(self.sources)]

        def pull() -> Element:
            while any(pulls):
                place = int(numbers()[0])
                if not 0 <= place < len(pulls):
                    raise invalid(f'Selector index out of range: {place} >= {len(pulls)}')
                choose = pulls[place]
                if choose is None:
                    continue
                try:
                    return choose()
                except EndOfSequence:
                    if self.stops:
                        raise
                    pulls[place] = None
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class WeightedNumbers:
    """Random numbers with given probabilities, without end."""

    weights: Any
    seeds: tuple[int, int]
    depth: int = 0

    def cardinality(self) -> int:
        return INFINITE

    def open(self, reading: DatasetReading, path: str) -> Pull:
        generator = np.random.Generator(np.random.Philox([seed % 2**64 for seed in self.seeds] if any(self.seeds) else None))
        return lambda: (np.int64(generator.choice(len(self.weights), p=self.weights)),)


def _directed(numbers: ElementSource, *sources: ElementSource, stop_on_empty_dataset: bool = False) -> ChooseSource:
    return ChooseSource(numbers, sources, stop_on_empty_dataset, numbers.depth + 1)


dataset_op('ConcatenateDataset', lambda first, second: ConcatenateSource(first, second, max(first.depth, second.depth) + 1))
dataset_op('ZipDataset', lambda *sources: ZipSource(sources, max(source.depth for source in sources) + 1))
dataset_op('DirectedInterleaveDataset', _directed, 'stop_on_empty_dataset')
dataset_op('SampledNumbers', lambda weights, seed, seed2: WeightedNumbers(weights, (int(seed), int(seed2))), stateful=True)
