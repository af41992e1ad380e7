"""Functions over elements: map, filter, take_while, scan, flat_map, interleave.

`ParallelMap` calls its function on threads of its own; see `parallel`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.function import ElementFunction, ElementStep
from pyfuncdbg.hosts.numpy.ops.data.parallel import open_parallel
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
    transformed,
)
from pyfuncdbg.hosts.numpy.ops.data.structure import check_state
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def map_dataset(self: Any, map_func: Callable[..., Any], num_parallel_calls: Any = None,
                deterministic: bool | None = None, synchronous: bool | None = None, use_unbounded_threadpool: bool = False,
                name: str | None = None) -> Any:
    """The results of a function for each element; with `num_parallel_calls` on that many threads, in order unless
    `deterministic` is False.

    Raises:
        InvalidArgumentError: The function returns None.
    """
    function = ElementFunction(map_func, (self.element_spec,), 'Dataset.map()')
    if not structure.types_of(function.spec):
        raise InvalidArgumentError(None, None, "Length for attr 'output_types' of 0 must be at least minimum 1\n\t; "
                                               'NodeDef: {{node MapDataset}} [Op:MapDataset] name: ')
    if num_parallel_calls is None:
        return self._derived('MapDataset', function.spec, '_MapDataset', *function.captured, name=name,
                                **function.attrs())
    threads = convert_to_tensor(num_parallel_calls, dtypes.int64, name='num_parallel_calls')
    if deterministic is None:
        deterministic = self._set_options.deterministic
    order_attr = b'default' if deterministic is None else str(bool(deterministic)).lower().encode()
    return self._derived('ParallelMapDatasetV2', function.spec, '_ParallelMapDataset', *function.captured, threads,
                            name=name, deterministic=order_attr, **function.attrs())


def filter_dataset(self: Any, predicate: Callable[..., Any], name: str | None = None) -> Any:
    """The elements for which a function gives True."""
    function = ElementFunction(predicate, (self.element_spec,), 'Dataset.filter()')
    _check_predicate(function.spec)
    return self._derived('FilterDataset', self.element_spec, '_FilterDataset', *function.captured, name=name,
                            **function.attrs('predicate'))


def take_while(self: Any, predicate: Callable[..., Any], name: str | None = None) -> Any:
    """The elements before the first for which a function gives False."""
    function = ElementFunction(predicate, (self.element_spec,), 'Dataset.take_while()')
    _check_predicate(function.spec, ' but its return type is')
    return self._derived('TakeWhileDataset', self.element_spec, '_TakeWhileDataset', *function.captured, name=name,
                            **function.attrs('predicate'))


def flat_map(self: Any, map_func: Callable[..., Any], name: str | None = None) -> Any:
    """The elements of the datasets that a function gives, one after the other."""
    function = ElementFunction(map_func, (self.element_spec,), 'Dataset.flat_map()')
    spec = _inner_spec(function, '`flat_map`' if name else 'flat_map')
    return self._derived('FlatMapDataset', spec, '_FlatMapDataset', *function.captured, name=name, **function.attrs())


def interleave(self: Any, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
               num_parallel_calls: Any = None, deterministic: bool | None = None, name: str | None = None) -> Any:
    """The elements of `cycle_length` of those datasets in turn, `block_length` at a time."""
    function = ElementFunction(map_func, (self.element_spec,), 'Dataset.interleave()')
    spec = _inner_spec(function, 'interleave')
    cycle = 1 if cycle_length is None or cycle_length == AUTOTUNE else cycle_length
    if num_parallel_calls is not None and (cycle_length is None or cycle_length == AUTOTUNE):
        cycle = 10
    counts = [convert_to_tensor(value, dtypes.int64, name=name_of) for name_of, value in
              (('cycle_length', cycle), ('block_length', 1 if block_length is None else block_length))]
    return self._derived('InterleaveDataset', spec, '_InterleaveDataset', *function.captured, *counts, name=name,
                            **function.attrs())


def _check_predicate(spec: Any, but: str = ', but its return type is ') -> None:
    if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.bool or not spec.shape.is_compatible_with(()):
        raise ValueError(f'Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor{but}{spec}.')


def _inner_spec(function: ElementFunction, what: str) -> Any:
    spec = function.spec
    if not isinstance(spec, structure.VariantSpec) or spec.kind != 'DatasetSpec':
        raise TypeError(f'The `map_func` argument must return a `Dataset` object. Got {type(function.structure)!r}.')
    return spec.element_spec


def scan(self: Any, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
    """A function from (state, element) to (new state, output), element by element.

    Raises:
        TypeError: It returns no pair, or a state of another structure.
    """
    state = structure.as_element(initial_state)
    spec = structure.map_structure(structure.spec_of, state)
    traced = ElementFunction(scan_func, (spec, self.element_spec), 'Dataset.scan()', unpacked=False)
    if not isinstance(traced.spec, tuple) or len(traced.spec) != 2:
        raise TypeError('Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value '
                        f'but its return type is {traced.spec}.')
    check_state(spec, traced.spec[0], 'Invalid `scan_func`. ', ', got')
    flat = structure.tensors_of(state)
    return self._derived('ScanDataset', traced.spec[1], '_ScanDataset', *flat, *traced.captured, name=name,
                            _py_states=len(flat), **traced.attrs())


def _following(step: ElementStep, upstream: Pull, reading: DatasetReading,
               path: str) -> Callable[[], tuple[int, Element, Element]]:
    """A function that returns the next index, the element and the result of the user's function for it."""
    index = -1

    def following() -> tuple[int, Element, Element]:
        nonlocal index
        element = upstream()
        index += 1
        return index, element, step(reading, path, index, element)
    return following


@dataset_op('MapDataset', '_py_trace')
def _map(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> ElementSource:
    """A function of each element."""
    step = ElementStep(_py_trace, captured, 'Map', source.depth + 1)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        following = _following(step, upstream, reading, path)
        return lambda: following()[2]
    return transformed(source, 'Map', begin)


@dataset_op('ParallelMapDatasetV2', '_py_trace', 'deterministic')
def _parallel_map(source: ElementSource, *rest: Any, _py_trace: TracedFunction,
                  deterministic: Any = b'default') -> ElementSource:
    """Results of the function on several threads, in the elements' order if `deterministic`."""
    *captured, threads = rest
    if int(threads) < 1 and int(threads) != -1:     # -1: AUTOTUNE
        raise invalid('num_parallel_calls must be greater than zero.')
    step = ElementStep(_py_trace, captured, 'ParallelMap', source.depth + 1)
    return transformed(source, 'ParallelMapV2', lambda upstream, reading, path: open_parallel(
        reading, upstream, int(threads), deterministic != b'false',
        lambda index, element: step(reading, path, index, element)))


@dataset_op('FilterDataset', '_py_trace')
def _filter(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> ElementSource:
    """Elements for which a function gives True."""
    step = ElementStep(_py_trace, captured, 'Filter', source.depth + 1)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        following = _following(step, upstream, reading, path)

        def pull() -> Element:
            while True:
                _, element, predicate = following()
                if predicate[0]:
                    return element
        return pull
    return transformed(source, 'Filter', begin, INFINITE if source.cardinality == INFINITE else UNKNOWN)


@dataset_op('TakeWhileDataset', '_py_trace')
def _take_while(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> ElementSource:
    """The elements before the first for which a function does not give True."""
    step = ElementStep(_py_trace, captured, 'TakeWhile', source.depth + 1)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        following = _following(step, upstream, reading, path)
        over = False

        def pull() -> Element:
            nonlocal over
            if not over:
                _, element, predicate = following()
                if predicate[0]:
                    return element
                over = True
            raise EndOfSequence
        return pull
    return transformed(source, 'TakeWhile', begin, UNKNOWN)


@dataset_op('ScanDataset', '_py_trace', '_py_states')
def _scan(source: ElementSource, *rest: Any, _py_trace: TracedFunction, _py_states: int) -> ElementSource:
    """A function from (state, element) to (state, output)."""
    step = ElementStep(_py_trace, rest[_py_states:], 'Scan', source.depth + 1)

    def begin(upstream: Pull, reading: DatasetReading, path: str) -> Pull:
        index, state = -1, rest[:_py_states]

        def pull() -> Element:
            nonlocal index, state
            element = upstream()
            index += 1
            results = step(reading, path, index, (*state, *element))
            state = results[:_py_states]
            return results[_py_states:]
        return pull
    return transformed(source, 'Scan', begin)


@dataset_op('FlatMapDataset', '_py_trace')
def _flat_map(source: ElementSource, *captured: Any, _py_trace: TracedFunction) -> ElementSource:
    """The elements of the datasets that a function gives, one after the other."""
    return _interleaved(source, captured, _py_trace, 'FlatMap', 1, 1)


@dataset_op('InterleaveDataset', '_py_trace')
def _interleave(source: ElementSource, *rest: Any, _py_trace: TracedFunction) -> ElementSource:
    """The elements of several of the datasets that a function gives, in turn."""
    *captured, cycle, block = rest
    for name, value in (('cycle_length', cycle), ('block_length', block)):
        if int(value) < 1:
            raise invalid(f'{name} must be greater than zero.')
    return _interleaved(source, captured, _py_trace, 'Interleave', int(cycle), int(block))


def _interleaved(source: ElementSource, captured: Sequence[Any], trace: TracedFunction, kind: str, cycle: int,
                 block: int) -> ElementSource:
    """The elements of `cycle` of the datasets in turn, `block` at a time."""
    step = ElementStep(trace, captured, kind, source.depth + 1)
    return transformed(source, kind, lambda upstream, reading, path: _Interleaving(
        step, upstream, reading, path, cycle, block).pull, UNKNOWN)


class _Interleaving:
    """Reading of several datasets in turn."""

    def __init__(self, step: ElementStep, upstream: Pull, reading: DatasetReading, path: str, cycle: int,
                 block: int) -> None:
        self._following = _following(step, upstream, reading, path)
        self._reading, self._path = reading, path
        self._slots: list[tuple[DatasetReading, Pull] | None] = [None] * cycle
        self._block = block
        self._place = self._block_count = 0
        self._over = False

    def pull(self) -> Element:
        """The next element."""
        while not self._over or any(self._slots):
            inner = self._inner()
            if inner is None:
                self._go_on()
                continue
            try:
                element = inner[1]()
            except EndOfSequence:
                self._reading.forget(inner[0])
                self._slots[self._place] = None     # TensorFlow opens the next dataset in the same slot when it is due again
                self._go_on()
                continue
            self._block_count += 1
            if self._block_count == self._block:
                self._go_on()
            return element
        raise EndOfSequence

    def _go_on(self) -> None:
        self._place, self._block_count = (self._place + 1) % len(self._slots), 0

    def _inner(self) -> tuple[DatasetReading, Pull] | None:
        """The dataset that is being read in the current slot, or the next one there."""
        if self._slots[self._place] is None and not self._over:
            try:
                index, _, (source,) = self._following()
            except EndOfSequence:
                self._over = True
                return None
            reading = self._reading.within()
            self._slots[self._place] = reading, source.open(reading, f'{self._path}[{index}]')
        return self._slots[self._place]
