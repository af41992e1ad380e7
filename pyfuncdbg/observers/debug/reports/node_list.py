"""Node list of a graph in execution order, with call counts and outputs, for `graph`.

Made from a trace, on any thread.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyfuncdbg.hooks.module_structure import ModuleStructure
from pyfuncdbg.observers.debug.inspecting.recorded_graph import RecordedGraph
from pyfuncdbg.observers.debug.reports.unattributed_calls import count_unattributed
from pyfuncdbg.observers.record.index.site_usage import SiteTime
from pyfuncdbg.observers.record.records import SiteRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class NodeListRow:
    """One node.

    Attributes:
        position: In order of execution, from 0.
        site: As announced.
        inputs: Tensors that it takes.
        users: Nodes that take from it.
        time: What its calls cost, in the graph's run if it is of one; None if it did not run.
        value: What its first output held last.
        handle: It names what only its host can hold, such as a variable, and so has no calls.
        unseen: Its calls are never seen: it makes no tensor.
        possible_calls: How many calls may be of the graph's run, which has none that is known.
    """

    position: int
    site: SiteRecord
    inputs: tuple[str, ...]
    users: int
    time: SiteTime | None
    value: TensorRecord | None = None
    handle: bool = False
    unseen: bool = False
    possible_calls: int = 0


@dataclass(frozen=True, slots=True)
class NodeList:
    """Nodes that passed the filters: `total` in all, `executed` of them ran or are handles; these were asked for.

    Attributes:
        label: What the runs are of.
        runs: How many there were.
        ops: Whether nodes without a function were recorded.
        live: Whether the run is stopped: what has not run may run yet.
        run: What calls and times are of; None for all runs.
        feeds, fetches: Names of tensors.
        values_of: The run that values are of.
        modules: Those that the run calls, as they were when it was first called; () for all runs.
        modules_left_out: How many more it calls.
    """

    rows: tuple[NodeListRow, ...]
    total: int
    executed: int
    label: str
    runs: int
    ops: bool
    live: bool
    run: int | None
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    filters: Mapping[str, object]
    sort: str
    values_of: int | None = None
    modules: tuple[ModuleStructure, ...] = ()
    modules_left_out: int = 0


def node_rows(trace: Trace, graph: RecordedGraph) -> list[NodeListRow]:
    """All nodes, without values."""
    times: dict[tuple[int, int], SiteTime] = {(time.site.process, time.site.id): time for time in trace.profile(graph.run)}
    rows = []
    for position, (name, node) in enumerate(graph.nodes.items()):
        costs = [times[site.process, site.id] for site in node.sites[::-1] if (site.process, site.id) in times]
        users = {use.node for use in graph.users.get(name, ())}
        rows.append(NodeListRow(position, node.site, node.inputs, len(users), costs[0] if costs else None,
                                handle=node.is_handle, unseen=node.is_unseen,
                                possible_calls=0 if costs else count_unattributed(trace, node.site, graph.run)))
    return rows
