"""The graph around a node, as its site has it: its number, shapes that are lost there, elements without one.

Hosts put a function that reads it into the attributes of a site, for it changes as the program builds on: a dataset may
call a function that was traced long before. Observers read it on the threads of calls, and whenever they gather facts.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hooks.weak_keys import WeakKeys

SURROUNDINGS = '_surroundings'
"""The attribute: a function without arguments that gives plain data by name, or nothing where the graph is gone."""
DECLARED_SHAPES = '_declared_shapes'
"""The attribute with the shapes that TensorSpecs in `Tout` declare, by output: sizes, None for one that may vary; or None
where no rank is declared."""
RETURNED = '_returned'
"""The attribute of a node whose outputs its function returns: for each such output [its index, the function's name, names of
the tensors that this becomes outside]. Hosts put a function there that gives it, to be read when a site is recorded: the
nodes that call the function are made after it."""
GRAPH = '_graph'
"""The attribute with the number of the graph within which the names of a node and its inputs are unique: nodes of others may
have the same."""
DATASET = 'Dataset_'
"""Begins the names of functions of datasets."""
_MOST = 2_000
_numbers: WeakKeys[Any, int] = WeakKeys()
_count = itertools.count(1)


def graph_number(graph: Any) -> int:
    """The number of a graph in this process.

    Args:
        graph: The host's.
    """
    return _numbers.get(graph) or _numbers.setdefault(graph, next(_count))

ListReturns = Callable[[Any], Iterable[tuple[str, Sequence[Any]]]]
"""For a tensor: the name of each function that returns it, and the tensors that this gives its callers."""


def output_shape_facts(outputs: Sequence[Any], list_returns: ListReturns) -> dict[str, Any]:
    """Facts about the shapes of a node's outputs in its graph.

    Args:
        outputs: The host's symbolic tensors.
        list_returns: Lists the functions that return a tensor.

    Returns:
        By name: `shapes`, lists of sizes, None for one of unknown rank. If there is one, also `shapeless`, how many nodes
        after it give unknown ranks, in calling functions too; `returns_shapeless`, whether a function returns one; and
        `elements_shapeless`, whether that is a dataset's.
    """
    unknown = [tensor for tensor in outputs if tensor.shape.rank is None]
    facts: dict[str, Any] = {'shapes': [None if tensor.shape.rank is None else tensor.shape.as_list() for tensor in outputs]}
    if unknown:
        facts['shapeless'], ends = _count_shapeless(unknown, list_returns)
        facts['returns_shapeless'] = bool(ends)
        facts['elements_shapeless'] = any(name.startswith(DATASET) for name in ends)
    return facts


def _count_shapeless(tensors: Sequence[Any], list_returns: ListReturns) -> tuple[int, set[str]]:
    """The number of nodes after these tensors that give tensors of unknown rank, and names of functions that return one."""
    pending, ids = list(tensors), {id(tensor) for tensor in tensors}
    nodes: set[tuple[int, str]] = set()
    ends: set[str] = set()
    while pending and len(ids) < _MOST:
        tensor = pending.pop()
        for output in _next_outputs(tensor, list_returns, ends):
            node, traits = output.op, op_traits(output.op.type)
            if output.shape.rank is None and not traits.wraps_python and id(output) not in ids:
                ids.add(id(output))
                pending.append(output)
                if not traits.runs_graph and not traits.needs_no_shape:
                    nodes.add((id(node.graph), node.name))
    return len(nodes), ends


def _next_outputs(tensor: Any, list_returns: ListReturns, ends: set[str]) -> Iterator[Any]:
    for node in tensor.consumers():
        yield from node.outputs
    for name, tensors in list_returns(tensor):
        ends.add(name)
        yield from tensors
