"""Graph facts around a script op: shapes unknown because of it, and nodes that wait for it needlessly.

Read when calls have ended, on their threads, and when facts are gathered.
"""
from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial, wraps
from importlib import import_module
from typing import Any

from pyfuncdbg.hooks.graph_context import DATASET, SURROUNDINGS, output_shape_facts
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.returned_outputs import callers_in

_MOST = 2_000


_graphs: weakref.WeakSet[Any] = weakref.WeakSet()
"""The living graphs of functions. A search among all objects would hold tuples that other threads are making, which then get
a SystemError."""


def watch_graphs(patches: Patches) -> None:
    """Note the graphs of functions that are made from now on."""
    kind = import_module('tensorflow.python.framework.func_graph').FuncGraph
    original = kind.__init__

    @wraps(original)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _graphs.add(self)
    patches.replace(kind, '__init__', made)


def fact_reader(op: Any) -> dict[str, Any]:
    """A reader of a node's facts, as an attribute of its site; it does not keep the graph alive."""
    return {SURROUNDINGS: partial(_read, weakref.ref(op.graph), op.name)}


def _read(reference: weakref.ref[Any], name: str) -> dict[str, Any]:
    graph = reference()
    return {} if graph is None else node_facts(graph.get_operation_by_name(name))


def node_facts(op: Any) -> dict[str, Any]:
    """Facts about shapes, and `waits_for`: tokens of script ops that a node waits for without using their outputs."""
    facts = output_shape_facts(op.outputs, _list_returns)
    controls = [control for control in op.control_inputs if control.type in SCRIPTS]
    if controls:
        needed = {node.name for node in _ancestors(op)}
        idle = [control.get_attr('token').decode() for control in controls if control.name not in needed]
        if idle:
            facts['waits_for'] = idle
    return facts


def _list_returns(tensor: Any) -> Iterator[tuple[str, list[Any]]]:
    slots = [slot for slot, output in enumerate(getattr(tensor.graph, 'outputs', None) or ()) if output is tensor]
    if slots:
        yield str(tensor.graph.name), [node.outputs[slot] for node in _callers(tensor.graph) for slot in slots
                                       if slot < len(node.outputs)]


def _callers(graph: Any) -> Iterator[Any]:
    """The nodes that call the function of a graph, in the graph in which it was traced or else in all living ones."""
    outer = getattr(graph, 'outer_graph', None)
    if outer is None or str(graph.name).startswith(DATASET):
        return
    callers = list(callers_in(graph, outer))
    if not callers:                               # traced earlier, perhaps by an eager call
        callers = [node for other in [*_graphs] for node in callers_in(graph, other)]
    yield from callers


def _ancestors(op: Any) -> Iterator[Any]:
    """The nodes whose outputs it is computed from."""
    pending, names = [op], {op.name}
    while pending and len(names) < _MOST:
        for tensor in pending.pop().inputs:
            if tensor.op.name not in names:
                names.add(tensor.op.name)
                pending.append(tensor.op)
                yield tensor.op
