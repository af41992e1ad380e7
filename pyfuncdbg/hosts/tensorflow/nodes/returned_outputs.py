"""Outputs of a node that its graph's function returns, and their names at the function's callers.

Read when a site is recorded, on the thread of its call.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import prefix, source_tensor


def returned_reader(op: Any) -> Callable[[], list[list[Any]]]:
    """A reader of a node's outputs that the function of its graph returns: [index, the function's name, the names of the
    callers' outputs]. It does not keep the graph alive.
    """
    graph, name = weakref.ref(op.graph), op.name

    def read() -> list[list[Any]]:
        living = graph()
        return _returned_outputs(living, living.get_operation_by_name(name)) if living is not None else []
    return read


def _returned_outputs(graph: Any, op: Any) -> list[list[Any]]:
    sources = [source_tensor(output) for output in getattr(graph, 'outputs', None) or ()]
    outputs: list[list[Any]] = []
    for slot, tensor in enumerate(op.outputs):
        places = [place for place, output in enumerate(sources) if output is tensor]
        if places:
            names = [f'{prefix(node.graph)}{node.outputs[place].name}' for node in callers_in(graph, graph.outer_graph)
                     for place in places if place < len(node.outputs) and not _is_loop_condition(node, graph)]
            outputs.append([slot, str(graph.name), names])
    return outputs


def callers_in(graph: Any, outer: Any) -> Iterator[Any]:
    """The nodes of a graph that call the function of another one."""
    names = _names_of(graph, outer)
    for node in outer.get_operations() if names else ():
        if op_traits(node.type).runs_graph and names.intersection(
                function.name for value in node.node_def.attr.values() for function in (value.func, *value.list.func)):
            yield node


def _names_of(graph: Any, outer: Any) -> set[str]:
    functions = dict(getattr(outer, '_functions', None) or {})
    return {name.decode() if isinstance(name, bytes) else str(name) for name, function in functions.items()
            if getattr(function, 'graph', None) is graph}


def _is_loop_condition(node: Any, graph: Any) -> bool:
    """Whether this function is only the condition of a loop."""
    return node.type in ('While', 'StatelessWhile') and node.node_def.attr['body'].func.name not in _names_of(
        graph, node.graph)
