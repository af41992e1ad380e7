"""Graphs as messages and files: `tf.import_graph_def`, `tf.io.write_graph`, `tf.compat.v1.graph_util`, tensors as messages.

Functions that need the protobuf library load it when they are called. Of an imported GraphDef all nodes become nodes of
the current graph, or none.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph to a file, as text or in the binary form.

    Args:
        graph_or_graph_def: A graph or a GraphDef.
        logdir: The folder; created if missing.
        name: Of the file.
        as_text: Whether as text.

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
    """The subgraph of a GraphDef that these nodes depend on.

    Raises:
        TypeError: `graph_def` is no GraphDef, or `dest_nodes` no list of names.
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
    """A GraphDef without its CheckNumerics and, where possible, Identity nodes."""
    from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
    protected = set(protected_nodes or ())
    names = {node.name for node in input_graph.node if node.op == 'CheckNumerics' and node.name not in protected}
    names |= {node.name for node in input_graph.node if node.op == 'Identity' and node.name not in protected and not any(
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


def import_graph_def(graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None,
                     op_dict: Any = None, producer_op_list: Any = None, *, trust: bool = False) -> list[Any] | None:
    """Add the nodes of a GraphDef to the current graph; if one cannot be added, none is.

    Args:
        graph_def: The GraphDef.
        input_map: Tensors that replace those of `graph_def`, by name there ('x', 'x:1', '^x').
        return_elements: Names of operations ('x') and tensors ('x:0') to return.
        name: Prefix of the names, 'import' by default; '' for none.
        op_dict: Not used.
        producer_op_list: Not used: attrs that are not known are kept.
        trust: Load the functions that script ops made with `serialize=True` have in their nodes. That runs code of the
            author of the GraphDef. Without it such a node finds its function only in the process that made it.

    Returns:
        The operations and tensors of `return_elements`; None without it.

    Raises:
        TypeError: An argument has another type.
        ValueError: The nodes form no valid graph, or a name is missing.
        NotFoundError: An op type is not known.
    """
    from pyfuncdbg.hosts.numpy.graph.proto.graphdef_checks import check_versions  # the protobuf library takes 60 ms to load
    from pyfuncdbg.hosts.numpy.runtime.traces.function_library import FunctionLibrary
    from pyfuncdbg.hosts.numpy.runtime.traces.node_import import NodeImport
    message = _message(graph_def)
    keys = _checked_keys(input_map)
    names = _checked_elements(return_elements)
    graph = context.current_graph() or context.get_default_graph()
    with context.under(graph):
        with graph.name_scope('import' if name is None else name) if name != '' else nullcontext('') as scope:
            prefix = scope[:-1] if scope else ''
            tensors = _converted(keys, prefix)
        if prefix and any(_is_taken(graph, f'{prefix}/{node.name}') for node in message.node):
            prefix = graph.unique_name(prefix)
        check_versions(message.versions)
        elements = NodeImport(graph, prefix, tensors, FunctionLibrary(message.library, trust)).run(message.node, names)
    return None if return_elements is None else elements


def _message(graph_def: Any) -> Any:
    from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
    if isinstance(graph_def, GraphDef):
        return graph_def
    if getattr(getattr(graph_def, 'DESCRIPTOR', None), 'name', '') != GraphDef.DESCRIPTOR.name:
        raise TypeError('Argument `graph_def` must be a GraphDef proto.')
    try:                                        # a message of TensorFlow's, or of another pool
        return GraphDef.FromString(graph_def.SerializeToString())
    except Exception:                           # anything that cannot be serialized is no GraphDef
        raise TypeError('Argument `graph_def` must be a GraphDef proto.') from None


def _checked_keys(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict):
        raise TypeError(f'Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}')
    if not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError(f'All keys for argument `input_map` must be strings. Obtained keys: {list(input_map)}')
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in input_map.items()}


def _checked_elements(return_elements: Any) -> list[str]:
    if return_elements is None:
        return []
    elements = list(return_elements) if not isinstance(return_elements, bytes) else [return_elements]
    if not all(isinstance(element, (str, bytes)) for element in elements):
        raise TypeError(f'Argument `return_elements` must be a list of strings. Obtained {return_elements}.')
    names = [element.decode() if isinstance(element, bytes) else element for element in elements]
    for text in names:
        if text.count(':') > 1:
            raise ValueError(f"Cannot convert '{text}' to a tensor name. Tensor names should not contain more than 1 `:`. "
                             f"Obtained {text.count(':')}")
        if ':' in text and not text.rpartition(':')[2].isdecimal():
            raise ValueError(f"Cannot convert '{text}' to a tensor name. Second component of the name following the `:` "
                             f"should be an int. Got {text.partition(':')[2]}.")
    return names


def _converted(keys: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    if not prefix and not all(isinstance(value, Tensor) for value in keys.values()):
        raise ValueError('tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try '
                         'calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def().')
    graph = context.get_default_graph()
    with graph.name_scope('_inputs') if prefix and keys else nullcontext():
        return {key: convert_to_tensor(value) for key, value in keys.items()}


def _is_taken(graph: Graph, name: str) -> bool:
    try:
        graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return False
    return True
