"""Interface of a node's graph for nodes and tensors. `graph.Graph` is one; `graph.graph.owner` returns that of a node."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class NodeGraph(Protocol):
    """Interface of a graph with nodes.

    Attributes:
        building_function: Whether it is the body of a function.
        version: Grows with every change.
        sites: The call sites of nodes, by serial number.
        place: For a part of another graph: the name of its node there, with a trailing '/'.
        name: Of the function whose graph it is.
        returned: For the graph of a traced function: its result.
    """

    building_function: bool
    version: int
    sites: dict[int, Any]
    place: str
    name: str
    returned: tuple[Any, ...]

    @property
    def outer(self) -> NodeGraph | None:
        """The graph that a function is traced in."""

    def find(self, name: str) -> Any:
        """The node of this name, if there is one."""

    @property
    def operations(self) -> Sequence[Any]:
        """All nodes in order of creation."""

    def get_operation_by_name(self, name: str) -> Any:
        """The node of this name."""

    def changed(self) -> None:
        """Invalidate compiled plans."""
