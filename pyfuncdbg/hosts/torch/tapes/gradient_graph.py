"""The part of PyTorch's gradient graph that a backward pass may go through. Read at the start of a pass."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

_MOST = 200_000
"""Nodes of a pass that are watched; those beyond are not."""


class GradientGraph(NamedTuple):
    """Nodes of a gradient graph.

    Attributes:
        incoming: By node, in an order in which each comes after the one that leads to it: the nodes that add to its
            gradient, with the index of their output.
        leaves: The nodes that give a gradient to a leaf, by the leaf's id.
    """

    incoming: dict[Any, list[tuple[Any, int]]]
    leaves: dict[int, Any]


def gradient_graph(roots: Iterable[Any]) -> GradientGraph:
    """The graph that these nodes lead to."""
    incoming: dict[Any, list[tuple[Any, int]]] = {root: [] for root in roots if root is not None}
    leaves: dict[int, Any] = {}
    pending = list(incoming)
    while pending and len(incoming) < _MOST:
        node = pending.pop()
        edges: Sequence[tuple[Any, int]] = node.next_functions
        if not edges and (leaf := getattr(node, 'variable', None)) is not None:
            leaves[id(leaf)] = node
        for slot, (target, _) in enumerate(edges):
            if target is None:
                continue
            known = incoming.get(target)
            if known is None:
                incoming[target] = [(node, slot)]
                pending.append(target)
            else:
                known.append((node, slot))
    return GradientGraph(incoming, leaves)


def node_of(tensor: Any) -> Any:
    """The node that computes the gradient of a tensor's inputs, or for a leaf the one that adds to its gradient; None if it
    has none."""
    node = getattr(tensor, 'node', None)        # of a GradientEdge
    if node is not None and not hasattr(tensor, 'grad_fn'):
        return node
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    if not tensor.requires_grad:
        return None
    return tensor.view_as(tensor).grad_fn.next_functions[0][0]


def leaves_below(node: Any, most: int, searched: set[int]) -> list[Any]:
    """The leaves whose gradient a node leads to, found at nodes that were not searched before.

    Args:
        node: Where the search begins.
        most: Nodes that are searched.
        searched: Sequence numbers of the nodes of earlier searches; those of this one are added. So many searches of a graph
            that grows between them, as that of a loop, take as long as one search of all of it.

    Returns:
        The leaves, in the order of the search.
    """
    leaves, pending, known, left = [], [node], {node}, most
    while pending and left:
        left -= 1
        one = pending.pop()
        edges = one.next_functions
        if not edges and (leaf := getattr(one, 'variable', None)) is not None:
            leaves.append(leaf)                 # these nodes all have the same number
            continue
        if (number := one._sequence_nr()) in searched:
            continue
        searched.add(number)
        for target, _ in edges:
            if target is not None and target not in known:
                known.add(target)
                pending.append(target)
    return leaves
