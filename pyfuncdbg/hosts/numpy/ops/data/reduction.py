"""Reductions of a whole dataset: its number of elements, `reduce`, its only element."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, no_gradient, register
from pyfuncdbg.hosts.numpy.ops.data import structure
from pyfuncdbg.hosts.numpy.ops.data.function import ElementFunction, ElementStep
from pyfuncdbg.hosts.numpy.ops.data.iterator import output_attrs
from pyfuncdbg.hosts.numpy.ops.data.source import DatasetReading, Element, ElementSource, EndOfSequence
from pyfuncdbg.hosts.numpy.ops.data.structure import check_state
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def cardinality(self: Any) -> Any:
    """The number of elements, as a tensor; -1: infinitely many, -2: unknown."""
    return apply('DatasetCardinality', (self._variant_tensor,))


def reduce_dataset(self: Any, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
    """The last state of a function from (state, element) to the next state; shapes may become less specific from one to the
    next."""
    state = structure.as_element(initial_state)
    spec = structure.map_structure(structure.spec_of, state)
    while True:
        traced = ElementFunction(reduce_func, (spec, self.element_spec), 'Dataset.reduce()', unpacked=False)
        check_state(spec, traced.spec, '', ' but got')
        wider = structure.narrowest_for_both(spec, traced.spec)
        if wider == spec:
            break
        spec = wider
    flat = structure.tensors_of(state)
    results = apply('ReduceDataset', (self._variant_tensor, *flat, *traced.captured),
                    {**traced.attrs(), **output_attrs(spec), '_py_states': len(flat)}, name)
    return structure.element_of(spec, results)


def get_single_element(self: Any, name: str | None = None) -> Any:
    """The element of a dataset that has just one.

    Raises:
        InvalidArgumentError: It has none, or more.
    """
    flat = apply('DatasetToSingleElement', (self._variant_tensor,), output_attrs(self.element_spec), name)
    return structure.element_of(self.element_spec, flat)


def _types(inputs: Any, attrs: Attrs) -> list[Output]:
    return list(zip(attrs['output_types'], attrs['output_shapes'], strict=True))


def _reduce(execution: Execution, source: ElementSource, *rest: Any, _py_trace: TracedFunction, _py_states: int,
            owned: Any = ()) -> Element:
    state = tuple(rest[:_py_states])
    step = ElementStep(_py_trace, rest[_py_states:], 'Reduce', source.depth + 1)
    reading = DatasetReading(execution)
    try:
        pull = source.open(reading, 'Iterator::Root')
        index = 0
        while True:
            try:
                element = pull()
            except EndOfSequence:
                return state
            state = step(reading, 'Iterator::Root', index, (*state, *element))
            index += 1
    finally:
        reading.close()


def _single(execution: Execution, source: ElementSource, owned: Any = ()) -> Element:
    reading = DatasetReading(execution)
    try:
        pull = source.open(reading, 'Iterator::Root')
        try:
            element = pull()
        except EndOfSequence:
            raise invalid('Dataset was empty.') from None
        try:
            pull()
        except EndOfSequence:
            return element
        raise invalid('Dataset had more than one element.')
    finally:
        reading.close()


register(OpDef('ReduceDataset', _reduce, _types, no_gradient, outputs=-1, stateful=True, in_execution=True, python=True,
               kernel_attrs=('_py_trace', '_py_states'), retains=True))
register(OpDef('DatasetToSingleElement', _single, _types, outputs=-1, stateful=True, in_execution=True,
               python=True, retains=True))
