"""Unique names of nodes and tensors in traced functions, their branches, loops and callees.

TensorFlow's own names are unique within one graph only. Used for op calls and the sites of wrapped functions.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def outermost(graph: Any) -> Any:
    """The graph of the function that the program calls, around this graph."""
    while is_function(outer := getattr(graph, 'outer_graph', None)):
        graph = outer
    return graph


def is_function(graph: Any) -> bool:
    """Whether it is the graph of a function: only those list the nodes that run for their effects."""
    return graph is not None and hasattr(graph, 'control_outputs')


def reached_graphs(graph: Any) -> Iterator[Any]:
    """The outermost graphs of a function and of all that it calls, directly or not; each once."""
    graphs: dict[int, Any] = {}
    roots: dict[int, Any] = {}
    stack = [graph]
    while stack:
        inner = stack.pop()
        if inner is None or id(inner) in graphs:
            continue
        graphs[id(inner)] = inner
        root = outermost(inner)
        roots[id(root)] = root
        stack += [getattr(function, '_cached_graph', None) for function in getattr(inner, '_functions', {}).values()]
    yield from roots.values()


def names_of(tensors: Sequence[Any]) -> list[str]:
    """Names of a function's arguments or results, as its nodes are named."""
    return [name_of(tensor, {}) for tensor in tensors]


def source_tensor(tensor: Any) -> Any:
    """The tensor that this one only passes on."""
    while tensor.op.type == 'Identity':
        tensor = tensor.op.inputs[0]
    return tensor


def outer_tensors(graph: Any) -> dict[str, Any]:
    """By name of a graph's argument: the tensor of an enclosing graph that it captures."""
    return {inner.name: outer for outer, inner in graph.captures if hasattr(outer, 'op') and is_function(outer.graph)}


def name_of(tensor: Any, outer: dict[str, Any]) -> str:
    """The name of a tensor where it was made; `outer` are the `outer_tensors` of its graph."""
    tensor = source_tensor(tensor)
    while (captured := outer.get(tensor.name)) is not None:
        tensor = source_tensor(captured)
        outer = outer_tensors(tensor.graph)
    return prefix(tensor.graph) + str(tensor.name)


def prefix(graph: Any) -> str:
    """The prefix of names in a graph: that of a branch, loop or called function has its own."""
    return f'{graph.name}/' if is_function(getattr(graph, 'outer_graph', None)) else ''
