"""A graph as a GraphDef message, with its producer version. `Graph.as_graph_def` calls it."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

from pyfuncdbg.hosts.numpy.graph.node_graph import NodeGraph
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef, VersionDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import put_attr_value

PRODUCER, OLDEST = 2474, 0
"""The producer version of TensorFlow 2.21, and the oldest that it reads."""


@runtime_checkable
class LibraryFunction(Protocol):
    """A function that a node of a graph calls by name."""

    @property
    def graph(self) -> Any: ...

    def function_def(self) -> Any:
        """Its FunctionDef."""


def versions() -> Any:
    """The producer version of written GraphDefs."""
    return VersionDef(producer=PRODUCER)


def graph_def(graph: NodeGraph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """All nodes of a graph and the functions that they call.

    Args:
        graph: The graph.
        from_version: Only nodes made since `graph.version` was this.
        add_shapes: Add an attr `_output_shapes` to each node that has outputs.
    """
    message = GraphDef()
    for op in graph.operations:
        if from_version is not None and op.version <= from_version:
            continue
        node = message.node.add()
        node.CopyFrom(op.node_def)
        if add_shapes and op.outputs:
            put_attr_value(node.attr['_output_shapes'], [tensor.shape for tensor in op.outputs])
    put_library(message, called_functions(graph.operations), add_shapes)
    return message


def put_library(message: Any, functions: Iterable[LibraryFunction], add_shapes: bool = False) -> None:
    """Complete a GraphDef by the functions that its nodes call, and by its version.

    Args:
        message: The GraphDef.
        functions: As of `called_functions`.
        add_shapes: As of `graph_def`.
    """
    by_name = {function.function_def().signature.name: function for function in functions}
    for name in sorted(by_name):
        definition = message.library.function.add()
        definition.CopyFrom(by_name[name].function_def())
        if add_shapes:
            _add_shapes(definition, by_name[name].graph)
    message.versions.CopyFrom(versions())


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


def _add_shapes(definition: Any, graph: NodeGraph) -> None:
    for node in definition.node_def:
        op = graph.get_operation_by_name(node.name)
        if op.outputs:
            put_attr_value(node.attr['_output_shapes'], [tensor.shape for tensor in op.outputs])
