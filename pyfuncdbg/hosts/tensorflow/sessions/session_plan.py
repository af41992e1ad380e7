"""Plan of a `Session.run`: the nodes that its fetches need, in executable order, with their sites.

Made once for the same fetches and feeds and kept on the graph itself, so that it lives as long; on the thread of a run.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run, RunForm
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import plain_attrs, surroundings
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.ref_variable_order import RefVariableOrder, written_slots
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnits, is_handle

PLANS, _SITES = '_pyfuncdbg_plans', '_pyfuncdbg_sites'
_KEPT = 256
_PLACEHOLDERS = ('Placeholder', 'PlaceholderV2')


class PlanKey(RunForm):
    """Key by which the runs of one plan are recognized: the plan itself, as long as its graph lives."""

    __slots__ = ('plan',)

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = weakref.ref(plan)


class Plan:
    """Plan of all runs with the same fetches and feeds.

    Attributes:
        graph: The graph, weakly: the plan is kept by it.
        units: What runs together, in an order in which it can.
        nodes: All nodes in that order; constants and what is fed are none.
        sites: Of the nodes: of one that calls a Python function, the function's.
        feeds, fetches, targets: Tensors and nodes that the program named.
        constants: By name, those that were asked for.
        form: As in `Run`.
        going: The runs of the graph that go on, this plan's and others', in order of their beginning.
        announce: Gives the sites, for a `Run`.
        writes: Whether a node writes to a v1 variable.
        asked: A `hooks.stamp`, and whether a hook was interested under it in a run, or in a Python function of it.
    """

    __slots__ = ('__weakref__', '_callers', '_kernels', '_references', 'announce', 'asked', 'constants', 'feed_names',
                 'feeds', 'fetch_names', 'fetches', 'form', 'going', 'graph', 'nodes', 'sites', 'targets', 'units', 'writes')

    def __init__(self, graph: Any, units: RunUnits, sites: tuple[CallSite, ...], feeds: Sequence[Any],
                 fetches: Sequence[Any], targets: Sequence[Any], going: list[Run]) -> None:
        self.graph = weakref.ref(graph)
        self.units = units
        self.nodes = units.nodes
        self.sites = sites
        self.feeds = tuple(feeds)
        self.fetches = tuple(fetches)
        self.targets = tuple(targets)
        self.form = PlanKey(self)
        self.going = going
        self.announce = lambda: sites           # one for all runs
        self.asked: tuple[object, bool] = None, True
        self.feed_names = tuple(tensor.name for tensor in feeds)
        self.fetch_names = tuple(tensor.name for tensor in fetches)
        self.constants: dict[str, Any] = {}
        self.writes = any(written_slots(op) for op in self.nodes)
        self._kernels: dict[str, NodeKernel] = {}
        self._references: RefVariableOrder | None = None
        self._callers: dict[str, list[int]] | None = None

    @property
    def references(self) -> RefVariableOrder:
        """The order of its nodes' reads and assignments of v1 variables."""
        if self._references is None:
            self._references = RefVariableOrder(
                self.nodes, self.units.flowing, {op for op in self.nodes if self.units.sorts[op] == 'effect'},
                frozenset(self.feed_names), self.fetch_names)
        return self._references

    def callers(self, token: str) -> Sequence[int]:
        """Places of the nodes that call the Python function of a token."""
        if self._callers is None:
            self._callers = {}
            for place, op in enumerate(self.nodes):
                if op.type in SCRIPTS:
                    self._callers.setdefault(op.get_attr('token').decode(), []).append(place)
        return self._callers.get(token, ())

    def kernel(self, op: Any) -> NodeKernel:
        """The kernel of a node without state."""
        found = self._kernels.get(op.name)
        if found is None:
            found = self._kernels[op.name] = NodeKernel(op)
        return found


class SessionPlans:
    """The plans of all graphs that run.

    Args:
        host: Of the sites.
        python_site: The site of the function that a node calls; None if it is no function of the program's.
        going: The runs that go on, by the id of their graph.
    """

    def __init__(self, host: Host, python_site: Callable[[Any], CallSite | None], going: dict[int, list[Run]]) -> None:
        self._host = host
        self._going = going
        self._python_site = python_site
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()

    def of(self, graph: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> Plan:
        """The plan of a run."""
        plans = getattr(graph, PLANS, None) or self._kept(graph, PLANS)
        # TensorFlow lets nobody change nodes that have run; a plan keeps its tensors, so their ids stay theirs.
        key = *map(id, fetches), None, *map(id, targets), None, *map(id, feeds)
        found: Plan | None = plans.get(key)
        if found is None:
            if len(plans) >= _KEPT:
                plans.clear()
            found = plans[key] = self._made(graph, fetches, targets, feeds)
        return found

    def forget(self) -> None:
        """Take our marks off TensorFlow's graphs."""
        for graph in list(self._graphs):
            for name in (PLANS, _SITES):
                if hasattr(graph, name):
                    delattr(graph, name)
        self._graphs.clear()

    def _kept(self, graph: Any, name: str) -> dict[Any, Any]:
        """A table of ours that a graph keeps; its class has no `__dict__` to look into."""
        found: dict[Any, Any] | None = getattr(graph, name, None)
        if found is None:
            self._graphs.add(graph)
            found = {}
            setattr(graph, name, found)
        return found

    def _made(self, graph: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> Plan:
        found = needed([*(tensor.op for tensor in fetches), *targets], feeds)
        made = {op: place for place, op in enumerate(graph.get_operations())}
        units = RunUnits([op for op in found if not is_constant(op)], made, fetches, targets)
        if id(graph) not in self._going:        # another graph may have the number later
            weakref.finalize(graph, self._going.pop, id(graph), None).atexit = False
        return Plan(graph, units, tuple(self.site(op) for op in units.nodes), feeds, fetches, targets,
                    self._going.setdefault(id(graph), []))

    def site(self, op: Any) -> CallSite:
        """The site of a node: of the Python function that it calls, or of the node itself."""
        python = self._python_site(op) if op.type in SCRIPTS else None
        return python if python is not None else self.op_site(op)

    def op_site(self, op: Any) -> CallSite:
        """The site of a node as an op: also one that calls a Python function has one, around that call."""
        graph = op.graph
        sites = self._kept(graph, _SITES)
        site: CallSite | None = sites.get(op.name)
        if site is None:
            attrs = {**plain_attrs(op), **surroundings(op)}
            if is_handle(op):
                attrs['_handle'] = True
            if NodeKernel.fits(op):
                attrs['_call'] = NodeKernel(op).on_values
            site = sites[op.name] = CallSite(
                op.name, op.type, 'op', self._host, stack=creation(op), inputs=[t.name for t in op.inputs],
                outputs=[t.name for t in op.outputs], attrs=attrs, traits=op_traits(op.type))
        return site


def needed(roots: Iterable[Any], feeds: Iterable[Any]) -> list[Any]:
    """The nodes that must run: nothing behind a fed tensor."""
    fed = {tensor.name for tensor in feeds}
    found: dict[Any, None] = {}
    stack = [(op, op.type not in _PLACEHOLDERS) for op in roots]
    while stack:
        op, waited_for = stack.pop()
        if op in found or (op.outputs and not waited_for and all(tensor.name in fed for tensor in op.outputs)):
            continue
        found[op] = None
        stack += [(tensor.op, False) for tensor in op.inputs if tensor.name not in fed]
        stack += [(other, other.type not in _PLACEHOLDERS) for other in op.control_inputs]
    return list(found)
