"""Order and selection of elements: repeat, take, skip, shard, shuffle, cache, prefetch."""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.errors import FailedPreconditionError
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
    pull_from,
    seeded_generator,
    transformed,
)
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid

_AHEAD = 2
"""Number of elements that `prefetch(AUTOTUNE)` keeps ready."""


def _number(value: Any, argument: str) -> int:
    if np.ndim(value):
        raise invalid(f'{argument} must be a scalar')
    return int(value)


@dataset_op('RepeatDataset')
def _repeat(source: ElementSource, count: Any) -> ElementSource:
    """The elements repeated; -1: infinitely often."""
    times, cardinality = _number(count, 'count'), source.cardinality

    def start(reading: DatasetReading, path: str) -> Pull:
        path += '::ForeverRepeat' if times < 0 else '::FiniteRepeat'
        remaining = times
        inner: tuple[DatasetReading, Pull] | None = None
        fresh = True

        def pull() -> Element:
            nonlocal remaining, inner, fresh
            while remaining:
                if inner is None:
                    passage = reading.within()
                    inner, fresh = (passage, source.open(passage,
                                                         f'{path}[{times - remaining}]' if remaining > 0 else path)), True
                try:
                    element = inner[1]()
                    fresh = False
                    return element
                except EndOfSequence:
                    reading.forget(inner[0])
                    inner = None
                    remaining -= 1
                    if fresh and remaining < 0:      # an empty dataset, infinitely often
                        remaining = 0
            raise EndOfSequence
        return pull
    if not cardinality or not times:
        total = 0
    elif times < 0:
        total = INFINITE
    else:
        total = cardinality * times if cardinality >= 0 else cardinality
    return ElementSource(total, start, source.depth + 1)


@dataset_op('TakeDataset')
def _take(source: ElementSource, count: Any) -> ElementSource:
    """The first elements; -1: all."""
    most, cardinality = _number(count, 'count'), source.cardinality

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        remaining = most

        def pull() -> Element:
            nonlocal remaining
            if not remaining:
                raise EndOfSequence
            element = upstream()
            remaining -= 1
            return element
        return pull
    total = cardinality if most < 0 else most if cardinality == INFINITE or not most else min(cardinality, most)
    return transformed(source, 'FiniteTake', begin, total)


@dataset_op('SkipDataset')
def _skip(source: ElementSource, count: Any) -> ElementSource:
    """The elements after the first ones; -1: none."""
    first, cardinality = _number(count, 'count'), source.cardinality

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        remaining = first

        def pull() -> Element:
            nonlocal remaining
            if remaining < 0:
                raise EndOfSequence
            while remaining:
                upstream()
                remaining -= 1
            return upstream()
        return pull
    remaining_count = max(0, cardinality - first) if cardinality >= 0 else cardinality
    return transformed(source, 'FiniteSkip', begin, 0 if first < 0 else remaining_count)


@dataset_op('ShardDataset')
def _shard(source: ElementSource, count: Any, index: Any) -> ElementSource:
    """Every `count`-th element, beginning with number `index`."""
    shards, shard, cardinality = int(count), int(index), source.cardinality
    if shards < 1:
        raise invalid(f'Number of shards must be greater than zero (currently num_shards = {shards}).')
    if not 0 <= shard < shards:
        raise invalid(f'Index must be between 0 and {shards - 1} (currently index = {shard}).')

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        number = -1

        def pull() -> Element:
            nonlocal number
            while True:
                element = upstream()
                number += 1
                if number % shards == shard:
                    return element
        return pull
    return transformed(source, 'Shard', begin,
                       cardinality if cardinality < 0 else cardinality // shards + (shard < cardinality % shards))


class Seeds:
    """Seed source of shuffles: each reading of a dataset gets new seeds."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._generator = seeded_generator(seeds)
        self._lock = new_lock()

    def next(self) -> np.random.Generator:
        """A generator for one reading."""
        with self._lock:
            return np.random.Generator(np.random.Philox(self._generator.integers(0, 2**63, 2).tolist()))


@dataset_op('ShuffleDatasetV3', 'reshuffle_each_iteration', stateful=True)
def _shuffle(source: ElementSource, size: Any, seed: Any, seed2: Any,
             reshuffle_each_iteration: bool = True) -> ElementSource:
    """The elements in random order: each is drawn from a buffer, which is refilled."""
    most, seeds = int(size), (int(seed), int(seed2))
    if most < 1 and most != UNKNOWN:
        raise invalid('buffer_size must be greater than zero or UNKNOWN_CARDINALITY')
    reading_seeds = Seeds(seeds) if reshuffle_each_iteration else None

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        generator = (reading_seeds or Seeds(seeds)).next()
        buffer: list[Element] = []
        over = False

        def pull() -> Element:
            nonlocal over
            while not over and (len(buffer) < most or most < 0):
                try:
                    buffer.append(upstream())
                except EndOfSequence:
                    over = True
            if not buffer:
                raise EndOfSequence
            place = int(generator.integers(len(buffer)))
            buffer[place], buffer[-1] = buffer[-1], buffer[place]
            return buffer.pop()
        return pull
    return transformed(source, 'Shuffle', begin)


@dataset_op('CacheDatasetV2', stateful=True)
def _cache(source: ElementSource) -> ElementSource:
    """The elements, cached in memory after the first complete reading."""
    readings: list[tuple[Element, ...]] = []

    def start(reading: DatasetReading, path: str) -> Pull:
        if readings:
            return pull_from(iter(readings[0]))
        upstream = source.open(reading, path + '::MemoryCacheImpl')
        elements: list[Element] = []

        def pull() -> Element:
            try:
                element = upstream()
            except EndOfSequence:
                if not readings:
                    readings.append(tuple(elements))
                raise
            elements.append(element)
            return element
        return pull
    return ElementSource(source.cardinality, start, source.depth + 1)


@dataset_op('PrefetchDataset')
def _prefetch(source: ElementSource, size: Any) -> ElementSource:
    """The elements, read ahead."""
    most = int(size)
    if most < -1:
        raise invalid('buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning')
    return transformed(source, 'Prefetch', lambda upstream, reading, path: open_ahead(
        reading, upstream, most if most > 0 else _AHEAD) if most else upstream)


@dataset_op('AssertCardinalityDataset')
def _assert_cardinality(source: ElementSource, count: Any) -> ElementSource:
    """The elements, with a check of their number."""
    expected = int(count)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        number = 0

        def pull() -> Element:
            nonlocal number
            try:
                element = upstream()
            except EndOfSequence:
                if 0 <= number < expected:
                    raise _miscounted(expected, f'only {number}') from None
                raise
            number += 1
            if 0 <= expected < number:
                raise _miscounted(expected, f'at least {number}')
            return element
        return pull
    return transformed(source, 'AssertCardinality', begin, expected)


def _miscounted(expected: int, counted: str) -> Exception:
    return FailedPreconditionError(
        None, None, f'Input dataset was expected to contain {expected} elements but contained {counted} elements.')
