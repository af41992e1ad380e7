"""Lookup of graph elements by name, tensor, operation or variable, with TensorFlow's error messages.

Used for fetches, feeds and control inputs, on the thread that runs or builds.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from pyfuncdbg.errors import nearest
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT
from pyfuncdbg.hosts.numpy.graph.node_graph import NodeGraph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor


class SearchedGraph(NodeGraph, Protocol):
    """The graph whose elements are looked up."""

    def admit(self, tensor: Tensor) -> SymbolicTensor:
        """An outer tensor as one of the graph."""


def is_repeated(forward: object, tensor: Tensor) -> bool:
    """Whether a function copies an outer constant: a backward function copies those of the function it differentiates, since
    calls need not pass them. All other constants are captured, so that there are gradients by them.

    Args:
        forward: The graph of the differentiated function; None if the function is no backward function.
        tensor: The outer tensor.
    """
    if forward is None or not isinstance(tensor, SymbolicTensor):
        return False
    return tensor.op.type == CONSTANT and tensor.op.graph is forward


def element(graph: SearchedGraph, op_by_name: Mapping[str, Operation], obj: Any, allow_tensor: bool,
            allow_operation: bool) -> Any:
    """The tensor or operation of `graph` that `obj` means; `op_by_name` are its operations by name.

    Raises:
        ValueError: A wrong name, or a tensor of another graph.
        KeyError: No such tensor or operation.
        TypeError: It is none of these.
    """
    if not allow_tensor and not allow_operation:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    kinds = 'Tensor or Operation' if allow_tensor and allow_operation else 'Tensor' if allow_tensor else 'Operation'
    convert = getattr(obj, '_as_graph_element', None)
    if convert is not None:
        obj = convert(graph)
    elif allow_tensor and isinstance(obj, Tensor) and not isinstance(obj, SymbolicTensor):
        obj = graph.admit(obj)
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        return _find_by_name(op_by_name, obj, allow_tensor, allow_operation)
    if (isinstance(obj, SymbolicTensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
        if obj.graph is not graph:
            raise ValueError(f'{"Tensor" if isinstance(obj, SymbolicTensor) else "Operation"} {obj} is not an element of '
                             f'this graph.')
        return obj
    raise TypeError(f'Can not convert a {type(obj).__name__} into a {kinds}.')


def _find_by_name(op_by_name: Mapping[str, Operation], name: str, allow_tensor: bool, allow_operation: bool) -> Any:
    if ':' in name and allow_tensor:
        return _tensor(op_by_name, name)
    if ':' in name:
        raise ValueError(f'Name {name!r} appears to refer to a Tensor, not a Operation.')
    if not allow_operation:
        text = 'refers to an Operation, not a' if name in op_by_name else 'looks like an (invalid) Operation name, not a'
        raise ValueError(f'The name {name!r} {text} Tensor. Tensor names must be of the form "<op_name>:<output_index>".')
    if name not in op_by_name:
        raise KeyError(f'The name {name!r} refers to an Operation not in the graph.{nearest(name, op_by_name)}')
    return op_by_name[name]


def _tensor(op_by_name: Mapping[str, Operation], name: str) -> SymbolicTensor:
    op_name, _, slot = name.rpartition(':')
    if not re.fullmatch(r'\s*[-+]?\d+\s*', slot) or ':' in op_name:
        raise ValueError(f'The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of '
                         f'the form "<op_name>:<output_index>".')
    refers = f'The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, '
    op = op_by_name.get(op_name)
    if op is None:
        raise KeyError(f'{refers}does not exist in the graph.{nearest(op_name, op_by_name)}')
    if not -len(op.outputs) <= int(slot) < len(op.outputs):
        raise KeyError(f'{refers}exists but only has {len(op.outputs)} outputs.')
    return op.outputs[int(slot)]
