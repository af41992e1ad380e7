"""Graphs as files and parts of graphs: `tf.io.write_graph`, `tf.compat.v1.graph_util`, tensors as messages.

Programs call it. What needs the protobuf library loads it at the call.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.graph import Graph


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph to a file, as text or in the binary form.

    Args:
        graph_or_graph_def: A graph or a GraphDef.
        logdir: The folder; it is made if it is not there.
        name: Of the file.
        as_text: Whether in the form that people read.

    Returns:
        The path of the file.
    """
    message = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    folder = os.fspath(logdir)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    content = _text(message).encode() if as_text else message.SerializeToString(deterministic=True)
    unfinished = f'{path}.tmp{os.getpid()}'
    with open(unfinished, 'wb') as file:
        file.write(content)
    os.replace(unfinished, path)
    return path


def _text(message: Any) -> str:
    from google.protobuf import text_format
    return text_format.MessageToString(message)


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The part of a GraphDef that these nodes need.

    Raises:
        TypeError: No GraphDef, or no list of names.
        AssertionError: A node is not in it.
    """
    from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
    if not isinstance(graph_def, GraphDef):
        raise TypeError(f'graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.')
    if isinstance(dest_nodes, str):
        raise TypeError('dest_nodes must be an iterable of strings.')
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f'{name} is not in graph')
    needed: set[str] = set()
    waiting = list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name not in needed and name in nodes:
            needed.add(name)
            waiting.extend(_node_of(text) for text in nodes[name].input)
    part = GraphDef()
    part.node.extend(node for node in graph_def.node if node.name in needed)
    part.library.CopyFrom(graph_def.library)
    part.versions.CopyFrom(graph_def.versions)
    return part


def _node_of(text: str) -> str:
    return text.removeprefix('^').partition(':')[0]


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """A GraphDef without its CheckNumerics and, where nothing is lost by it, Identity nodes."""
    from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
    kept = set(protected_nodes or ())
    names = {node.name for node in input_graph.node if node.op == 'CheckNumerics' and node.name not in kept}
    names |= {node.name for node in input_graph.node if node.op == 'Identity' and node.name not in kept and not any(
        text.startswith('^') for text in node.input)}
    controlling = {text[1:] for node in input_graph.node for text in node.input if text.startswith('^')}
    names -= controlling
    source = {node.name: node.input[0] for node in input_graph.node if node.name in names and node.input}
    part = GraphDef()
    for node in input_graph.node:
        if node.name in source:
            continue
        copy = part.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for text in node.input:
            while text in source:
                text = source[text]
            copy.input.append(text)
    part.library.CopyFrom(input_graph.library)
    part.versions.CopyFrom(input_graph.versions)
    return part


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False,
                      allow_broadcast: bool = False) -> Any:
    """A TensorProto of Python values or arrays.

    Raises:
        TypeError, ValueError: The values fit neither dtype nor shape.
    """
    from pyfuncdbg.hosts.numpy.graph.proto import tensor_proto
    return tensor_proto.make_tensor_proto(values, dtype, shape)


def make_ndarray(tensor: Any) -> Any:
    """The array of a TensorProto.

    Raises:
        TypeError: It has no dtype that an array can have.
        ValueError: Its content does not fit its shape.
    """
    from pyfuncdbg.hosts.numpy.graph.proto import tensor_proto
    return np.array(tensor_proto.make_ndarray(tensor))
