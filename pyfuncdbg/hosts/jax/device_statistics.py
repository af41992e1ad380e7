"""Statistics of arrays in the memory of a device, made there: some forty numbers are copied instead of the elements.

Dispatched on the thread of a call, which does not wait for them; read on the recorder's. There the first array of each type,
shape and device is dispatched, too: compiling takes tenths of a second.
"""
from __future__ import annotations

import math
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pyfuncdbg.hooks.value_placeholders import OCTAVES, LaterSummary, ValueSummary
from pyfuncdbg.hosts.jax.statistics_program import CATEGORIES, FIRST_BAD, HIGH, LOW, MEAN, SCALE, STD, TOP, array_numbers

NEAR = 'cpu'
"""The platform whose memory is that of this process."""
_PATIENCE, _LEAST_PATIENCE = 2.0, .05
"""Seconds for which statistics are awaited; fewer after those before were not computed in time: a stop in a callback of a
program holds its device back as long as it lasts."""
_MOST_PROGRAMS, _MOST_RECENT = 1 << 10, 64
_LARGEST = 1 << 31                              # elements: they are counted in 32 bits
_EXACT = 1 << 53
"""Integers up to here are doubles."""


def is_far(array: Any) -> bool:
    """Whether a JAX array is in the memory of a device other than the CPU."""
    return any(device.platform != NEAR for device in array.sharding.device_set)


class DeviceStatistics:
    """The compiled programs that make statistics, and their dispatch.

    Attributes:
        patience: Seconds for which the next ones are awaited.
    """

    def __init__(self) -> None:
        self.patience = _PATIENCE
        self._programs: dict[Any, Any] = {}
        self._recent: dict[int, tuple[weakref.ref[Any], LaterSummary]] = {}
        """Summaries of the newest arrays, by id: what an op gives is what the next one gets."""

    def summary(self, array: Any, counted: bool) -> ValueSummary | LaterSummary:
        """The summary of an array in the memory of devices.

        Args:
            array: Also one that is not computed yet.
            counted: Make statistics there.

        Returns:
            Its type and shape, and how its statistics are read later.

        Raises:
            RuntimeError: It is deleted.
        """
        places = sorted(f'{device.platform}:{device.id}' for device in array.sharding.device_set)
        summary = ValueSummary(array.dtype, tuple(array.shape), note=f'on {places[0]}' if len(places) == 1 else
                               f'on {len(places)} devices')
        if array.is_deleted():
            raise RuntimeError('deleted')
        recent = self._recent.get(id(array))
        if counted and recent is not None and recent[0]() is array:
            return recent[1]
        if not counted or not array.size or array.dtype.kind == 'b':
            return summary
        if array.size >= _LARGEST or not _is_counted(array.dtype) or not array.is_fully_addressable:
            return LaterSummary(summary, _refuse)
        shards = array.addressable_shards[:1] if array.is_fully_replicated else array.addressable_shards
        parts = [self._part(shard) for shard in shards if shard.replica_id == 0]
        later = LaterSummary(summary, _Reading(self, summary, parts))
        if len(self._recent) >= _MOST_RECENT:
            self._recent.clear()
        self._recent[id(array)] = weakref.ref(array), later
        return later

    def _part(self, shard: Any) -> _Part:
        """A part, whose numbers are dispatched where they are compiled already."""
        array = shard.data
        program = self._programs.get((array.shape, array.dtype, array.sharding))
        numbers = program(array) if program is not None else partial(self._dispatch, array)
        return shard.index, array.shape, numbers

    def _dispatch(self, array: Any) -> Any:
        """The numbers of an array of one device, as an array there."""
        key = array.shape, array.dtype, array.sharding
        program = self._programs.get(key)
        if program is None:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            jax = sys.modules['jax']
            argument = jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
            # Compiled ahead of time: no hook of ours or the program's sees its dispatch, and no trace takes it in.
            program = self._programs[key] = jax.jit(partial(array_numbers, jax)).lower(argument).compile()
        return program(array)


def _refuse() -> ValueSummary:
    """Refuse to count: an array of too many elements, of another type, or that other processes have parts of."""
    raise ValueError('no statistics of this array')


def _is_counted(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a type have statistics, those of `ml_dtypes` included."""
    return dtype.kind in 'iufc' or (dtype.kind == 'V' and 'float' in dtype.name)


_Part = tuple[tuple[slice, ...], tuple[int, ...], Any]
"""A part of an array that one device has: its index, its shape, and its numbers, which may not be computed yet, or a
function that dispatches them."""


class _Reading:
    """The later reading of statistics, once.

    Args:
        statistics: Dispatches them.
        summary: Without them.
        parts: The parts of the array.
    """

    def __init__(self, statistics: DeviceStatistics, summary: ValueSummary, parts: Sequence[_Part]) -> None:
        self._statistics = statistics
        self._summary = summary
        self._parts: Sequence[_Part] | None = parts

    def __call__(self) -> ValueSummary:
        """The summary with its statistics.

        Raises:
            TimeoutError: They are not computed in time.
            Exception: JAX's, where the array is deleted or what should compute it has failed.
        """
        parts = self._parts
        if parts is None:
            return self._summary
        parts = self._parts = [(index, shape, numbers() if callable(numbers) else numbers)
                               for index, shape, numbers in parts]
        is_computed = _await(parts, time.monotonic() + self._statistics.patience)
        self._statistics.patience = _PATIENCE if is_computed else _LEAST_PATIENCE
        if not is_computed:
            raise TimeoutError('the device makes no statistics now')
        self._summary = _merged(self._summary, [
            _part_statistics(self._summary.dtype, index, shape, numbers._single_device_array_to_np_array_did_copy()[0])
            for index, shape, numbers in parts])
        self._parts = None
        return self._summary


def _await(parts: Sequence[_Part], deadline: float) -> bool:
    """Whether the numbers of all parts are computed in time."""
    pause = .0001
    while not all(numbers.is_ready() for _, _, numbers in parts):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, .01)
    return True


class _Finite(NamedTuple):
    """The finite elements of a part; `bins` is None where their histogram is not known."""

    elements: int
    low: Any
    high: Any
    mean: float
    std: float
    bins: list[int] | None

    @property
    def largest(self) -> float:
        """The largest magnitude."""
        return max(abs(float(self.low)), abs(float(self.high)))


class _PartStatistics(NamedTuple):
    """The statistics of a part: counts of `CATEGORIES`, index of the first bad element in the whole, the finite ones."""

    counts: list[int]
    first_bad: tuple[int, ...] | None
    finite: _Finite | None


def _part_statistics(dtype: np.dtype[Any], index: Sequence[slice], shape: tuple[int, ...],
                     numbers: np.ndarray) -> _PartStatistics:
    counts = numbers[:len(CATEGORIES)].tolist()
    first_bad = None
    if (bad := int(numbers[FIRST_BAD])) >= 0:
        first_bad = tuple(int(at) + (part.start or 0) for at, part in zip(np.unravel_index(bad, shape), index, strict=True))
    count = sum(counts[CATEGORIES.index(name)] for name in ('neg', 'zero', 'pos'))
    if not count:
        return _PartStatistics(counts, first_bad, None)
    low, high = _elements(dtype, numbers[[LOW, HIGH]])
    scale, mean, std = numbers[[SCALE, MEAN, STD]].view(f'f{numbers.dtype.itemsize}').tolist()
    bins = numbers[STD + 1:].tolist()
    # Of denormal numbers, and of integers that no double has, the powers of two are not those of a histogram.
    is_plain = max(abs(low), abs(high)) <= _EXACT if type(low) is int else int(numbers[TOP]) >= OCTAVES or not any(bins)
    return _PartStatistics(counts, first_bad, _Finite(count, low, high, min(max(mean / scale, float(low)), float(high)),
                                                      std / scale, bins if is_plain else None))


def _elements(dtype: np.dtype[Any], orders: np.ndarray) -> list[Any]:
    """The elements that have these places in the order of their type."""
    word = orders.dtype
    if dtype.name.startswith('int'):
        elements = orders
    elif dtype.name.startswith('uint'):
        elements = (orders ^ np.iinfo(word).min).view(f'u{word.itemsize}')
    else:
        elements = (orders ^ ((orders >> (8 * word.itemsize - 1)) & np.iinfo(word).max)).view(f'f{word.itemsize}')
    return elements.tolist()  # type: ignore[no-any-return]


def _merged(summary: ValueSummary, parts: Sequence[_PartStatistics]) -> ValueSummary:
    """The statistics of a whole."""
    counts: dict[str, Any] = dict(zip(CATEGORIES, map(sum, zip(*(part.counts for part in parts), strict=True)), strict=True))
    whole = replace(summary, **counts,
                    first_bad=min((part.first_bad for part in parts if part.first_bad is not None), default=None))
    finite = [part.finite for part in parts if part.finite is not None]
    if not finite:
        return whole
    total = sum(part.elements for part in finite)
    mean = math.fsum(part.mean * (part.elements / total) for part in finite)
    largest = max(part.largest for part in finite) or 1.0
    squares = math.fsum((math.hypot(part.std, part.mean - mean) / largest) ** 2 * (part.elements / total) for part in finite)
    return replace(whole, min=min(part.low for part in finite), max=max(part.high for part in finite), mean=mean,
                   std=math.sqrt(squares) * largest, histogram=_merged_bins(finite))


def _merged_bins(parts: Sequence[_Finite]) -> tuple[int, ...]:
    """One histogram of several, whose bins begin at the largest magnitude of each."""
    top = math.frexp(max(part.largest for part in parts))[1]
    merged = [0] * (2 * OCTAVES)
    for part in parts:
        if part.bins is None:
            return ()
        shift = top - math.frexp(part.largest)[1]
        for place, count in enumerate(part.bins):
            if count:
                side = 0 if place < OCTAVES else 2 * OCTAVES - 1
                merged[abs(side - min(abs(side - place) + shift, OCTAVES - 1))] += count
    return tuple(merged)
