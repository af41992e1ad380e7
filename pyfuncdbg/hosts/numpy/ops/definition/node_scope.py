"""Name scopes of ops made of several nodes, and of the constants that are an op's arguments."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyfuncdbg.errors import OpError
from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import check_types
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def scope(name: str | None, default: str) -> AbstractContextManager[Any]:
    """Enter `name` or `default`. Yields the full name with a '/' at the end: the name of the result's node.
    In eager mode it does nothing and yields None."""
    graph = current_graph()
    return nullcontext(None) if graph is None else graph.name_scope(name or default)


def graph_of_inputs(values: Sequence[Any]) -> Graph | None:
    """The graph of a symbolic input if it is not the default graph."""
    graph = current_graph()
    if graph is None or graph.building_function:
        return None
    graphs = (owner(value) for value in values if isinstance(value, SymbolicTensor))
    return next((other for other in graphs if other is not graph and not other.building_function), None)


def call(op: str, arguments: Mapping[str, Any], attrs: Mapping[str, Any] | None = None, name: str | None = None,
         default: str | None = None, **hints: DType) -> Any:
    """Apply an op to values of any kind.

    Args:
        op: The op type.
        arguments: TensorFlow's name of each input, which names a constant in the scope of the node, and its value.
        attrs: Attrs of the op.
        name: The user's node name.
        default: Node name otherwise; by default the op type.
        hints: By argument, the preferred dtype of a Python value (an empty list has none).
    """
    graph = current_graph()
    other = graph_of_inputs(tuple(arguments.values()))
    if other is not None:
        with other.as_default():
            return call(op, arguments, attrs, name, default, **hints)
    if graph is None or all(isinstance(value, Tensor) for value in arguments.values()):
        inputs = [value if isinstance(value, Tensor) else convert_to_tensor(value, dtype_hint=hints.get(key))
                  for key, value in arguments.items()]
        if graph is None:
            check_types(op, inputs)
        try:
            return apply(op, inputs, attrs, name or default)
        except OpError as error:
            if any(isinstance(value, (list, tuple)) for value in arguments.values()):
                error.locate(None, None, error.message.removesuffix(' name: '))       # TensorFlow names nothing for lists
            raise
    with graph.name_scope(name or default or op) as full:
        inputs = [convert_to_tensor(value, dtype_hint=hints.get(key), name=key) for key, value in arguments.items()]
        return apply(op, inputs, attrs, full)
