"""Elements of one of several datasets, chosen by the numbers that another gives."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE, UNKNOWN, Element, EndOfSequence, Pull, Reading, Source
from pyfuncdbg.hosts.numpy.ops.data.sources import dataset_op
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """For each number the next element of that dataset; ends with the first that ends, or goes on with the others."""

    numbers: Source
    sources: Sequence[Source]
    stops: bool
    depth: int

    def cardinality(self) -> int:
        return UNKNOWN

    def open(self, reading: Reading, path: str) -> Pull:
        path += '::DirectedInterleave'
        numbers = self.numbers.open(reading, f'{path}[0]')
        pulls: list[Pull | None] = [s.open(reading, f'{path}[{i + 1}]') for i, s in enumerate(self.sources)]

        def pull() -> Element:
            while any(pulls):
                place = int(numbers()[0])
                if not 0 <= place < len(pulls):
                    raise invalid(f'Selector index out of range: {place} >= {len(pulls)}')
                chosen = pulls[place]
                if chosen is None:
                    continue
                try:
                    return chosen()
                except EndOfSequence:
                    if self.stops:
                        raise
                    pulls[place] = None
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Random numbers with given probabilities, without end."""

    weights: Any
    seeds: tuple[int, int]
    depth: int = 0

    def cardinality(self) -> int:
        return INFINITE

    def open(self, reading: Reading, path: str) -> Pull:
        generator = np.random.Generator(np.random.Philox([seed % 2**64 for seed in self.seeds] if any(self.seeds) else None))
        return lambda: (np.int64(generator.choice(len(self.weights), p=self.weights)),)


def _directed(numbers: Source, *sources: Source, stop_on_empty_dataset: bool = False) -> Chosen:
    return Chosen(numbers, sources, stop_on_empty_dataset, numbers.depth + 1)


dataset_op('DirectedInterleaveDataset', _directed, 'stop_on_empty_dataset')
dataset_op('SampledNumbers', lambda weights, seed, seed2: Numbers(weights, (int(seed), int(seed2))), stateful=True)
