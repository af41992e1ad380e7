"""Plan of a `Session.run`: the nodes that its fetches need, in executable order, with their sites.

Made once for the same fetches and feeds, and kept by the graph itself. On the thread of a run.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, RunForm
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.op_batch import OpSequence
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation_frames
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import node_context, plain_attrs
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.ref_variable_order import RefVariableOrder, written_slots
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnits, is_handle

PLANS, _SITES = '_pyfuncdbg_plans', '_pyfuncdbg_sites'
_MOST_PLANS = 256
_PLACEHOLDERS = ('Placeholder', 'PlaceholderV2')


class PlanKey(RunForm):
    """Key by which the runs of one plan are recognized: the plan itself, as long as its graph lives."""

    __slots__ = ('plan',)

    def __init__(self, plan: SessionPlan) -> None:
        super().__init__()
        self.plan = weakref.ref(plan)


class SessionPlan:
    """Plan of all runs with the same fetches and feeds.

    Attributes:
        graph: The graph, weakly: the graph keeps the plan.
        units: Nodes that run together, in an executable order.
        nodes: All nodes in that order, without constants and fed ones.
        sites: Of the nodes: for a node that calls a Python function, the function's.
        feeds, fetches, targets: Tensors and nodes that the program named.
        constants: By name, those that were asked for.
        form: As in `Run`.
        active_runs: The active runs of the graph, this plan's and others', in order of their beginning.
        list_sites: Gives the sites, for a `Run`.
        writers: Nodes that write to v1 variables.
        has_handles: Whether a node takes a variable, of either version, or another resource.
        sequences: Of the nodes that a recorder got together, by these and the places of their values.
        interest: A `hooks.stamp`, and whether a hook was interested under it in a run, or in a Python function of it.
    """

    __slots__ = (
        '__weakref__',
        '_callers',
        '_fits',
        '_kernels',
        '_names',
        '_variable_order',
        'active_runs',
        'constants',
        'feed_names',
        'feeds',
        'fetch_names',
        'fetches',
        'form',
        'graph',
        'has_handles',
        'interest',
        'list_sites',
        'nodes',
        'sequences',
        'sites',
        'targets',
        'units',
        'writers',
    )

    def __init__(self, graph: Any, units: RunUnits, sites: tuple[CallSite, ...], feeds: Sequence[Any],
                 fetches: Sequence[Any], targets: Sequence[Any], active_runs: list[Run]) -> None:
        self.graph = weakref.ref(graph)
        self.units = units
        self.nodes = units.nodes
        self.sites = sites
        self.feeds = tuple(feeds)
        self.fetches = tuple(fetches)
        self.targets = tuple(targets)
        self.form = PlanKey(self)
        self.active_runs = active_runs
        self.list_sites = lambda: sites           # the same object for all runs
        self.interest: tuple[object, bool] = None, True
        self.feed_names = tuple(tensor.name for tensor in feeds)
        self.fetch_names = tuple(tensor.name for tensor in fetches)
        self.constants: dict[str, Any] = {}
        self.writers = frozenset(op for op in self.nodes if written_slots(op))
        self.has_handles = any(tensor.dtype._is_ref_dtype or tensor.dtype.name == 'resource'
                               for op in self.nodes for tensor in op.inputs)
        self.sequences: dict[Any, OpSequence] = {}
        self._kernels: dict[Any, NodeKernel] = {}
        self._names: dict[Any, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._fits: dict[Any, bool] = {}
        self._variable_order: RefVariableOrder | None = None
        self._callers: dict[str, list[int]] | None = None

    @property
    def variable_order(self) -> RefVariableOrder:
        """The order of its nodes' reads and assignments of v1 variables."""
        if self._variable_order is None:
            self._variable_order = RefVariableOrder(
                self.nodes, self.units.control_flow, {op for op in self.nodes if self.units.sorts[op] == 'effect'},
                frozenset(self.feed_names), self.fetch_names)
        return self._variable_order

    def callers(self, token: str) -> Sequence[int]:
        """The positions of the nodes that call the Python function of a token."""
        if self._callers is None:
            self._callers = {}
            for place, op in enumerate(self.nodes):
                if op.type in SCRIPTS:
                    self._callers.setdefault(op.get_attr('token').decode(), []).append(place)
        return self._callers.get(token, ())

    @property
    def writes_variables(self) -> bool:
        """Whether a node writes to a v1 variable."""
        return bool(self.writers)

    def fits(self, op: Any) -> bool:
        """Whether a node can be computed alone, as `NodeKernel.fits`."""
        fits = self._fits.get(op)
        if fits is None:
            fits = self._fits[op] = NodeKernel.fits(op)
        return fits

    def kernel(self, op: Any) -> NodeKernel:
        """The kernel of a node without state."""
        kernel = self._kernels.get(op)
        if kernel is None:
            kernel = self._kernels[op] = NodeKernel(op)
        return kernel

    def names(self, op: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the inputs and of the outputs of a node: TensorFlow makes new strings and tensors each time."""
        names = self._names.get(op)
        if names is None:
            names = self._names[op] = tuple(tensor.name for tensor in op.inputs), tuple(tensor.name for tensor in op.outputs)
        return names


class SessionPlans:
    """The plans of all graphs that run.

    Args:
        host: Of the sites.
        python_site: The site of the function that a node calls; None if it is not the program's.
        active_runs: By id of their graph.
    """

    def __init__(self, host: Host, python_site: Callable[[Any], CallSite | None], active_runs: dict[int, list[Run]]) -> None:
        self._host = host
        self._active_runs = active_runs
        self._python_site = python_site
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()

    def plan_for(self, graph: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> SessionPlan:
        """The plan of a run."""
        plans = getattr(graph, PLANS, None) or self._graph_table(graph, PLANS)
        # Nodes that have run cannot change; a plan keeps its tensors alive, so that their ids stay their own.
        key = *map(id, fetches), None, *map(id, targets), None, *map(id, feeds)
        plan: SessionPlan | None = plans.get(key)
        if plan is None:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[key] = self._make_plan(graph, fetches, targets, feeds)
        return plan

    def forget(self) -> None:
        """Remove our marks from TensorFlow's graphs."""
        for graph in list(self._graphs):
            for name in (PLANS, _SITES):
                if hasattr(graph, name):
                    delattr(graph, name)
        self._graphs.clear()

    def _graph_table(self, graph: Any, name: str) -> dict[Any, Any]:
        """A table of ours that a graph holds; its class has no `__dict__`."""
        table: dict[Any, Any] | None = getattr(graph, name, None)
        if table is None:
            self._graphs.add(graph)
            table = {}
            setattr(graph, name, table)
        return table

    def _make_plan(self, graph: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> SessionPlan:
        nodes = needed_nodes([*(tensor.op for tensor in fetches), *targets], feeds)
        creation_order = {op: place for place, op in enumerate(graph.get_operations())}
        units = RunUnits([op for op in nodes if not is_constant(op)], creation_order, fetches, targets)
        if id(graph) not in self._active_runs:        # another graph may have the number later
            weakref.finalize(graph, self._active_runs.pop, id(graph), None).atexit = False
        return SessionPlan(graph, units, tuple(self.site(op) for op in units.nodes), feeds, fetches, targets,
                           self._active_runs.setdefault(id(graph), []))

    def site(self, op: Any) -> CallSite:
        """The site of a node: of the Python function that it calls, or of the node itself."""
        python = self._python_site(op) if op.type in SCRIPTS else None
        return python if python is not None else self.op_site(op)

    def op_site(self, op: Any) -> CallSite:
        """The site of a node as an op; a node that calls a Python function has one, too, around that call."""
        graph = op.graph
        sites = self._graph_table(graph, _SITES)
        site: CallSite | None = sites.get(op.name)
        if site is None:
            attrs = {**plain_attrs(op), **node_context(op)}
            if is_handle(op):
                attrs['_handle'] = True
            if NodeKernel.fits(op):
                attrs['_call'] = NodeKernel(op).on_values
            site = sites[op.name] = CallSite(
                op.name, op.type, 'op', self._host, stack=creation_frames(op), inputs=[t.name for t in op.inputs],
                outputs=[t.name for t in op.outputs], attrs=attrs, traits=op_traits(op.type))
        return site


def needed_nodes(roots: Iterable[Any], feeds: Iterable[Any]) -> list[Any]:
    """The nodes that must run: none behind a fed tensor."""
    fed_names = {tensor.name for tensor in feeds}
    nodes: dict[Any, None] = {}
    stack = [(op, op.type not in _PLACEHOLDERS) for op in roots]
    while stack:
        op, waited_for = stack.pop()
        if op in nodes or (op.outputs and not waited_for and all(tensor.name in fed_names for tensor in op.outputs)):
            continue
        nodes[op] = None
        stack += [(tensor.op, False) for tensor in op.inputs if tensor.name not in fed_names]
        stack += [(other, other.type not in _PLACEHOLDERS) for other in op.control_inputs]
    return list(nodes)
