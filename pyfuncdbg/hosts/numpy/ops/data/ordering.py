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
    """The elements again and again; -1 times: without end."""
    times, once = _number(count, 'count'), source.cardinality

    def start(reading: DatasetReading, path: str) -> Pull:
        path += '::ForeverRepeat' if times < 0 else '::FiniteRepeat'
        left = times
        inner: tuple[DatasetReading, Pull] | None = None
        fresh = True

        def pull() -> Element:
            nonlocal left, inner, fresh
            while left:
                if inner is None:
                    own = reading.within()
                    inner, fresh = (own, source.open(own, f'{path}[{times - left}]' if left > 0 else path)), True
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
    total = 0 if not once or not times else INFINITE if times < 0 else once * times if once >= 0 else once
    return ElementSource(total, start, source.depth + 1)


@dataset_op('TakeDataset')
def _take(source: ElementSource, count: Any) -> ElementSource:
    """The first elements; -1: all."""
    most, there = _number(count, 'count'), source.cardinality

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        left = most

        def pull() -> Element:
            nonlocal left
            if not left:
                raise EndOfSequence
            found = upstream()
            left -= 1
            return found
        return pull
    total = there if most < 0 else most if there == INFINITE or not most else min(there, most)
    return transformed(source, 'FiniteTake', begin, total)


@dataset_op('SkipDataset')
def _skip(source: ElementSource, count: Any) -> ElementSource:
    """The elements after the first ones; -1: none."""
    first, there = _number(count, 'count'), source.cardinality

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        left = first

        def pull() -> Element:
            nonlocal left
            if left < 0:
                raise EndOfSequence
            while left:
                upstream()
                left -= 1
            return upstream()
        return pull
    return transformed(source, 'FiniteSkip', begin, 0 if first < 0 else max(0, there - first) if there >= 0 else there)


@dataset_op('ShardDataset')
def _shard(source: ElementSource, count: Any, index: Any) -> ElementSource:
    """Every `count`-th element, beginning with number `index`."""
    shards, own, there = int(count), int(index), source.cardinality
    if shards < 1:
        raise invalid(f'Number of shards must be greater than zero (currently num_shards = {shards}).')
    if not 0 <= own < shards:
        raise invalid(f'Index must be between 0 and {shards - 1} (currently index = {own}).')

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        number = -1

        def pull() -> Element:
            nonlocal number
            while True:
                found = upstream()
                number += 1
                if number % shards == own:
                    return found
        return pull
    return transformed(source, 'Shard', begin, there if there < 0 else there // shards + (own < there % shards))


class Seeds:
    """Seed source of shuffles: each reading of one dataset gets other seeds."""

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
    """The elements in random order: each is drawn from a buffer that is filled up again."""
    most, seeds = int(size), (int(seed), int(seed2))
    if most < 1 and most != UNKNOWN:
        raise invalid('buffer_size must be greater than zero or UNKNOWN_CARDINALITY')
    again = Seeds(seeds) if reshuffle_each_iteration else None

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        generator = (again or Seeds(seeds)).next()
        kept: list[Element] = []
        over = False

        def pull() -> Element:
            nonlocal over
            while not over and (len(kept) < most or most < 0):
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
    return transformed(source, 'Shuffle', begin)


@dataset_op('CacheDatasetV2', stateful=True)
def _cache(source: ElementSource) -> ElementSource:
    """The elements, kept in memory from the first whole reading on."""
    kept: list[tuple[Element, ...]] = []

    def start(reading: DatasetReading, path: str) -> Pull:
        if kept:
            return pull_from(iter(kept[0]))
        upstream = source.open(reading, path + '::MemoryCacheImpl')
        found: list[Element] = []

        def pull() -> Element:
            try:
                element = upstream()
            except EndOfSequence:
                if not kept:
                    kept.append(tuple(found))
                raise
            found.append(element)
            return element
        return pull
    return ElementSource(source.cardinality, start, source.depth + 1)


@dataset_op('PrefetchDataset')
def _prefetch(source: ElementSource, size: Any) -> ElementSource:
    """The elements, got before they are asked for."""
    most = int(size)
    if most < -1:
        raise invalid('buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning')
    return transformed(source, 'Prefetch', lambda upstream, reading, path: open_ahead(
        reading, upstream, most if most > 0 else _AHEAD) if most else upstream)


@dataset_op('AssertCardinalityDataset')
def _assert_cardinality(source: ElementSource, count: Any) -> ElementSource:
    """The elements, said to be so many."""
    expected = int(count)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        number = 0

        def pull() -> Element:
            nonlocal number
            try:
                found = upstream()
            except EndOfSequence:
                if 0 <= number < expected:
                    raise _miscounted(expected, f'only {number}') from None
                raise
            number += 1
            if 0 <= expected < number:
                raise _miscounted(expected, f'at least {number}')
            return found
        return pull
    return transformed(source, 'AssertCardinality', begin, expected)


def _miscounted(expected: int, got: str) -> Exception:
    return FailedPreconditionError(
        None, None, f'Input dataset was expected to contain {expected} elements but contained {got} elements.')
