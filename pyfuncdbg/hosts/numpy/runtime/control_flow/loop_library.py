"""The functions of a While in a GraphDef, with an iteration counter for TensorFlow, which a `Loop` does not need.

On the thread that builds; `loop_import` reads them.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import BELOW, BOTH, CONSTANT, NEXT
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import attr_value
from pyfuncdbg.hosts.numpy.runtime.traces.function_def import function_def
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

_COUNTER = 'while_loop_counter'


class WrittenLoop(Protocol):
    """Interface of the loop: the attributes of `Loop` that its functions depend on."""

    @property
    def condition(self) -> TracedFunction | None: ...
    @property
    def body(self) -> TracedFunction: ...
    @property
    def carried(self) -> int: ...
    @property
    def items(self) -> int: ...
    @property
    def asks(self) -> tuple[int, ...]: ...
    @property
    def feeds(self) -> tuple[int, ...]: ...
    @property
    def next(self) -> tuple[int, ...]: ...
    @property
    def stacked(self) -> tuple[int, ...]: ...
    @property
    def summed(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def limited(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class LoopFunction:
    """The condition or body of a loop, as the function of a node."""

    loop: WrittenLoop
    trace: TracedFunction
    node: Any

    @property
    def graph(self) -> Any:
        """Its graph."""
        return self.trace.graph

    def function_def(self) -> Any:
        """Its FunctionDef."""
        loop, is_body = self.loop, self.trace is self.loop.body
        feeds = [place + 2 for place in (loop.feeds if is_body else loop.asks)]
        message = function_def(self.trace, feeds, self.node.inputs)
        results = [message.ret[argument.name] for argument in message.signature.output_arg]
        arguments = [argument.name for argument in message.signature.input_arg]
        if is_body:
            _add_count(message, arguments, [results[place] for place in loop.next], 2 + loop.carried)
        elif loop.limited:
            _add_limit(message, arguments, results[0])
        return message


def library(loop: WrittenLoop, node: Any) -> list[LoopFunction]:
    """The functions of a node, for the library of a GraphDef; none for a loop that is part of a gradient."""
    if loop.condition is None or loop.items or loop.stacked or loop.summed:
        return []
    return [LoopFunction(loop, loop.condition, node), LoopFunction(loop, loop.body, node)]


def _add_count(message: Any, arguments: Sequence[str], results: Sequence[str], first_fixed: int) -> None:
    """Make a body return the next count, the maximum, the carried and the fixed values."""
    one = _free(message, f'{_COUNTER}/one')
    message.node_def.add(name=one, op=CONSTANT).attr['value'].CopyFrom(attr_value(np.int32(1)))
    message.node_def[-1].attr['dtype'].type = 3
    add = _free(message, f'{_COUNTER}/next')
    message.node_def.add(name=add, op=NEXT, input=[arguments[0], f'{one}:output:0']).attr['T'].type = 3
    everything = [f'{add}:z:0', arguments[1], *results, *arguments[first_fixed:]]
    _give(message, everything)


def _add_limit(message: Any, arguments: Sequence[str], result: str) -> None:
    """Make a condition hold below the maximum only."""
    less, both = _free(message, f'{_COUNTER}/less'), _free(message, f'{_COUNTER}/and')
    message.node_def.add(name=less, op=BELOW, input=arguments[:2]).attr['T'].type = 3
    message.node_def.add(name=both, op=BOTH, input=[f'{less}:z:0', result])
    _give(message, [f'{both}:z:0'])


def _free(message: Any, name: str) -> str:
    names = {node.name for node in message.node_def}
    while name in names:
        name += '_'
    return name


def _give(message: Any, results: Sequence[str]) -> None:
    """Replace the results of a function."""
    kinds = {argument.name: argument.type for argument in message.signature.input_arg}
    outputs = {message.ret[argument.name]: argument.type for argument in message.signature.output_arg}
    del message.signature.output_arg[:]
    message.ret.clear()
    for i, result in enumerate(results):
        kind = kinds.get(result) or outputs.get(result) or (10 if result.startswith(f'{_COUNTER}/and') else 3)
        name = f'output_{i}'
        message.signature.output_arg.add(name=name, type=kind)
        message.ret[name] = result
