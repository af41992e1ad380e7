"""The functions of a GraphDef's library as traces that nodes can call.

For the import of a GraphDef, on the thread that builds.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.traces.node_import import NodeImport
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


class FunctionLibrary:
    """The functions of a GraphDef, each traced at its first use by a node.

    Attributes:
        trust: Whether Python functions that are stored in nodes are loaded, which runs code.
    """

    def __init__(self, message: Any, trust: bool = False) -> None:
        self.trust = trust
        self._messages = {function.signature.name: function for function in message.function}
        self._traces: dict[str, TracedFunction] = {}
        self._open: list[str] = []

    def __call__(self, name: str) -> TracedFunction:
        """The function of this name.

        Raises:
            ValueError: There is none, it is recursive, or its body is no valid graph.
        """
        return self.adapted(name)

    def adapted(self, name: str, adapt: Callable[[Any], None] | None = None) -> TracedFunction:
        """The function of this name, from a copy of its FunctionDef that `adapt` has changed.

        Raises:
            ValueError: As for a call; or raised by `adapt`.
        """
        if name in self._open:
            raise ValueError(f'Function {name} calls itself: {" -> ".join([*self._open, name])}')
        if name not in self._messages:
            raise ValueError(f'Function {name} is not defined.')
        if adapt is None and name in self._traces:
            return self._traces[name]
        self._open.append(name)
        try:
            if adapt is None:
                self._traces[name] = trace = self._trace(self._messages[name])
            else:
                message = type(self._messages[name]).FromString(self._messages[name].SerializeToString())
                adapt(message)
                trace = self._trace(message)
        finally:
            self._open.pop()
        return trace

    def _trace(self, message: Any) -> TracedFunction:
        name = message.signature.name
        graph = Graph(name=name, building_function=True)
        types = [{'dtype': _dtype(argument), 'shape': _shape(message, i), **_name_given(message, i)}
                 for i, argument in enumerate(message.signature.input_arg)]
        inputs = [graph.create_op(INPUT, (), attrs, argument.name).outputs[0]
                  for argument, attrs in zip(message.signature.input_arg, types, strict=True)]
        tensors = {argument.name: tensor for argument, tensor in zip(message.signature.input_arg, inputs, strict=True)}
        by_name = {node.name: node for node in message.node_def}
        nodes = [_flatten_node(node, tensors, by_name) for node in message.node_def]
        outputs_of_body = [_flat(message.ret[argument.name], tensors, by_name) for argument in message.signature.output_arg]
        node_import = NodeImport(graph, '', {f'{name}:0': tensor for name, tensor in tensors.items()}, self, all_used=False)
        outputs = node_import.run(nodes, [f'{text}:0' if ':' not in text else text for text in outputs_of_body])
        return TracedFunction(graph, inputs, outputs, list, name)


def _dtype(argument: Any) -> Any:
    try:
        return as_dtype(argument.type)
    except TypeError:
        raise ValueError(f"Argument '{argument.name}' of a function has no dtype that is known: {argument.type}") from None


def _name_given(message: Any, index: int) -> dict[str, Any]:
    """The user's name of an argument."""
    if index not in message.arg_attr or '_user_specified_name' not in message.arg_attr[index].attr:
        return {}
    return {'_user_specified_name': value_of(message.arg_attr[index].attr['_user_specified_name'])}


def _shape(message: Any, index: int) -> TensorShape:
    if index in message.arg_attr and '_output_shapes' in message.arg_attr[index].attr:
        shapes = value_of(message.arg_attr[index].attr['_output_shapes'])
        if isinstance(shapes, list) and len(shapes) == 1 and isinstance(shapes[0], TensorShape):
            return shapes[0]
    return TensorShape(None)


def _flatten_node(node: Any, arguments: Mapping[str, Any], by_name: Mapping[str, Any]) -> Any:
    """A NodeDef of a body with input names in the form of a GraphDef."""
    flat = type(node)()
    flat.CopyFrom(node)
    del flat.input[:]
    flat.input.extend(name if name.startswith('^') else _flat(name, arguments, by_name) for name in node.input)
    return flat


def _flat(name: str, arguments: Mapping[str, Any], by_name: Mapping[str, Any]) -> str:
    """'node:output:1' as 'node:3'.

    Raises:
        ValueError: There is no such node or output.
    """
    if name in arguments:
        return name
    node_name, _, rest = name.partition(':')
    output, _, index = rest.partition(':')
    node = by_name.get(node_name)
    if node is None or not index.isdecimal():
        raise ValueError(f"No node of the function gives '{name}'")
    return f'{node_name}:{_position(node, output, int(index))}'


def _position(node: Any, output: str, index: int) -> int:
    sig = signature(node.op)
    if sig is None:
        return index
    attrs = {key: value_of(value) for key, value in node.attr.items()}
    position = 0
    for argument in sig.outputs:
        if argument.name == output:
            return position + index
        try:
            position += argument.count({**sig.defaults, **attrs})
        except (TypeError, KeyError) as error:
            raise ValueError(f"Node '{node.name}': its attrs do not say how many outputs it has") from error
    raise ValueError(f"Node '{node.name}': {node.op} has no output '{output}'")

