"""Calls in the order in which values went through them, which is not always that of their times.

A host that runs a graph in one go shows the nodes after that: they come later than the Python calls that took their
values. Works on records; any thread.
"""
from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from pyfuncdbg.observers.debug.inspecting.recorded_graph import site_graph
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

TensorKey = tuple[int, int, int, str]
"""Process, run, number of the graph, and name of a tensor: names are unique within one graph."""


def tensor_key(call: CallRecord, name: str) -> TensorKey:
    """The key of an input or output of a call.

    Args:
        call: The call.
        name: Of the tensor.
    """
    return call.process, call.run, site_graph(call.site), name


def in_data_order(calls: Sequence[CallRecord]) -> list[CallRecord]:
    """Calls with non-finite values, which come in order of time: one whose value only a later call made comes after that.

    In a loop the same tensors come again and again: what was made before, or also before, needs no later one.
    """
    makers: dict[TensorKey, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        for name in _bad(call, call.outputs):
            makers[name].append(place)
    is_placed = [False] * len(calls)
    ordered: list[CallRecord] = []
    for root in range(len(calls)):
        path = [] if is_placed[root] else [(root, _needed_calls(calls, makers, root))]
        is_placed[root] = True
        while path:
            place, needed = path[-1]
            other = next((one for one in needed if not is_placed[one]), None)
            if other is None:
                path.pop()
                ordered.append(calls[place])
            else:
                is_placed[other] = True
                path.append((other, _needed_calls(calls, makers, other)))
    return ordered


def _needed_calls(calls: Sequence[CallRecord], makers: dict[TensorKey, list[int]], place: int) -> Iterator[int]:
    """The calls that made what one took: the last that came before it, or else the first that came after it."""
    for name in _input_names(calls[place]):
        places = makers.get(name, [])
        at = bisect_left(places, place)
        if places and places[at - 1 if at else 0] != place:
            yield places[at - 1 if at else 0]


def _input_names(call: CallRecord) -> list[TensorKey]:
    """A gradient step's inputs have names of the forward pass, or none; a step comes after what it was given."""
    return _bad(call, call.inputs) if call.site.kind in ('python', 'op') else []


def _bad(call: CallRecord, tensors: Sequence[TensorRecord]) -> list[TensorKey]:
    return [tensor_key(call, tensor.name) for tensor in tensors
            if tensor.name and tensor.stats is not None and tensor.stats.bad]
