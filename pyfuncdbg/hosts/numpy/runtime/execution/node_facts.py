"""Facts of a node for its call site: TensorFlow's attrs as data, and further fields of a NodeDef.

Computed once per node, when a hook watches it.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.hooks.graph_context import GRAPH, graph_number
from pyfuncdbg.hosts.numpy.graph.definitions.registry import (
    CALL,
    CASE,
    IDENTITY,
    IF,
    STATELESS_CASE,
    STATELESS_IF,
    STATELESS_WHILE,
    WHILE,
)
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

_MOST_ELEMENTS = 6
"""Most elements of a constant that are reported."""
_LONGEST = 60
_MOST_CONTROL_INPUTS = 20
"""Most control inputs and constants of a node that are reported."""


_CALLERS = frozenset((IF, STATELESS_IF, CASE, STATELESS_CASE, WHILE, STATELESS_WHILE, CALL))
"""Types of nodes that call functions; these have `results_of`."""


def is_constant(op: Operation) -> bool:
    """Whether a node's outputs are known before the run."""
    return not (op.inputs or op.definition.stateful or op.definition.in_execution or op.control_inputs)


def site_attrs(op: Operation) -> dict[str, Any]:
    """The attrs of a node for its site; the number of its graph; '_device', '_control' (inputs by name), '_constants' and
    '_no_rank' (outputs) if it has any.

    A constant is not executed, so its content is reported here: its tensor's name, dtype, shape and first elements.
    """
    attrs: dict[str, Any] = {name: str(value) if isinstance(value, TensorShape) else value
                             for name, value in op.shown_attrs().items()}
    attrs[GRAPH] = graph_number(op.graph)
    if op.device:
        attrs['_device'] = op.device
    if op.control_inputs:
        attrs['_control'] = [other.name for other in op.control_inputs[:_MOST_CONTROL_INPUTS]]
    rankless = [slot for slot, tensor in enumerate(op.outputs) if tensor.shape.rank is None]
    if rankless:
        attrs['_no_rank'] = rankless
    constants = [[tensor.name, *_content(tensor.op, tensor.op.attrs['value'])] for tensor in op.inputs[:_MOST_CONTROL_INPUTS]
                 if is_constant(tensor.op) and isinstance(tensor.op.attrs.get('value'), np.ndarray | np.generic)]
    if constants:
        attrs['_constants'] = constants
    return attrs


def reads_returned(op: Operation) -> Callable[[], list[list[Any]]]:
    """A reader of a node's outputs that the function of its graph returns: [index, the function's name, the names of the
    callers' outputs]. It does not keep the graph alive."""
    graph, name = weakref.ref(op.graph), op.name

    def read() -> list[list[Any]]:
        living = graph()
        op = living.find(name) if living is not None else None
        return [] if op is None else _returned_outputs(op)
    return read


def _returned_outputs(op: Operation) -> list[list[Any]]:
    names_by_slot: dict[int, list[str]] = {maker.value_index: [] for maker in map(_maker,
                                                                                  op.graph.returned) if maker.op is op}
    outer = op.graph.outer if names_by_slot else None
    for node in outer.operations if outer is not None else ():
        for function in node.attrs.values() if node.type in _CALLERS else ():
            if hasattr(function, 'results_of'):
                for tensor, place in function.results_of(op.graph):
                    maker = _maker(tensor)
                    if maker.op is op:
                        names_by_slot[maker.value_index].append(node.outputs[place].name)
    return [[slot, op.graph.name, names] for slot, names in names_by_slot.items()]


def _maker(tensor: Any) -> Any:
    """The tensor that a chain of identities passes on."""
    while tensor.op.type == IDENTITY:
        tensor = tensor.op.inputs[0]
    return tensor


def _content(op: Operation, value: Any) -> list[Any]:
    """[dtype, shape, first elements] of a constant."""
    first = [each[:_LONGEST] if isinstance(each, bytes | str) else each
             for each in value.flat[:_MOST_ELEMENTS].tolist()] if value.dtype.kind in 'biufSUO' else []
    return [op.outputs[0].dtype.name, list(value.shape), first]
