"""Observers in the graphs of traced functions: nodes that report an op's inputs and outputs.

TensorFlow's op callbacks may add nodes only while the program makes its own, and random ops draw their seeds from how many
nodes there are: results would differ. So a graph gets its observers when TensorFlow makes a function of it, all at once,
with the program's nodes and their order as they are. An observer runs on the thread of TensorFlow that found it ready.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.graph_context import RETURNED
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hooks.value_summary import ValueSummary
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import plain_attrs, surroundings
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.returned_outputs import reads_returned
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import (
    is_function,
    maker,
    name_of,
    outer_tensors,
    outermost,
    prefix,
    reached,
)
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_UNSEEN = SCRIPTS | {'Const', 'Identity', 'NoOp', 'Placeholder', 'PlaceholderV2', 'PlaceholderWithDefault', '_Arg',
                     '_Retval', 'Assert', 'DebugNumericSummaryV2'}
"""Nodes that compute nothing, and those whose function is a call by itself."""
_PASSED = frozenset(('Identity', 'IdentityN', 'NoOp', '_Retval'))
"""Nodes that use nothing: who takes what they pass on is what uses it."""
_UNREADABLE = frozenset(('resource', 'variant'))
_SEEN = '_pyfuncdbg_observed'
SCOPE = 'pyfuncdbg/'
"""Prefix of our nodes' names."""
_HEALTH, _COUNTS = 4, 11
"""`FULL_HEALTH` of TensorFlow's `TensorDebugMode`, and how many figures it gives: the last six are counts of elements."""


class ObservedNodes:
    """Observed nodes of one graph, and their observers.

    Attributes:
        ops: Names of the nodes that were looked at, and of ours.
        nodes: The observer of a node, by the node's name.
        sites: Of the nodes, those without an observer too: they use what others make.
        roots: Ids of the outermost graphs whose nodes a call of the function may run; None before its first call.
        observers: TensorFlow's registry keeps them weakly, the graph through this.
    """

    def __init__(self) -> None:
        self.ops: set[str] = set()
        self.nodes: dict[str, Any] = {}
        self.sites: list[CallSite] = []
        self.roots: tuple[int, ...] | None = None
        self.observers: list[Observer] = []


class Observer:
    """Entry in TensorFlow's registry of functions for one observed node: gets the node's inputs and outputs.

    Attributes:
        site: Of the node.
        graph: Id of the outermost graph that the node is in.
        dtypes, shapes: Of what is handed over; None for a shape that only a run knows.
        counted: Whether a summary has TensorFlow's counts.
        inputs: For each input of the node: its place among the values, or -1 if its values cannot be read.
        outputs: The same of the outputs.
        health: Whether summaries are handed over instead of the values.
    """

    __slots__ = ('__weakref__', '_seen', 'counted', 'dtypes', 'graph', 'health', 'inputs', 'outputs', 'shapes', 'site')

    def __init__(self, site: CallSite, graph: int, seen: Callable[[Observer, Sequence[Any]], None], health: bool) -> None:
        self.site = site
        self.graph = graph
        self.health = health
        self.dtypes: list[np.dtype[Any]] = []
        self.shapes: list[tuple[int, ...] | None] = []
        self.counted: list[bool] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self._seen = seen

    def __call__(self, *values: Any) -> list[Any]:
        self._seen(self, values)
        return []

    def summary(self, place: int, given: Any) -> ValueSummary:
        """Known facts of the value at a place whose summary was handed over."""
        counts: Any = None
        if self.counted[place]:
            counts, given = given[:_COUNTS].astype(np.int64).tolist(), given[_COUNTS:]
        shape = self.shapes[place]
        shape = shape if shape is not None else tuple(int(size) for size in given)
        if counts is None:
            return ValueSummary(self.dtypes[place], shape)
        neg_inf, pos_inf, nan, neg, zero, pos = counts[5:]
        return ValueSummary(self.dtypes[place], shape, nan, neg_inf, neg, zero, pos, pos_inf)


class Observers:
    """Inserter of observers into graphs.

    Args:
        seen: Told of each execution.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, register: Callable[[Any, Any], str],
                 seen: Callable[[Observer, Sequence[Any]], None]) -> None:
        self._parts = parts
        self._host = host
        self._register = register
        self._seen = seen
        self.python_site: Callable[[Any], CallSite | None] = lambda op: None

    def observe(self, graph: Any, health: bool) -> None:
        """Give an observer to every node of a function's graph that has none yet."""
        known: ObservedNodes | None = getattr(graph, _SEEN, None)
        if known is None:
            known = ObservedNodes()
            setattr(graph, _SEEN, known)
        arguments = {tensor.op.name for tensor in graph.inputs}
        new = [op for op in graph.get_operations() if op.name not in known.ops and op.name not in arguments]
        known.ops.update(op.name for op in new)
        outer = outer_tensors(graph)
        for op in new:
            before = [known.nodes[made.op.name] for made in map(maker, op.inputs) if made.op.name in known.nodes]
            if before and (op.type == 'Identity' or _calls_function(op)):
                op._add_control_inputs(before)  # values are seen in the order in which they are made, whatever they go into
            if op.type not in _UNSEEN and any(_readable(tensor) for tensor in op.outputs):
                known.nodes[op.name] = self._add(graph, op, known, health, before, outer)
            elif op.type not in _PASSED and any(_readable(tensor) for tensor in op.inputs):
                known.sites.append(self._site_without_observer(graph, op, outer))

    def _add(self, graph: Any, op: Any, known: ObservedNodes, health: bool, after: Sequence[Any],
             outer: dict[str, Any]) -> Any:
        site = self._site(graph, op, outer)
        observer = Observer(site, id(outermost(graph)), self._seen, health)
        tensors: list[Any] = []
        for side, places in ((op.inputs, observer.inputs), (op.outputs, observer.outputs)):
            for tensor in side:
                if not _readable(tensor):
                    places.append(-1)
                elif (place := next((i for i, other in enumerate(tensors) if other is tensor), None)) is not None:
                    places.append(place)
                else:
                    places.append(len(tensors))
                    tensors.append(tensor)
        observer.dtypes = [np.dtype(tensor.dtype.as_numpy_dtype) for tensor in tensors]
        observer.counted = [tensor.dtype.is_floating for tensor in tensors]
        observer.shapes = [tuple(tensor.shape.as_list()) if tensor.shape.is_fully_defined() else None for tensor in tensors]
        scripts, ops = self._parts.scripts, self._parts.ops
        token = self._register(scripts._py_funcs, observer)
        before = len(graph.get_operations())
        with graph.as_default(), _only_after(graph, after), ops.device('/CPU:0'), ops.name_scope(SCOPE):
            given = [self._summary(tensor) for tensor in tensors] if health else tensors
            node = scripts.gen_script_ops.py_func(input=given, token=token, Tout=[], name='observer')
        known.ops.update(each.name for each in graph.get_operations()[before:])
        graph.control_outputs.append(node)
        known.sites.append(site)
        known.observers.append(observer)
        holder = graph
        while (holder := getattr(holder, 'outer_graph', None)) is not None and is_function(holder):
            around = getattr(holder, _SEEN, None)
            if around is not None:              # the graph of a branch may go; its function is run by the one around it
                around.observers.append(observer)
        return node

    def _summary(self, tensor: Any) -> Any:
        """TensorFlow's counts of what a tensor holds, if it has some for its type; its sizes where only a run knows them."""
        debug, arrays, math, double = self._parts.debug, self._parts.arrays, self._parts.math, self._parts.dtypes.float64
        parts = []
        if tensor.dtype.is_floating:
            parts.append(debug.debug_numeric_summary_v2(tensor, tensor_debug_mode=_HEALTH, output_dtype=double))
        if not tensor.shape.is_fully_defined() or not parts:
            parts.append(math.cast(arrays.shape(tensor), double))
        return parts[0] if len(parts) == 1 else arrays.concat_v2(parts, 0)

    def _site_without_observer(self, graph: Any, op: Any, outer: dict[str, Any]) -> CallSite:
        """Of a node that makes no tensor to look at, or whose function is a call by itself."""
        python = self.python_site(op) if op.type in SCRIPTS else None
        return python if python is not None else self._site(graph, op, outer, _unseen=True)

    def _site(self, graph: Any, op: Any, outer: dict[str, Any], **more: Any) -> CallSite:
        return CallSite(prefix(graph) + op.name, op.type, 'op', self._host, stack=creation(op),
                        inputs=[name_of(tensor, outer) for tensor in op.inputs],
                        outputs=[prefix(graph) + tensor.name for tensor in op.outputs],
                        attrs={**plain_attrs(op), **surroundings(op), RETURNED: reads_returned(op),
                               'function': str(graph.name), **more}, traits=op_traits(op.type))


def is_observed(graph: Any) -> bool:
    """Whether a graph was given its observers."""
    return getattr(graph, _SEEN, None) is not None


def sites_of(graph: Any) -> Sequence[CallSite]:
    """Of the nodes of a graph that have observers."""
    known: ObservedNodes | None = getattr(graph, _SEEN, None)
    return known.sites if known is not None else ()


def _calls_function(op: Any) -> bool:
    return any(attr.type in ('func', 'list(func)') for attr in op.op_def.attr)


def roots_of(graph: Any) -> tuple[int, ...]:
    """Ids of the outermost graphs whose nodes run in a call of an observed function."""
    known: ObservedNodes = getattr(graph, _SEEN)
    if known.roots is None:
        known.roots = tuple(id(root) for root in reached(graph))
    return known.roots


@contextmanager
def _only_after(graph: Any, nodes: Sequence[Any]) -> Iterator[None]:
    """Nodes that are made here wait for these, and for no others that the program asks for."""
    with graph.control_dependencies(None), graph.control_dependencies(nodes):
        yield


def _readable(tensor: Any) -> bool:
    return tensor.dtype.name not in _UNREADABLE and not tensor.dtype._is_ref_dtype
