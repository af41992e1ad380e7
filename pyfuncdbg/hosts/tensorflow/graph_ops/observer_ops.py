"""Observers in the graphs of traced functions: nodes that report an op's inputs and outputs.

TensorFlow's op callbacks may add nodes only while the program makes its own, and random ops take their seeds from the
number of nodes: results would differ. So a graph gets all its observers when TensorFlow makes a function of it, with the
program's nodes and their order unchanged. An observer runs on a thread of TensorFlow's: as a kernel that keeps references to
numbers until `waiting_ops` takes them, or as a Python function, for strings and where no kernel was compiled.

SavedModels are written without observers, which belong to this process and could not run in another: TensorFlow calls for
that on the thread that saves, before the model is written.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import STOP_REMARK
from pyfuncdbg.hooks.graph_context import RETURNED
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation_frames
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import node_context, plain_attrs
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCOPE, SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.returned_outputs import returned_reader
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import (
    is_function,
    name_of,
    outer_tensors,
    outermost,
    prefix,
    reached_graphs,
    source_tensor,
)
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_UNOBSERVED = SCRIPTS | {'Const', 'Identity', 'NoOp', 'Placeholder', 'PlaceholderV2', 'PlaceholderWithDefault', '_Arg',
                         '_Retval', 'Assert', 'DebugNumericSummaryV2'}
"""Nodes that compute nothing, or whose function is a call of its own."""
_PASSING_ON = frozenset(('Identity', 'IdentityN', 'NoOp', '_Retval'))
"""Nodes that only pass values on to their users."""
_UNREADABLE = frozenset(('resource', 'variant'))
_OBSERVED = '_pyfuncdbg_observed'
REMARK = ('The program goes on with what this op gave. To replace a value, let a function of tf.py_function or '
          "tf.numpy_function give it: 'inject' works on what that returns.")
"""On a stop at an op: what is observed has run."""


class ObservedNodes:
    """Observed nodes of one graph, and their observers.

    Attributes:
        ops: Names of the nodes that were visited, and of ours.
        nodes: The observer of a node, by the node's name.
        sites: Of the nodes, also of those without an observer: they use outputs of others.
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
    """Observer of one node, for its inputs and outputs; an entry in TensorFlow's registry where it is a Python function.

    Attributes:
        site: Of the node.
        graph: Id of the outermost graph that the node is in.
        inputs: For each input of the node: its index among the values, or -1 if it cannot be read.
        outputs: The same of the outputs.
    """

    __slots__ = ('__weakref__', '_on_values', 'graph', 'inputs', 'outputs', 'site')

    def __init__(self, site: CallSite, graph: int, on_values: Callable[[Observer, Sequence[Any]], None]) -> None:
        self.site = site
        self.graph = graph
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self._on_values = on_values

    def __call__(self, *values: Any) -> list[Any]:
        self._on_values(self, values)
        return []


class Observers:
    """Inserter of observers into graphs.

    Args:
        register: Registers a Python function with TensorFlow.
        on_values: Called at each execution of a Python function.
    """

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, register: Callable[[Any, Any], str],
                 on_values: Callable[[Observer, Sequence[Any]], None]) -> None:
        self._parts = parts
        self._host = host
        self._register = register
        self._on_values = on_values
        self.number: Callable[[Observer], int] | None = None
        """Numbers an observer for its kernel; None where there are no kernels."""
        self.kernel_types: dict[int, np.dtype[Any]] = {}
        self.python_site: Callable[[Any], CallSite | None] = lambda op: None

    def observe(self, graph: Any) -> None:
        """Give an observer to every node of a function's graph that has none yet."""
        observed: ObservedNodes | None = getattr(graph, _OBSERVED, None)
        if observed is None:
            observed = ObservedNodes()
            setattr(graph, _OBSERVED, observed)
        arguments = {tensor.op.name for tensor in graph.inputs}
        ops = [op for op in graph.get_operations() if op.name not in observed.ops and op.name not in arguments]
        observed.ops.update(op.name for op in ops)
        outer = outer_tensors(graph)
        for op in ops:
            before = [*(source_tensor(tensor).op.name for tensor in op.inputs), *(other.name for other in op.control_inputs)]
            observers = [observed.nodes[name] for name in dict.fromkeys(before) if name in observed.nodes]
            if observers:                       # what an op takes is recorded before it fails, or calls Python
                op._add_control_inputs(observers)
            if op.type not in _UNOBSERVED and any(_readable(tensor) for tensor in op.outputs):
                observed.nodes[op.name] = self._add(graph, op, observed, observers, outer)
            elif op.type not in _PASSING_ON and any(_readable(tensor) for tensor in op.inputs):
                observed.sites.append(self._site_without_observer(graph, op, outer))

    def _add(self, graph: Any, op: Any, observed: ObservedNodes, after: Sequence[Any], outer: dict[str, Any]) -> Any:
        site = self._site(graph, op, outer)
        observer = Observer(site, id(outermost(graph)), self._on_values)
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
        count = len(graph.get_operations())
        with graph.as_default(), _only_after(graph, after), self._parts.ops.device('/CPU:0'), (
                self._parts.ops.name_scope(SCOPE)):
            node = self._node(graph, observer, tensors)
        observed.ops.update(each.name for each in graph.get_operations()[count:])
        graph.control_outputs.append(node)
        observed.sites.append(site)
        observed.observers.append(observer)
        holder = graph
        while (holder := getattr(holder, 'outer_graph', None)) is not None and is_function(holder):
            enclosing = getattr(holder, _OBSERVED, None)
            if enclosing is not None:              # the graph of a branch may be freed before its function runs
                enclosing.observers.append(observer)
        return node

    def _node(self, graph: Any, observer: Observer, tensors: Sequence[Any]) -> Any:
        """The node of an observer in a graph."""
        types = {tensor.dtype.as_datatype_enum: np.dtype(tensor.dtype.as_numpy_dtype) for tensor in tensors}
        if self.number is None or any(dtype.hasobject for dtype in types.values()):
            scripts = self._parts.scripts
            token = self._register(scripts._py_funcs, observer)
            return scripts.gen_script_ops.py_func(input=tensors, token=token, Tout=[], name='observer')
        self.kernel_types.update(types)
        value = self._parts.attrs.AttrValue
        attrs = {'types': value(list=value.ListValue(type=[tensor.dtype.as_datatype_enum for tensor in tensors])),
                 'observer': value(i=self.number(observer)), 'root': value(i=observer.graph)}
        return graph._create_op_internal('PyfuncdbgObserver', tensors, [], name='observer', attrs=attrs)

    def _site_without_observer(self, graph: Any, op: Any, outer: dict[str, Any]) -> CallSite:
        """The site of a node without outputs to observe, or of its Python function."""
        python = self.python_site(op) if op.type in SCRIPTS else None
        return python if python is not None else self._site(graph, op, outer, _unseen=True)

    def _site(self, graph: Any, op: Any, outer: dict[str, Any], **more: Any) -> CallSite:
        return CallSite(prefix(graph) + op.name, op.type, 'op', self._host, stack=creation_frames(op),
                        inputs=[name_of(tensor, outer) for tensor in op.inputs],
                        outputs=[prefix(graph) + tensor.name for tensor in op.outputs],
                        attrs={**plain_attrs(op), **node_context(op), RETURNED: returned_reader(op),
                               'function': str(graph.name), STOP_REMARK: REMARK, **more},
                        traits=op_traits(op.type)._replace(seen_afterwards=True))


def is_observed(graph: Any) -> bool:
    """Whether a graph has its observers."""
    return getattr(graph, _OBSERVED, None) is not None


def sites_of(graph: Any) -> Sequence[CallSite]:
    """The sites of the observed nodes of a graph."""
    observed: ObservedNodes | None = getattr(graph, _OBSERVED, None)
    return observed.sites if observed is not None else ()


def _calls_function(op: Any) -> bool:
    return any(attr.type in ('func', 'list(func)') for attr in op.op_def.attr)


def roots_of(graph: Any) -> tuple[int, ...]:
    """The ids of the outermost graphs whose nodes run in a call of an observed function."""
    observed: ObservedNodes = getattr(graph, _OBSERVED)
    if observed.roots is None:
        observed.roots = tuple(id(root) for root in reached_graphs(graph))
    return observed.roots


@contextmanager
def _only_after(graph: Any, nodes: Sequence[Any]) -> Iterator[None]:
    """In this block new nodes wait for these, and for no others that the program asks for."""
    with graph.control_dependencies(None), graph.control_dependencies(nodes):
        yield


def _readable(tensor: Any) -> bool:
    return tensor.dtype.name not in _UNREADABLE and not tensor.dtype._is_ref_dtype


def install(parts: TensorFlowParts, patches: Patches) -> None:
    """Replace TensorFlow's function that builds a model."""
    patches.replace(parts.saving, '_build_meta_graph', _replace_build(parts.saving._build_meta_graph, parts.registry.get))


def _replace_build(original: Callable[..., Any], definition: Callable[[str], Any]) -> Callable[..., Any]:
    def _build_meta_graph(*args: Any, **settings: Any) -> Any:
        try:
            result = original(*args, **settings)
        except BaseException as error:
            drop_outermost_frame(error)
            raise
        _remove_observers(result[0], definition)
        return result
    return _build_meta_graph


def _remove_observers(meta: Any, definition: Callable[[str], Any]) -> None:
    """Remove observers from a MetaGraphDef, and from its list of ops those that are no longer used."""
    functions = meta.graph_def.library.function
    ops = meta.meta_info_def.stripped_op_list.op
    observed = [function for function in functions if _remove_nodes(function.node_def)]
    if not observed:
        return
    for function in observed:
        for name, node in list(function.control_ret.items()):
            if node.startswith(SCOPE):
                del function.control_ret[name]
        names = [name for name in function.signature.control_output if name in function.control_ret]
        function.signature.control_output[:] = names
        function.signature.is_stateful = any(
            (op := definition(node.op)) is None or op.is_stateful for node in function.node_def)
    used = {node.op for nodes in (meta.graph_def.node, *(function.node_def for function in functions)) for node in nodes}
    for index in reversed([index for index, op in enumerate(ops) if op.name not in used]):
        del ops[index]


def _remove_nodes(nodes: Any) -> bool:
    """Remove observers from the nodes of a function, and what waits for them; whether there were any."""
    indices = [index for index, node in enumerate(nodes) if node.name.startswith(SCOPE)]
    for index in reversed(indices):
        del nodes[index]
    for node in nodes if indices else ():
        inputs = [name for name in node.input if not name.startswith(f'^{SCOPE}')]
        if len(inputs) < len(node.input):
            node.input[:] = inputs
    return bool(indices)
