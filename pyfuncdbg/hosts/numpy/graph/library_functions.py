"""Functions that nodes of a graph call by name: a GraphDef has them in its library."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class LibraryFunction(Protocol):
    """A function that a node of a graph calls by name."""

    @property
    def graph(self) -> Any: ...

    def function_def(self) -> Any:
        """Its FunctionDef."""


def called_functions(nodes: Iterable[Any]) -> Iterator[LibraryFunction]:
    """Functions that these nodes of a graph call, directly or indirectly."""
    waiting: list[Iterable[Any]] = [nodes]
    graph_ids: set[int] = set()
    while waiting:
        for op in waiting.pop():
            for function in _called_by(op):
                if id(function.graph) not in graph_ids:
                    graph_ids.add(id(function.graph))
                    waiting.append(function.graph.operations)
                    yield function


def _called_by(op: Any) -> Iterator[LibraryFunction]:
    """The functions in the private attrs of a node, and in their `library`."""
    for key, value in op.attrs.items():
        if key.startswith('_py_'):
            library = getattr(value, 'library', None)
            yield from library(op) if callable(library) else [value] if isinstance(value, LibraryFunction) else []
