"""The owner of a node or tensor: its graph with all that a graph can do. Nodes themselves know only `NodeGraph` of it."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor


def owner(element: Operation | SymbolicTensor) -> Graph:
    """The graph that a node or a tensor is part of."""
    graph: Any = element.graph
    return graph  # type: ignore[no-any-return]
