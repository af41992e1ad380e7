"""What the graph around a script op tells: what does not know its shape because of it, and what waits for it for nothing.

Read when a node is called for the first time, its graph being complete then; on the thread of that call.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyfuncdbg.adapters.tensorflow.sites import TYPES

_MOST = 2_000
_NO_SHAPE_NEEDED = TYPES | {'Identity', 'NoOp', 'StopGradient', 'PrintV2', 'StringFormat', 'Assert'}


def node_facts(op: Any) -> dict[str, Any]:
    """Facts of a node, as attributes of its site.

    `shapes` of its outputs as the graph knows them, None for one of unknown rank; for those `shapeless` says how many
    nodes after it know no shape either, and `returns_shapeless` whether the function that it is in returns one. `waits_for`
    names script ops that run before it though it does not need what they give.
    """
    graph = op.graph
    returned = {id(tensor) for tensor in getattr(graph, 'outputs', None) or ()}
    unknown = [tensor for tensor in op.outputs if tensor.shape.rank is None]
    after, ends = _shapeless(unknown, returned)
    facts: dict[str, Any] = {'shapes': [None if tensor.shape.rank is None else tensor.shape.as_list()
                                        for tensor in op.outputs]}
    if unknown:
        facts['shapeless'] = after
        facts['returns_shapeless'] = ends
    before = [control.name for control in op.control_inputs if control.type in TYPES]
    if before:
        needed = {node.name for node in _ancestors(op)}
        idle = [name for name in before if name not in needed]
        if idle:
            facts['waits_for'] = idle
    return facts


def _shapeless(tensors: list[Any], returned: set[int]) -> tuple[int, bool]:
    """How many nodes after these tensors give tensors of unknown rank, and whether such a one is returned."""
    waiting, seen, ends = list(tensors), {id(tensor) for tensor in tensors}, False
    found = set()
    while waiting and len(seen) < _MOST:
        tensor = waiting.pop()
        ends = ends or id(tensor) in returned
        for node in tensor.consumers():
            for output in node.outputs:
                if output.shape.rank is None and node.type not in TYPES and id(output) not in seen:
                    seen.add(id(output))
                    waiting.append(output)
                    if node.type not in _NO_SHAPE_NEEDED:
                        found.add(node.name)
    return len(found), ends


def _ancestors(op: Any) -> Iterator[Any]:
    """The nodes whose values it is made of."""
    waiting, seen = [op], {op.name}
    while waiting and len(seen) < _MOST:
        for tensor in waiting.pop().inputs:
            if tensor.op.name not in seen:
                seen.add(tensor.op.name)
                waiting.append(tensor.op)
                yield tensor.op
