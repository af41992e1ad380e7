"""Functions over elements: map, filter, take_while, scan, flat_map, interleave, and generators.

`ParallelMap` calls its function on threads of its own; see `parallel`.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.numpy.ops.data.function import Step
from pyfuncdbg.hosts.numpy.ops.data.parallel import opened as opened_in_parallel
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE, UNKNOWN, Element, EndOfSequence, Pull, Reading, Source
from pyfuncdbg.hosts.numpy.ops.data.sources import dataset_op
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import Traced


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """A function of each element."""

    source: Source
    step: Step
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: Reading, path: str) -> Pull:
        path += '::Map'
        upstream, step = self.source.open(reading, path), self.step
        index = -1

        def pull() -> Element:
            nonlocal index
            element = upstream()
            index += 1
            return step(reading, path, index, element)
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class ParallelMapped:
    """The same on several threads; in the elements' order unless `ordered` is False."""

    source: Source
    step: Step
    depth: int
    threads: int
    ordered: bool

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: Reading, path: str) -> Pull:
        path += '::ParallelMapV2'
        step = self.step
        return opened_in_parallel(reading, self.source.open(reading, path), self.threads, self.ordered,
                                  lambda index, element: step(reading, path, index, element))


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """The elements for which a function gives True; with `whole`, only those before the first for which it does not."""

    source: Source
    step: Step
    depth: int
    whole: bool = False

    def cardinality(self) -> int:
        return UNKNOWN if self.source.cardinality() != INFINITE or self.whole else INFINITE

    def open(self, reading: Reading, path: str) -> Pull:
        path += '::TakeWhile' if self.whole else '::Filter'
        upstream, step = self.source.open(reading, path), self.step
        index = -1
        over = False

        def pull() -> Element:
            nonlocal index, over
            while not over:
                element = upstream()
                index += 1
                if step(reading, path, index, element)[0]:
                    return element
                over = self.whole
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """A function from (state, element) to (state, output)."""

    source: Source
    step: Step
    depth: int
    initial: Element

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: Reading, path: str) -> Pull:
        path += '::Scan'
        upstream, step, count = self.source.open(reading, path), self.step, len(self.initial)
        index, state = -1, self.initial

        def pull() -> Element:
            nonlocal index, state
            element = upstream()
            index += 1
            found = step(reading, path, index, (*state, *element))
            state = found[:count]
            return found[count:]
        return pull


class _Inner:
    """The dataset that a function gave for one element, being read."""

    __slots__ = ('_outer', '_pull', '_reading')

    def __init__(self, reading: Reading, path: str, number: int, source: Source) -> None:
        self._outer = reading
        self._reading = reading.within()
        self._pull = source.open(self._reading, f'{path}[{number}]')

    def next(self) -> Element | None:
        try:
            return self._pull()
        except EndOfSequence:
            self._outer.forget(self._reading)
            return None


@dataclass(frozen=True, slots=True, eq=False)
class Interleaved:
    """The elements of the datasets that a function gives: of `cycle` of them in turn, `block` at a time."""

    source: Source
    step: Step
    depth: int
    cycle: int
    block: int
    name: str

    def cardinality(self) -> int:
        return UNKNOWN

    def open(self, reading: Reading, path: str) -> Pull:
        path += f'::{self.name}'
        upstream, step = self.source.open(reading, path), self.step
        slots: list[_Inner | None] = [None] * self.cycle
        place = taken = 0
        index = -1
        over = False

        def filled(slot: int) -> _Inner | None:
            nonlocal index, over
            if slots[slot] is None and not over:
                try:
                    element = upstream()
                except EndOfSequence:
                    over = True
                    return None
                index += 1
                slots[slot] = _Inner(reading, path, index, step(reading, path, index, element)[0])
            return slots[slot]

        def pull() -> Element:
            nonlocal place, taken
            while not over or any(slots):
                inner = filled(place)
                found = None if inner is None else inner.next()
                if found is not None:
                    taken += 1
                    if taken == self.block:
                        place, taken = (place + 1) % self.cycle, 0
                    return found
                if inner is None:
                    place = (place + 1) % self.cycle
                else:
                    slots[place] = None         # TensorFlow opens the next dataset in the same slot when it is due again
                    place = (place + 1) % self.cycle if self.cycle > 1 else 0
                taken = 0
            raise EndOfSequence
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Windows of `size` elements, as datasets; the next one begins `shift` elements later and takes every `stride`-th."""

    source: Source
    size: int
    shift: int
    stride: int
    whole_only: bool
    depth: int

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count < 0:
            return count
        span = (self.size - 1) * self.stride + 1 if self.whole_only else 1
        return max(0, (count - span) // self.shift + 1) if count >= span else 0

    def open(self, reading: Reading, path: str) -> Pull:
        upstream = self.source.open(reading, path + '::Window')
        span = (self.size - 1) * self.stride + 1
        kept: deque[Element] = deque()
        skipping = 0
        over = False

        def fill() -> None:
            nonlocal skipping, over
            while not over and len(kept) < span:
                try:
                    element = upstream()
                except EndOfSequence:
                    over = True
                    return
                if skipping:
                    skipping -= 1
                else:
                    kept.append(element)

        def pull() -> Element:
            nonlocal skipping
            fill()
            if not kept or (self.whole_only and len(kept) < span):
                raise EndOfSequence
            rows = list(kept)[:span:self.stride]
            for _ in range(min(self.shift, len(kept))):
                kept.popleft()
            skipping += max(0, self.shift - span)
            return tuple(Rows(tuple((row[i],) for row in rows)) for i in range(len(rows[0])))
        return pull


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Elements that are there."""

    rows: Sequence[Element]
    depth: int = 0

    def cardinality(self) -> int:
        return len(self.rows)

    def open(self, reading: Reading, path: str) -> Pull:
        rows = iter(self.rows)

        def pull() -> Element:
            for found in rows:
                return found
            raise EndOfSequence
        return pull


def _map(source: Source, *captured: Any, _py_trace: Traced) -> Mapped:
    return Mapped(source, Step(_py_trace, captured, 'Map', source.depth + 1), source.depth + 1)


def _parallel_map(source: Source, *rest: Any, _py_trace: Traced, deterministic: Any = b'default') -> ParallelMapped:
    *captured, threads = rest
    if int(threads) < 1 and int(threads) != -1:     # -1: AUTOTUNE
        raise invalid('num_parallel_calls must be greater than zero.')
    return ParallelMapped(source, Step(_py_trace, captured, 'ParallelMap', source.depth + 1), source.depth + 1, int(threads),
                          deterministic != b'false')


def _filter(source: Source, *captured: Any, _py_trace: Traced) -> Filtered:
    return Filtered(source, Step(_py_trace, captured, 'Filter', source.depth + 1), source.depth + 1)


def _take_while(source: Source, *captured: Any, _py_trace: Traced) -> Filtered:
    return Filtered(source, Step(_py_trace, captured, 'TakeWhile', source.depth + 1), source.depth + 1, True)


def _scan(source: Source, *rest: Any, _py_trace: Traced, _py_states: int) -> Scanned:
    step = Step(_py_trace, rest[_py_states:], 'Scan', source.depth + 1)
    return Scanned(source, step, source.depth + 1, tuple(rest[:_py_states]))


def _flat_map(source: Source, *captured: Any, _py_trace: Traced) -> Interleaved:
    return Interleaved(source, Step(_py_trace, captured, 'FlatMap', source.depth + 1), source.depth + 1, 1, 1, 'FlatMap')


def _interleave(source: Source, *rest: Any, _py_trace: Traced) -> Interleaved:
    *captured, cycle, block = rest
    for name, value in (('cycle_length', cycle), ('block_length', block)):
        if int(value) < 1:
            raise invalid(f'{name} must be greater than zero.')
    return Interleaved(source, Step(_py_trace, captured, 'Interleave', source.depth + 1), source.depth + 1, int(cycle),
                       int(block), 'Interleave')


def _window(source: Source, size: Any, shift: Any, stride: Any, drop: Any) -> Grouped:
    for name, value in (('size', size), ('shift', shift), ('stride', stride)):
        if int(value) < 1:
            raise invalid(f'Window {name} must be greater than zero.')
    return Grouped(source, int(size), int(shift), int(stride), bool(drop), source.depth + 1)


dataset_op('MapDataset', _map, '_py_trace')
dataset_op('ParallelMapDatasetV2', _parallel_map, '_py_trace', 'deterministic')
dataset_op('FilterDataset', _filter, '_py_trace')
dataset_op('TakeWhileDataset', _take_while, '_py_trace')
dataset_op('ScanDataset', _scan, '_py_trace', '_py_states')
dataset_op('FlatMapDataset', _flat_map, '_py_trace')
dataset_op('InterleaveDataset', _interleave, '_py_trace')
dataset_op('WindowDataset', _window)
