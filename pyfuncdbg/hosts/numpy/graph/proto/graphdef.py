"""A graph as a GraphDef message, with its producer version. `Graph.as_graph_def` calls it."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.library_functions import LibraryFunction, called_functions
from pyfuncdbg.hosts.numpy.graph.node_graph import NodeGraph
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef, VersionDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import put_attr_value

PRODUCER, OLDEST = 2474, 0
"""The producer version of TensorFlow 2.21, and the oldest that it reads."""


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


def _add_shapes(definition: Any, graph: NodeGraph) -> None:
    for node in definition.node_def:
        op = graph.get_operation_by_name(node.name)
        if op.outputs:
            put_attr_value(node.attr['_output_shapes'], [tensor.shape for tensor in op.outputs])
