"""Search for the node that a user names.

By its name, the end of it, one of its tensors, a call or its function; on any thread.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError, TypedCommand, nearest
from pyfuncdbg.observers.debug.inspecting.recorded_graph import (
    RecordedGraph,
    RecordedNode,
    full_name,
    graph_of_sites,
    graphs_of,
    owner,
    plan_of,
    plan_of_run,
    site_graph,
    sites_by_key,
)
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node, feed or constant that the user named, with its graph."""

    name: str
    graph: RecordedGraph


def find_node(trace: Trace, text: str, run: int | None = None, near: SiteRecord | None = None) -> FoundNode:
    """The node that is meant: by its name, the end of it, one of its tensors, a call ('#17', 'norm[3]'), its function.

    It is looked for in the graph of `run`, else in that of each kind of run, the newest first, else among eager calls; and
    before all of them in the graph of the site `near`, if no run announced that.

    Raises:
        CommandError: There is none, with the nearest names; or several, with their names.
    """
    sites = sites_by_key(trace)
    graphs = _Graphs(trace, sites, run, near)
    name = text.strip()
    if not name:
        raise CommandError("expected a node, such as 'norm', 'norm:0', 'norm[3]' or '#17'")
    for way in (_of_node, _by_full_name, _by_end, _by_function):
        for graph in graphs:
            names = way(graph, name)
            if len(names) > 1:
                few = ', '.join(names[:8]) + (f' and {len(names) - 8} more' if len(names) > 8 else '')
                raise CommandError(f'{name!r} could be {few}: give the full name')
            if names:
                return FoundNode(names[0], graph)
    for site in sites.values():
        if site.kind == 'gradient' and site.name == name:
            return FoundNode(name, RecordedGraph(None, run, {name: RecordedNode(site)}))
    if name.startswith('#') or name.endswith(']'):
        return _of_call(trace, trace.call(name), sites, graphs)
    where = f'the graph of run #{run}' if run is not None else 'this trace'
    known = dict.fromkeys(known for graph in graphs for node in graph.nodes.values() for known in
                          (node.name, node.name.rpartition('/')[2]))
    hint = nearest(name, known)
    more = (hint,) if hint else (' ', TypedCommand('graph'), ' and ', TypedCommand('calls'), ' list what there is.')
    raise CommandError(f'no node {name!r} in {where}.', *more)


class _Graphs:
    """The graphs of a trace, each made when it is asked for, and once.

    Args:
        near: The graph of this site comes first, if no run announced it.
    """

    def __init__(self, trace: Trace, sites: Mapping[tuple[int, int], SiteRecord], run: int | None,
                 near: SiteRecord | None) -> None:
        self._trace = trace
        self._sites = sites
        self._run = run
        self._near = near
        self._plans = [plan_of(trace, run)] if run is not None else trace.plans()
        self._plans_left = list(self._plans)
        self._of_runs: list[RecordedGraph] = []
        self._of_no_run: list[RecordedGraph] | None = None

    def __iter__(self) -> Iterator[RecordedGraph]:
        if self._near is not None:
            yield from [graph for graph in self._unannounced() if graph.node_of(self._near) is not None]
        yield from self._announced()
        if self._run is None:
            yield from self._unannounced()

    def _announced(self) -> Iterator[RecordedGraph]:
        yield from list(self._of_runs)
        while self._plans_left:
            graphs = graphs_of(self._trace, self._plans_left.pop(0), self._run, sites=self._sites)
            self._of_runs += graphs
            yield from graphs

    def _unannounced(self) -> list[RecordedGraph]:
        """The sites that no run announced: of eager calls, and of nodes inside of loops, branches and functions. The newest
        first; those of another graph, and eager calls of another line, may have the same names."""
        if self._of_no_run is not None:
            return self._of_no_run
        announced = {(plan.process, number) for plan in self._plans for number in plan.sites}
        twins_of_nodes = {_twin(node.site) for graph in self._announced() for node in graph.nodes.values()}
        by_graph: dict[tuple[int, int], list[SiteRecord]] = {}
        for key, site in self._sites.items():
            if site.kind in ('python', 'op') and key not in announced and _twin(site) not in twins_of_nodes:
                by_graph.setdefault((site.process, site_graph(site)), []).append(site)
        self._of_no_run = []
        for sites in reversed(by_graph.values()):
            while sites:
                self._of_no_run.append(graph_of_sites(sites))
                kept = {node.site.id for node in self._of_no_run[-1].nodes.values()}
                sites = [site for site in sites if site.kind == 'python' and site.id not in kept]
        return self._of_no_run


def _twin(site: SiteRecord) -> tuple[object, ...]:
    """Equal for a node and its Python call; nodes of a function may have names of nodes around it, and other inputs."""
    return site.process, site.name, site.inputs, site_graph(site)


def _of_node(graph: RecordedGraph, name: str) -> list[str]:
    return [known] if (known := name if name in graph.nodes else owner(name)) in graph.nodes else []


def _by_full_name(graph: RecordedGraph, name: str) -> list[str]:
    return [name] if graph.has(name) else [owner(name)] if graph.has(owner(name)) and owner(name) != name else []


def _by_end(graph: RecordedGraph, name: str) -> list[str]:
    end = '/' + owner(name)
    return list(dict.fromkeys(known for known in (*graph.nodes, *graph.users) if known.endswith(end)))


def _by_function(graph: RecordedGraph, name: str) -> list[str]:
    return [known for known, node in graph.nodes.items()
            if node.site.function and name in (node.site.function, node.site.function.rpartition('.')[2])]


def _of_call(trace: Trace, call: CallRecord, sites: Mapping[tuple[int, int], SiteRecord], graphs: _Graphs) -> FoundNode:
    """The node of a call, in the graph of the call's own run."""
    name = str(call.site.attrs.get('forward', call.site.name)) if call.site.kind == 'gradient' else call.site.name
    record = trace.run(call.run, call.process)
    if record.sites:
        for graph in graphs_of(trace, plan_of_run(record), call.run, sites=sites):
            if graph.node_of(call.site) is not None or (call.site.kind == 'gradient' and graph.has(name)):
                return FoundNode(name if call.site.kind == 'gradient' else full_name(call.site), graph)
    for graph in graphs:
        if graph.node_of(call.site) is not None:
            return FoundNode(full_name(call.site), graph)
    for graph in graphs if call.site.kind == 'gradient' else ():
        if graph.has(name):
            return FoundNode(name, graph)
    return FoundNode(name, RecordedGraph(None, call.run, {name: RecordedNode(call.site)}))
