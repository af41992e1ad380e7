"""A trace as a FunctionDef, the function of a GraphDef's library.

`Graph.as_graph_def` requests it of traces and branches, on the thread that builds.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyfuncdbg.hosts.numpy.graph.definitions.signatures import signature
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.proto.messages import FunctionDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import put_attr_value
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor


class FunctionTrace(Protocol):
    """Interface of the trace; `traced_function.TracedFunction` is one.

    Attributes:
        name: Of the function.
        graph: Its body.
        inputs: The placeholders of its arguments.
        outputs: Its results.
    """

    name: str
    graph: Graph
    inputs: tuple[SymbolicTensor, ...]
    outputs: tuple[SymbolicTensor, ...]


@dataclass(frozen=True, slots=True)
class BranchFunction:
    """A trace as one function of a node that passes all its functions the same arguments, some unused.

    Attributes:
        trace: The function.
        feeds: For each input and captured tensor, the index of its argument.
        arguments: Tensors of the types of the node's arguments.
    """

    trace: FunctionTrace
    feeds: Sequence[int]
    arguments: Sequence[Any]

    @property
    def graph(self) -> Graph:
        """Its graph."""
        return self.trace.graph

    def function_def(self) -> Any:
        """Its FunctionDef."""
        return function_def(self.trace, self.feeds, self.arguments)


def function_def(trace: FunctionTrace, feeds: Sequence[int] | None = None, arguments: Sequence[Any] = ()) -> Any:
    """The FunctionDef of a trace, with TensorFlow's names.

    Args:
        trace: The trace.
        feeds: For each input and captured tensor, the index of its argument; None: they are the arguments.
        arguments: With `feeds`: tensors of the types of the arguments.
    """
    message = FunctionDef()
    message.signature.name = trace.name
    used_names: set[str] = set()
    inputs = [*trace.inputs, *(inner for _, inner in trace.graph.captures)]
    places: dict[int, str] = {}
    for i in range(len(inputs) if feeds is None else len(arguments)):
        inner = [inputs[i]] if feeds is None else [t for t, at in zip(inputs, feeds, strict=True) if at == i]
        name = _unique(inner[0].op.name if inner else 'placeholder', used_names)
        places.update({id(tensor): name for tensor in inner})
        tensor = inner[0] if inner else arguments[i]
        message.signature.input_arg.add(name=name, type=tensor.dtype.as_datatype_enum)
        attrs = message.arg_attr[i].attr
        input_op = inner[0].op if inner else None
        put_attr_value(attrs['_user_specified_name'], input_op.attrs.get('_user_specified_name',
                                                                    input_op.name) if input_op is not None else name)
        if tensor.dtype.is_numpy_compatible:
            put_attr_value(attrs['_output_shapes'], [tensor.shape])
    fed = {tensor.op for tensor in inputs}
    nodes = [op for op in trace.graph.operations if op not in fed]
    for op in nodes:
        _add_node(message, op, places)
    for tensor in trace.outputs:
        name = _unique(tensor.op.name, used_names)
        message.signature.output_arg.add(name=name, type=tensor.dtype.as_datatype_enum)
        message.ret[name] = places[id(tensor)]
    for op in nodes:
        if op.definition.stateful:
            message.signature.is_stateful = True
            message.signature.control_output.append(op.name)
            message.control_ret[op.name] = op.name
    put_attr_value(message.attr['_construction_context'], 'kEagerRuntime')
    return message


def _unique(name: str, used_names: set[str]) -> str:
    """An argument's name from a node's name: lower case letters, digits and '_', unique."""
    plain = re.sub(r'[^a-z0-9_]', '_', name.lower())
    plain = plain.lstrip('0123456789_') or 'unknown'
    candidate, count = plain, 0
    while candidate in used_names:
        count += 1
        candidate = f'{plain}_{count}'
    used_names.add(candidate)
    return candidate


def _add_node(message: Any, op: Any, places: dict[int, str]) -> None:
    node = message.node_def.add()
    node.CopyFrom(op.node_def)
    del node.input[:]
    node.input.extend([places[id(tensor)] for tensor in op.inputs] + [f'^{before.name}' for before in op.control_inputs])
    for tensor, (output, index) in zip(op.outputs, _outputs(op.type, op.shown_attrs(), len(op.outputs)), strict=True):
        places[id(tensor)] = f'{op.name}:{output}:{index}'


def _outputs(op_type: str, attrs: Mapping[str, Any], count: int) -> list[tuple[str, int]]:
    """For each output its name in TensorFlow's registry, and its index among those of that name."""
    sig = signature(op_type)
    if sig is not None:
        names = [(argument.name, i) for argument in sig.outputs for i in range(len(argument.dtypes(attrs)))]
        if len(names) == count:
            return names
    return [('output', i) for i in range(count)]
