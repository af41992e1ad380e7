"""Functions over elements: map, filter, take_while, scan, flat_map, interleave.

`ParallelMap` calls its function on threads of its own; see `parallel`.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.function import ElementFunction, ElementStep
from pyfuncdbg.hosts.numpy.ops.data.parallel import open_parallel as opened_in_parallel
from pyfuncdbg.hosts.numpy.ops.data.source import (
    AUTOTUNE,
    INFINITE,
    UNKNOWN,
    DatasetReading,
    Element,
    ElementSource,
    EndOfSequence,
    Pull,
    dataset_op,
)
from pyfuncdbg.hosts.numpy.ops.data.structure import check_state
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def map_dataset(dataset: Any, map_func: Callable[..., Any], num_parallel_calls: Any, deterministic: bool | None,
                name: str | None) -> Any:
    """A function of each element, on threads if their number is given.

    Raises:
        InvalidArgumentError: The function returns nothing.
    """
    function = ElementFunction(map_func, (dataset.element_spec,), 'Dataset.map()')
    if not structure.types_of(function.spec):
        raise InvalidArgumentError(None, None, "Length for attr 'output_types' of 0 must be at least minimum 1\n\t; "
                                               'NodeDef: {{node MapDataset}} [Op:MapDataset] name: ')
    if num_parallel_calls is None:
        return dataset._derived('MapDataset', function.spec, '_MapDataset', *function.captured, name=name,
                                **function.attrs())
    threads = convert_to_tensor(num_parallel_calls, dtypes.int64, name='num_parallel_calls')
    if deterministic is None:
        deterministic = dataset._set_options.deterministic
    told = b'default' if deterministic is None else str(bool(deterministic)).lower().encode()
    return dataset._derived('ParallelMapDatasetV2', function.spec, '_ParallelMapDataset', *function.captured, threads,
                            name=name, deterministic=told, **function.attrs())


def filter_dataset(dataset: Any, predicate: Callable[..., Any], name: str | None) -> Any:
    """The elements for which a function gives True."""
    function = ElementFunction(predicate, (dataset.element_spec,), 'Dataset.filter()')
    _check_predicate(function.spec)
    return dataset._derived('FilterDataset', dataset.element_spec, '_FilterDataset', *function.captured, name=name,
                            **function.attrs('predicate'))


def take_while(dataset: Any, predicate: Callable[..., Any], name: str | None) -> Any:
    """The elements before the first for which a function gives False."""
    function = ElementFunction(predicate, (dataset.element_spec,), 'Dataset.take_while()')
    _check_predicate(function.spec, ' but its return type is')
    return dataset._derived('TakeWhileDataset', dataset.element_spec, '_TakeWhileDataset', *function.captured, name=name,
                            **function.attrs('predicate'))


def flat_map(dataset: Any, map_func: Callable[..., Any], name: str | None) -> Any:
    """The elements of the datasets that a function gives."""
    function = ElementFunction(map_func, (dataset.element_spec,), 'Dataset.flat_map()')
    spec = _inner_spec(function, '`flat_map`' if name else 'flat_map')
    return dataset._derived('FlatMapDataset', spec, '_FlatMapDataset', *function.captured, name=name, **function.attrs())


def interleave(dataset: Any, map_func: Callable[..., Any], cycle_length: Any, block_length: Any, num_parallel_calls: Any,
               name: str | None) -> Any:
    """The elements of several of those datasets in turn."""
    function = ElementFunction(map_func, (dataset.element_spec,), 'Dataset.interleave()')
    spec = _inner_spec(function, 'interleave')
    cycle = 1 if cycle_length is None or cycle_length == AUTOTUNE else cycle_length
    if num_parallel_calls is not None and (cycle_length is None or cycle_length == AUTOTUNE):
        cycle = 10
    counts = [convert_to_tensor(value, dtypes.int64, name=name_of) for name_of, value in
              (('cycle_length', cycle), ('block_length', 1 if block_length is None else block_length))]
    return dataset._derived('InterleaveDataset', spec, '_InterleaveDataset', *function.captured, *counts, name=name,
                            **function.attrs())


def _check_predicate(spec: Any, but: str = ', but its return type is ') -> None:
    if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.bool or not spec.shape.is_compatible_with(()):
        raise ValueError(f'Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor{but}{spec}.')


def _inner_spec(function: ElementFunction, what: str) -> Any:
    spec = function.spec
    if not isinstance(spec, structure.VariantSpec) or spec.kind != 'DatasetSpec':
        raise TypeError(f'The `map_func` argument must return a `Dataset` object. Got {type(function.structure)!r}.')
    return spec.element_spec


def scan(dataset: Any, initial_state: Any, function: Any, name: str | None) -> Any:
    """A function from (state, element) to (new state, output).

    Raises:
        TypeError: It does not return two things, or a state of another kind.
    """
    state = structure.as_element(initial_state)
    spec = structure.map_structure(structure.spec_of, state)
    traced = ElementFunction(function, (spec, dataset.element_spec), 'Dataset.scan()', unpacked=False)
    if not isinstance(traced.spec, tuple) or len(traced.spec) != 2:
        raise TypeError('Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value '
                        f'but its return type is {traced.spec}.')
    check_state(spec, traced.spec[0], 'Invalid `scan_func`. ', ', got')
    flat = structure.tensors_of(state)
    return dataset._derived('ScanDataset', traced.spec[1], '_ScanDataset', *flat, *traced.captured, name=name,
                            _py_states=len(flat), **traced.attrs())


@dataclass(frozen=True, slots=True, eq=False)
class MapSource:
    """A function of each element."""

    source: ElementSource
    step: ElementStep
    depth: int

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
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
class ParallelMapSource:
    """Results of the function on several threads; in the elements' order unless `ordered` is False."""

    source: ElementSource
    step: ElementStep
    depth: int
    threads: int
    ordered: bool

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
        path += '::ParallelMapV2'
        step = self.step
        return opened_in_parallel(reading, self.source.open(reading, path), self.threads, self.ordered,
                                  lambda index, element: step(reading, path, index, element))


@dataclass(frozen=True, slots=True, eq=False)
class FilterSource:
    """Elements for which a function gives True; with `whole`, only those before the first for which it does not."""

    source: ElementSource
    step: ElementStep
    depth: int
    whole: bool = False

    def cardinality(self) -> int:
        return UNKNOWN if self.source.cardinality() != INFINITE or self.whole else INFINITE

    def open(self, reading: DatasetReading, path: str) -> Pull:
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
class ScanSource:
    """A function from (state, element) to (state, output)."""

    source: ElementSource
    step: ElementStep
    depth: int
    initial: Element

    def cardinality(self) -> int:
        return self.source.cardinality()

    def open(self, reading: DatasetReading, path: str) -> Pull:
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

    def __init__(self, reading: DatasetReading, path: str, number: int, source: ElementSource) -> None:
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
class InterleaveSource:
    """The elements of the datasets that a function gives: of `cycle` of them in turn, `block` at a time."""

    source: ElementSource
    step: ElementStep
    depth: int
    cycle: int
    block: int
    name: str

    def cardinality(self) -> int:
        return UNKNOWN

    def open(self, reading: DatasetReading, path: str) -> Pull:
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


def _map(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> MapSource:
    return MapSource(source, ElementStep(_py_trace, captured, 'Map', source.depth + 1), source.depth + 1)


def _parallel_map(source: ElementSource, *rest: Any, _py_trace: TracedFunction,
                  deterministic: Any = b'default') -> ParallelMapSource:
    *captured, threads = rest
    if int(threads) < 1 and int(threads) != -1:     # -1: AUTOTUNE
        raise invalid('num_parallel_calls must be greater than zero.')
    return ParallelMapSource(source, ElementStep(_py_trace, captured, 'ParallelMap', source.depth + 1), source.depth + 1,
                             int(threads),
                             deterministic != b'false')


def _filter(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> FilterSource:
    return FilterSource(source, ElementStep(_py_trace, captured, 'Filter', source.depth + 1), source.depth + 1)


def _take_while(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> FilterSource:
    return FilterSource(source, ElementStep(_py_trace, captured, 'TakeWhile', source.depth + 1), source.depth + 1, True)


def _scan(source: ElementSource, *rest: Any, _py_trace: TracedFunction, _py_states: int) -> ScanSource:
    step = ElementStep(_py_trace, rest[_py_states:], 'Scan', source.depth + 1)
    return ScanSource(source, step, source.depth + 1, tuple(rest[:_py_states]))


def _flat_map(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> InterleaveSource:
    return InterleaveSource(source, ElementStep(_py_trace, captured, 'FlatMap', source.depth + 1), source.depth + 1, 1, 1,
                            'FlatMap')


def _interleave(source: ElementSource, *rest: Any, _py_trace: TracedFunction) -> InterleaveSource:
    *captured, cycle, block = rest
    for name, value in (('cycle_length', cycle), ('block_length', block)):
        if int(value) < 1:
            raise invalid(f'{name} must be greater than zero.')
    return InterleaveSource(source, ElementStep(_py_trace, captured, 'Interleave', source.depth + 1), source.depth + 1,
                            int(cycle),
                            int(block), 'Interleave')


dataset_op('MapDataset', _map, '_py_trace')
dataset_op('ParallelMapDatasetV2', _parallel_map, '_py_trace', 'deterministic')
dataset_op('FilterDataset', _filter, '_py_trace')
dataset_op('TakeWhileDataset', _take_while, '_py_trace')
dataset_op('ScanDataset', _scan, '_py_trace', '_py_states')
dataset_op('FlatMapDataset', _flat_map, '_py_trace')
dataset_op('InterleaveDataset', _interleave, '_py_trace')
