"""What the graph around a script op tells: what does not know its shape because of it, and what waits for it for nothing.

Read when a node is called for the first time, its graph being complete then; on the thread of that call.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyfuncdbg.adapters.tensorflow.sites import TYPES
from pyfuncdbg.hooks.objects import living

_MOST = 2_000
_CALLERS = {'PartitionedCall', 'StatefulPartitionedCall', 'If', 'StatelessIf', 'Case', 'StatelessCase', 'While',
            'StatelessWhile'}
"""Types of nodes that give what functions return, output by output."""
_NO_SHAPE_NEEDED = TYPES | {'Identity', 'NoOp', 'StopGradient', 'PrintV2', 'StringFormat', 'Assert'}


def node_facts(op: Any) -> dict[str, Any]:
    """Facts of a node, as attributes of its site.

    `shapes` of its outputs as the graph knows them, None for one of unknown rank; for those `shapeless` says how many
    nodes after it know no shape either, also in functions that call the one that it is in, `returns_shapeless` whether a
    function returns one, and `elements_shapeless` whether that is a dataset's. `waits_for` names script ops that run
    before it though it does not need what they give.
    """
    unknown = [tensor for tensor in op.outputs if tensor.shape.rank is None]
    facts: dict[str, Any] = {'shapes': [None if tensor.shape.rank is None else tensor.shape.as_list()
                                        for tensor in op.outputs]}
    if unknown:
        facts['shapeless'], ends = _shapeless(unknown)
        facts['returns_shapeless'] = bool(ends)
        facts['elements_shapeless'] = any(name.startswith('Dataset_') for name in ends)
    before = [control.name for control in op.control_inputs if control.type in TYPES]
    if before:
        needed = {node.name for node in _ancestors(op)}
        idle = [name for name in before if name not in needed]
        if idle:
            facts['waits_for'] = idle
    return facts


def _shapeless(tensors: list[Any]) -> tuple[int, set[str]]:
    """How many nodes after these tensors give tensors of unknown rank, and the functions that return such a one."""
    waiting, seen = list(tensors), {id(tensor) for tensor in tensors}
    found: set[tuple[int, str]] = set()
    ends: set[str] = set()
    while waiting and len(seen) < _MOST:
        tensor = waiting.pop()
        after = [(node, output) for node in tensor.consumers() for output in node.outputs]
        slots = [slot for slot, output in enumerate(getattr(tensor.graph, 'outputs', None) or ()) if output is tensor]
        if slots:
            ends.add(str(tensor.graph.name))
            after += [(node, node.outputs[slot]) for node in _callers(tensor.graph) for slot in slots
                      if slot < len(node.outputs)]
        for node, output in after:
            if output.shape.rank is None and node.type not in TYPES and id(output) not in seen:
                seen.add(id(output))
                waiting.append(output)
                if node.type not in _NO_SHAPE_NEEDED | _CALLERS:
                    found.add((id(node.graph), node.name))
    return len(found), ends


def _callers(graph: Any) -> Iterator[Any]:
    """The nodes that call the function of a graph, in the graph in which it was traced or else in all that live."""
    outer = getattr(graph, 'outer_graph', None)
    if outer is None or str(graph.name).startswith('Dataset_'):
        return
    found = list(_calls_of(graph, outer))
    if not found:                               # traced before, perhaps by an eager call
        kind = next(kind for kind in type(graph).__mro__ if kind.__name__ == 'FuncGraph')
        found = [node for other in living() if issubclass(type(other), kind) for node in _calls_of(graph, other)]
    yield from found


def _calls_of(graph: Any, outer: Any) -> Iterator[Any]:
    functions = getattr(outer, '_functions', None) or {}
    names = {name.decode() if isinstance(name, bytes) else str(name) for name, function in dict(functions).items()
             if getattr(function, 'graph', None) is graph}
    for node in outer.get_operations() if names else ():
        if node.type in _CALLERS and names.intersection(
                function.name for value in node.node_def.attr.values() for function in (value.func, *value.list.func)):
            yield node


def _ancestors(op: Any) -> Iterator[Any]:
    """The nodes whose values it is made of."""
    waiting, seen = [op], {op.name}
    while waiting and len(seen) < _MOST:
        for tensor in waiting.pop().inputs:
            if tensor.op.name not in seen:
                seen.add(tensor.op.name)
                waiting.append(tensor.op)
                yield tensor.op
