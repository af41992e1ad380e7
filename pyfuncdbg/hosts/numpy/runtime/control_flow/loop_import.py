"""The `Loop` of an imported While, without TensorFlow's iteration counter.

On the thread that builds. `loop_library` writes such functions.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import BELOW, BOTH, CONSTANT, NEXT, Attrs, Output
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.traces.function_library import FunctionLibrary
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def restore_loop(inputs: Sequence[Any], attrs: Attrs, functions: FunctionLibrary) -> Attrs:
    """The loop of an imported While: all values but the counter are carried.

    Raises:
        ValueError: It has no iteration counter like TensorFlow's loops.
    """
    count = len(inputs) - 2
    if count < 0:
        raise ValueError('a loop without a counter and a maximum cannot be imported')
    body = functions.adapted(attrs['body'].name, _remove_count)
    condition, limited = _condition(functions, attrs['cond'].name)
    shapes = attrs['output_shapes'] or [UNKNOWN] * len(inputs)
    types: tuple[Output, ...] = tuple(zip(attrs['T'], shapes, strict=True))
    every = tuple(range(count))
    if len(body.inputs) != count or len(body.outputs) != count or len(condition.inputs) != count:
        raise ValueError(f'Function {body.name} has not the inputs and outputs of the node')
    return {'_py_loop': Loop(condition, body, count, 0, every, every, every, (), (), limited, False, types)}


def _condition(functions: FunctionLibrary, name: str) -> tuple[TracedFunction, bool]:
    has_limit: list[bool] = []

    def unlimited(message: Any) -> None:
        has_limit.append(_remove_limit(message))
    return functions.adapted(name, unlimited), has_limit[0]


def _remove_count(message: Any) -> None:
    """Remove the counter from a body."""
    arguments = [argument.name for argument in message.signature.input_arg]
    results = [message.ret[argument.name] for argument in message.signature.output_arg]
    add = _node_of(message, results[0]) if results else None
    if len(arguments) < 2 or len(results) != len(arguments) or add is None or add.op != NEXT or (
            add.input[0] != arguments[0]) or results[1] != arguments[1] or not _is_one(message, add.input[1]):
        raise ValueError(f'Function {message.signature.name} does not count iterations as the body of a loop does')
    _remove(message, add)
    for argument in list(message.signature.output_arg)[:2]:
        del message.ret[argument.name]
    del message.signature.output_arg[:2]
    _without_count(message, arguments)


def _remove_limit(message: Any) -> bool:
    """Remove the limit from a condition; returns whether there was one."""
    arguments = [argument.name for argument in message.signature.input_arg]
    output = message.signature.output_arg[0].name
    both = _node_of(message, message.ret[output])
    limited = False
    if both is not None and both.op == BOTH:
        less = _node_of(message, both.input[0])
        if less is not None and less.op == BELOW and list(less.input) == arguments[:2]:
            limited, message.ret[output] = True, both.input[1]
            _remove(message, both)
            _remove(message, less)
    _without_count(message, arguments)
    return limited


def _without_count(message: Any, arguments: Sequence[str]) -> None:
    for node in message.node_def:
        if set(node.input) & set(arguments[:2]):
            raise ValueError(f'Function {message.signature.name} looks at the number of the iteration')
    del message.signature.input_arg[:2]
    attrs_by_place = {i - 2: message.arg_attr[i].SerializeToString() for i in list(message.arg_attr) if i >= 2}
    message.arg_attr.clear()
    for i, attrs in attrs_by_place.items():
        message.arg_attr[i].ParseFromString(attrs)


def _node_of(message: Any, result: str) -> Any:
    return next((node for node in message.node_def if node.name == result.partition(':')[0] and ':' in result), None)


def _is_one(message: Any, result: str) -> bool:
    node = _node_of(message, result)
    return node is not None and node.op == CONSTANT and 'value' in node.attr and value_of(node.attr['value']) == 1


def _remove(message: Any, node: Any) -> None:
    """Remove a node, and constants that only it used."""
    sources = [name.partition(':')[0] for name in node.input]
    message.node_def.remove(node)
    for name in sources:
        is_used = any(text.lstrip('^').partition(':')[0] == name for other in message.node_def for text in other.input)
        source = next((other for other in message.node_def if other.name == name), None)
        if source is not None and source.op == CONSTANT and not is_used and not any(
                result.partition(':')[0] == name for result in message.ret.values()):
            message.node_def.remove(source)
