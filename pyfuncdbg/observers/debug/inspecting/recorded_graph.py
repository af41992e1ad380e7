"""The graph that runs executed, as recorded: nodes with inputs, control inputs, consumers.

Made from the sites that a run announced, so nodes that did not run are in it. Read from a trace, on any thread.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.hooks.graph_context import GRAPH, RETURNED
from pyfuncdbg.observers.debug.inspecting.creation_line import twin_key
from pyfuncdbg.observers.debug.inspecting.eager_plan import eager_plan, newest_eager_plan
from pyfuncdbg.observers.record.records import PlanRecord, RunRecord, SiteRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

_JOINED = 100
"""Newest plans whose nodes are put together."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor that is known before a run: no node runs for it.

    Attributes:
        dtype, shape: '' and () if unknown.
        first: Its first elements.
    """

    dtype: str
    shape: tuple[int, ...]
    first: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RecordedNode:
    """One node.

    Attributes:
        site: As it was announced: of a wrapped function, its Python call.
        op: The same node as a step of the graph, where that was recorded too.
        inputs: Names of tensors, in order.
        control: Names of nodes that run before it without giving it a value.
    """

    site: SiteRecord
    op: SiteRecord | None = None

    @property
    def name(self) -> str:
        """'layer/norm'."""
        return self.site.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of tensors, in order."""
        return self.site.inputs

    @property
    def control(self) -> tuple[str, ...]:
        """Names of the nodes that run before it and give it no value."""
        names = self.site.attrs.get('_control', ())
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()

    @property
    def returned(self) -> tuple[ReturnedOutput, ...]:
        """Its outputs that the function of its graph returns."""
        return tuple(ReturnedOutput(entry[0], entry[1], tuple(name for name in _as_list(entry[2]) if isinstance(name, str)))
                     for entry in _as_list(self.site.attrs.get(RETURNED)) if isinstance(entry, list | tuple)
                     and len(entry) == 3 and type(entry[0]) is int and isinstance(entry[1], str))

    @property
    def is_unseen(self) -> bool:
        """Whether its calls are never seen, such as a write to a variable, which makes no tensor."""
        return self.site.attrs.get('_unseen') is True

    @property
    def is_handle(self) -> bool:
        """Whether it names what only its host can hold, such as a variable, and so has no calls."""
        return self.site.attrs.get('_handle') is True

    @property
    def sites(self) -> tuple[SiteRecord, ...]:
        """Its sites: calls are found at each."""
        return (self.site,) if self.op is None else (self.site, self.op)


@dataclass(frozen=True, slots=True)
class ReturnedOutput:
    """An output that the function of its graph returns.

    Attributes:
        slot: Which output of its node.
        function: Name of the function: of a branch, the body of a loop, a function that is called.
        outside: The tensors that it becomes where the function is called; none where that is not known.
    """

    slot: int
    function: str
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TensorUse:
    """A node that takes a tensor of another; `slot` is -1 for a control input."""

    node: str
    slot: int
    tensor: str


@dataclass(frozen=True, slots=True)
class RecordedGraph:
    """The recorded graph of one plan.

    Attributes:
        plan: What its runs have in common; None for what no run announces: eager calls, the inside of loops and branches.
        run: The run that values are taken from, None for the newest.
        nodes: By name, in order of execution.
        constants: By tensor name.
        users: Who takes from a node, a feed or a constant, by the name of that.
    """

    plan: PlanRecord | None
    run: int | None
    nodes: Mapping[str, RecordedNode]
    constants: Mapping[str, Constant] = field(default_factory=dict)
    users: Mapping[str, Sequence[TensorUse]] = field(default_factory=dict)

    def is_fed(self, name: str) -> bool:
        """Whether this is the node of a fed tensor, and no node of the run."""
        return self.plan is not None and name not in self.nodes and any(
            feed.startswith(name) and owner(feed) == name for feed in self.plan.feeds)

    def is_fetched(self, tensor: str) -> bool:
        """Whether runs give this tensor to the program."""
        return self.plan is not None and tensor in self.plan.fetches

    def has(self, name: str) -> bool:
        """Whether it is a node, or something that nodes take tensors of."""
        return name in self.nodes or name in self.users or self.is_fed(name)

    def node_of(self, site: SiteRecord) -> RecordedNode | None:
        """The node of a site; None if it is of another graph."""
        node = self.nodes.get(full_name(site))
        has_it = node is not None and any((one.process, one.id) == (site.process, site.id) for one in node.sites)
        return node if has_it else None

    def constant(self, name: str) -> Constant | None:
        """The value of a constant, by the name of its node."""
        return self.constants.get(f'{name}:0')

    def inputs(self, name: str, *, control: bool = False) -> list[TensorUse]:
        """The inputs of a node; `TensorUse.node` is the one that each comes from."""
        node = self.nodes.get(name)
        if node is None:
            return []
        found = [TensorUse(owner(tensor), slot, tensor) for slot, tensor in enumerate(node.inputs) if tensor]
        return found + [TensorUse(other, -1, '') for other in node.control if control]

    def outputs(self, name: str, *, control: bool = False) -> list[TensorUse]:
        """The uses of a node's outputs by other nodes."""
        return [use for use in self.users.get(name, ()) if control or use.slot >= 0]


def owner(tensor: str) -> str:
    """'mm' of 'mm:0'."""
    name, colon, slot = tensor.rpartition(':')
    return name if colon and slot.isdecimal() else tensor


def graph_of(trace: Trace, plan: PlanRecord, run: int | None = None, *,
             sites: Mapping[tuple[int, int], SiteRecord] | None = None) -> RecordedGraph:
    """The first graph of `graphs_of`, which is all of a run that is of one graph."""
    return graphs_of(trace, plan, run, sites=sites)[0]


def graphs_of(trace: Trace, plan: PlanRecord, run: int | None = None, *,
              sites: Mapping[tuple[int, int], SiteRecord] | None = None) -> list[RecordedGraph]:
    """The nodes of a plan; `sites` are those of the trace, if known.

    Without a run, the nodes of other plans of the same graph come behind those of this one. Calls of several functions, such
    as those of a dataset, may have nodes of one name: then each function has a graph.
    """
    known_sites = sites_by_key(trace) if sites is None else sites
    if run is None:
        plan = _merge_plans([plan, *(other for other in trace.plans() if other != plan)])
    twins = _twins(known_sites.values())
    found = [site for number in plan.sites if (site := known_sites.get((plan.process, number))) is not None]
    by_graph: dict[int, list[SiteRecord]] = {}
    graphs_by_name: dict[str, set[int]] = {}
    for site in found:
        by_graph.setdefault(site_graph(site), []).append(site)
        graphs_by_name.setdefault(full_name(site), set()).add(site_graph(site))
    separate = any(len(numbers) > 1 for numbers in graphs_by_name.values())
    return [RecordedGraph(plan, run, nodes := _nodes(group, twins), _constants(nodes), _users(nodes))
            for group in (by_graph.values() if separate else [found])]


def site_graph(site: SiteRecord) -> int:
    """The number of the graph of a site; 0 of eager calls, and of hosts that have no graphs."""
    number = site.attrs.get(GRAPH)
    return number if type(number) is int else 0


def graph_of_sites(sites: Sequence[SiteRecord]) -> RecordedGraph:
    """The graph of sites that no run announced; of two of one name the later Python function is in it."""
    nodes = _nodes(sorted(sites, key=lambda site: site.kind == 'python'), _twins(sites))
    return RecordedGraph(None, None, nodes, _constants(nodes), _users(nodes))


def _nodes(sites: Iterable[SiteRecord], twins: Mapping[tuple[int, str, str], SiteRecord]) -> dict[str, RecordedNode]:
    return {full_name(site): RecordedNode(site, twins.get(twin_key(site)) if site.kind == 'python' else None)
            for site in sites}


def full_name(site: SiteRecord) -> str:
    """The name that those who take its outputs know it by: inside of a branch the branch's name is in front."""
    name = owner(site.outputs[0]) if site.kind == 'python' and site.outputs else ''
    return name if name.endswith(f'/{site.name}') else site.name


def _twins(sites: Iterable[SiteRecord]) -> dict[tuple[int, str, str], SiteRecord]:
    """Wrapped functions as steps of the graph."""
    return {twin_key(site): site for site in sites if site.kind == 'op' and 'token' in site.attrs}


def _merge_plans(plans: Sequence[PlanRecord]) -> PlanRecord:
    """The first plan with what others of its graph add: those that share a node with it."""
    first = plans[0]
    sites, feeds, runs = dict.fromkeys(first.sites), dict.fromkeys(first.feeds), first.runs
    fetches = dict.fromkeys(first.fetches)
    for other in plans[1:_JOINED]:
        if other.process == first.process and not sites.keys().isdisjoint(other.sites):
            sites.update(dict.fromkeys(other.sites))
            feeds.update(dict.fromkeys(other.feeds))
            fetches.update(dict.fromkeys(other.fetches))
            runs += other.runs
    return replace(first, sites=tuple(sites), feeds=tuple(feeds), fetches=tuple(fetches), runs=runs)


def sites_by_key(trace: Trace) -> dict[tuple[int, int], SiteRecord]:
    """All sites by process and id."""
    return {(site.process, site.id): site for site in trace.sites()}


def _users(nodes: Mapping[str, RecordedNode]) -> dict[str, list[TensorUse]]:
    uses: dict[str, list[TensorUse]] = {}
    for name, node in nodes.items():
        for slot, tensor in enumerate(node.inputs):
            if tensor:
                uses.setdefault(owner(tensor), []).append(TensorUse(name, slot, tensor))
        for other in node.control:
            uses.setdefault(other, []).append(TensorUse(name, -1, ''))
    return uses


def _constants(nodes: Mapping[str, RecordedNode]) -> dict[str, Constant]:
    constants: dict[str, Constant] = {}
    for node in nodes.values():
        for entry in _as_list(node.site.attrs.get('_constants')):
            if isinstance(entry, list | tuple) and len(entry) == 4 and isinstance(entry[0], str):
                shape = tuple(size for size in _as_list(entry[2]) if isinstance(size, int))
                constants[entry[0]] = Constant(str(entry[1]), shape, tuple(_as_list(entry[3])))
    return constants


def _as_list(value: Any) -> Sequence[Any]:
    """A trace may be hostile: what is no list has nothing in it."""
    return value if isinstance(value, list | tuple) else ()


def has_graph(trace: Trace) -> bool:
    """Whether a run of a trace announced nodes, or called eager ops."""
    return any(plan.sites for plan in trace.plans()) or newest_eager_plan(trace) is not None


def plan_of(trace: Trace, run: int | None = None) -> PlanRecord:
    """The plan of a run; of the newest that has nodes if None. Of eager code it is what was called.

    Raises:
        CommandError: There is no such run, or none has announced nodes.
    """
    if run is None:
        found = next((plan for plan in trace.plans() if plan.sites), None) or newest_eager_plan(trace)
        if found is None and not trace.count():
            raise CommandError('no graph ran in this trace, and no call was recorded: ', TypedCommand('info'),
                               ' tells what the program was')
        if found is None and any(isinstance(site.attrs.get('graph'), str) for site in trace.sites()):
            raise CommandError('the calls of this trace are of functions whose nodes were not recorded, which --ops does: ',
                               TypedCommand('calls'), ' lists them, ', TypedCommand('ls'), ' the lines that made them')
        if found is None:
            raise CommandError('no graph ran in this trace, its calls are eager: ', TypedCommand('calls'), ' lists them, ',
                               TypedCommand('ls'), ' the lines that made them')
        return found
    record = trace.run(run)
    return (None if record.sites else eager_plan(trace, record)) or plan_of_run(record)


def plan_of_run(record: RunRecord) -> PlanRecord:
    return PlanRecord(record.process, record.label, record.host, tuple(tensor.name for tensor in record.feeds),
                      record.fetch_names, record.sites, record.kind, 1, record.id)
