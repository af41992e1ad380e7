"""Order and selection of elements: repeat, take, skip, shard, shuffle, cache, prefetch."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.numpy.ops.data.parallel import open_ahead
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
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


@dataclass(frozen=True, slots=True, eq=False)
class RepeatSource:
    """The elements again and again; -1 times: without end."""

    source: ElementSource
    count: int
    depth: int

    def cardinality(self) -> int:
        once = self.source.cardinality()
        if once == 0 or self.count == 0:
            return 0
        if self.count < 0:
            return INFINITE
        return once * self.count if once >= 0 else once

    def open(self, reading: DatasetReading, path: str) -> Pull:
        path += '::ForeverRepeat' if self.count < 0 else '::FiniteRepeat'
        left = self.count
        inner: tuple[DatasetReading, Pull] | None = None
        fresh = True

        def pull() -> Element:
            nonlocal left, inner, fresh
            while left:
                if inner is None:
                    own = reading.within()
                    inner, fresh = (own, self.source.open(own, f'{path}[{self.count - left}]' if left > 0 else path)), True
                try:
                    found = inner[1]()
                    fresh = False
                    return found
                except EndOfSequence:
                    reading.forget(inner[0])
                    inner = None
                    left -= 1
                    if fresh and left < 0:      # nothing, for ever
                        left = 0
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class TakeSource:
    """The first elements; -1: all."""

    source: ElementSource
    count: int
    depth: int

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if self.count < 0:
            return there
        if there == INFINITE:
            return self.count
        return min(there, self.count) if there >= 0 else (0 if self.count == 0 else UNKNOWN)

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::FiniteTake')
        left = self.count

        def pull() -> Element:
            nonlocal left
            if not left:
                raise EndOfSequence
            found = upstream()
            left -= 1
            return found
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class SkipSource:
    """The elements after the first ones; -1: none."""

    source: ElementSource
    count: int
    depth: int

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if self.count < 0:
            return 0
        return max(0, there - self.count) if there >= 0 else there

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::FiniteSkip')
        left = self.count

        def pull() -> Element:
            nonlocal left
            if left < 0:
                raise EndOfSequence
            while left:
                upstream()
                left -= 1
            return upstream()
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class ShardSource:
    """Every `count`-th element, beginning with number `index`."""

    source: ElementSource
    count: int
    index: int
    depth: int

    def cardinality(self) -> int:
        there = self.source.cardinality()
        return there if there < 0 else there // self.count + (self.index < there % self.count)

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Shard')
        number = -1

        def pull() -> Element:
            nonlocal number
            while True:
                found = upstream()
                number += 1
                if number % self.count == self.index:
                    return found
        return pull


class Seeds:
    """Seed source of shuffles: each reading of one dataset gets other seeds."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._generator = np.random.Generator(np.random.Philox([seed % 2**64 for seed in seeds] if any(seeds) else None))
        self._lock = new_lock()

    def next(self) -> np.random.Generator:
        """A generator for one reading."""
        with self._lock:
            return np.random.Generator(np.random.Philox(self._generator.integers(0, 2**63, 2).tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class ShuffleSource:
    """The elements in random order: each is drawn from a buffer that is filled up again."""

    source: ElementSource
    size: int
    seeds: tuple[int, int]
    again: Seeds | None
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Shuffle')
        generator = (self.again or Seeds(self.seeds)).next()
        kept: list[Element] = []
        over = False

        def pull() -> Element:
            nonlocal over
            while not over and (len(kept) < self.size or self.size < 0):
                try:
                    kept.append(upstream())
                except EndOfSequence:
                    over = True
            if not kept:
                raise EndOfSequence
            place = int(generator.integers(len(kept)))
            kept[place], kept[-1] = kept[-1], kept[place]
            return kept.pop()
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class CacheSource:
    """The elements, kept in memory from the first whole reading on."""

    source: ElementSource
    depth: int
    kept: list[tuple[Element, ...]] = field(default_factory=list)

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
        if self.kept:
            ready = iter(self.kept[0])

            def repeat() -> Element:
                for found in ready:
                    return found
                raise EndOfSequence
            return repeat
        upstream = self.source.open(reading, path + '::MemoryCacheImpl')
        found: list[Element] = []

        def pull() -> Element:
            try:
                element = upstream()
            except EndOfSequence:
                if not self.kept:
                    self.kept.append(tuple(found))
                raise
            found.append(element)
            return element
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class PrefetchSource:
    """The elements, got before they are asked for."""

    source: ElementSource
    size: int
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Prefetch')
        return upstream if not self.size else open_ahead(reading, upstream, self.size if self.size > 0 else _AHEAD)


_AHEAD = 2
"""Number of elements that `prefetch(AUTOTUNE)` keeps ready."""


@dataclass(frozen=True, slots=True, eq=False)
class CardinalitySource:
    """The elements, said to be so many."""

    source: ElementSource
    count: int
    depth: int

    def cardinality(self) -> int:
        return self.count

    def open(self, reading: DatasetReading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::AssertCardinality')
        number = 0

        def pull() -> Element:
            nonlocal number
            try:
                found = upstream()
            except EndOfSequence:
                if 0 <= number < self.count:
                    raise _miscounted(self.count, str(number)) from None
                raise
            number += 1
            if 0 <= self.count < number:
                raise _miscounted(self.count, f'at least {number}')
            return found
        return pull


def _miscounted(expected: int, got: str) -> Exception:
    from pyfuncdbg.errors import FailedPreconditionError
    return FailedPreconditionError(None, None, f'Input dataset was expected to contain {expected} elements but contained '
                                               f'{"only " if not got.startswith("at") else ""}{got} elements.')


def _shard(source: ElementSource, count: Any, index: Any) -> ShardSource:
    if int(count) < 1:
        raise invalid(f'Number of shards must be greater than zero (currently num_shards = {int(count)}).')
    if not 0 <= int(index) < int(count):
        raise invalid(f'Index must be between 0 and {int(count) - 1} (currently index = {int(index)}).')
    return ShardSource(source, int(count), int(index), source.depth + 1)


def _number(value: Any, argument: str) -> int:
    if np.ndim(value):
        raise invalid(f'{argument} must be a scalar')
    return int(value)


def _shuffle(source: ElementSource, size: Any, seed: Any, seed2: Any,
             reshuffle_each_iteration: bool = True) -> ShuffleSource:
    if int(size) < 1 and int(size) != UNKNOWN:
        raise invalid('buffer_size must be greater than zero or UNKNOWN_CARDINALITY')
    seeds = int(seed), int(seed2)
    return ShuffleSource(source, int(size), seeds, Seeds(seeds) if reshuffle_each_iteration else None, source.depth + 1)


def _prefetch(source: ElementSource, size: Any) -> PrefetchSource:
    if int(size) < -1:
        raise invalid('buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning')
    return PrefetchSource(source, int(size), source.depth + 1)


dataset_op('RepeatDataset', lambda source, count: RepeatSource(source, _number(count, 'count'), source.depth + 1))
dataset_op('TakeDataset', lambda source, count: TakeSource(source, _number(count, 'count'), source.depth + 1))
dataset_op('SkipDataset', lambda source, count: SkipSource(source, _number(count, 'count'), source.depth + 1))
dataset_op('ShardDataset', _shard)
dataset_op('ShuffleDatasetV3', _shuffle, 'reshuffle_each_iteration', stateful=True)
dataset_op('CacheDatasetV2', lambda source: CacheSource(source, source.depth + 1), stateful=True)
dataset_op('PrefetchDataset', _prefetch)
dataset_op('AssertCardinalityDataset', lambda source, count: CardinalitySource(source, int(count), source.depth + 1))
