"""Shape facts around a Python function's node, in its graph and in its function's callers.

Read for `doctor`, when calls have ended, on their threads, and when facts are gathered.
"""
from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.graph_context import SURROUNDINGS, output_shape_facts
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import Branches
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.functions.compilation import parts_of
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def readable(op: Operation) -> dict[str, Any]:
    """A reader of a node's facts, as an attribute of its site; it does not keep the graph."""
    return {SURROUNDINGS: partial(_read, weakref.ref(op))}


def _read(reference: weakref.ref[Operation]) -> dict[str, Any]:
    op = reference()
    return {} if op is None else output_shape_facts(op.outputs, _Functions().returned)


class _Functions:
    """The functions and graphs that live, as far as one reading needs them."""

    def __init__(self) -> None:
        self._traces: list[TracedFunction] | None = None
        self._graphs: list[Graph] = []

    def returned(self, tensor: Any) -> Iterator[tuple[str, list[Any]]]:
        """The functions that return a tensor, and what their callers get."""
        if not tensor.graph.building_function:
            return
        if self._traces is None:
            self._traces = find_objects(*class_and_subclasses(TracedFunction))
            self._graphs = find_objects(*class_and_subclasses(Graph))
        for trace in self._traces:
            slots = [slot for slot, output in enumerate(trace.outputs) if output is tensor]
            if slots:
                yield trace.short_name, [node.outputs[slot] for node, slot in self._given(trace, slots)]

    def _given(self, trace: TracedFunction, slots: Sequence[int]) -> Iterator[tuple[Operation, int]]:
        """Nodes that run a function, and the slots in which they give what it returns in those."""
        for graph in self._graphs:
            for node in graph.operations:
                for value in node.attrs.values():
                    if any(part is trace for part in parts_of(value)):
                        yield from ((node, slot) for slot in _slots(value, trace, slots) if slot < len(node.outputs))


def _slots(value: Any, trace: TracedFunction, slots: Sequence[int]) -> Iterator[int]:
    if isinstance(value, Branches):
        for branch, results in zip(value.branches, value.results, strict=True):
            yield from (i for i, place in enumerate(results) if branch is trace and place in slots)
    elif isinstance(value, Loop):
        if value.body is trace:
            yield from (2 + i for i, place in enumerate(value.next) if place in slots)
    else:
        yield from slots
