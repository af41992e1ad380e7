"""The graph pane: the nodes of the selected run in order, each with its outcome."""
from __future__ import annotations

import shlex

from rich.text import Text

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord, TensorRecord
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes import stop_panes
from pyfuncdbg.ui.inspector.panes.scene import Scene, empty_hint
from pyfuncdbg.ui.views.calls.run_nodes import NodeRow, Standing, node_line
from pyfuncdbg.ui.views.units import count

_CALLS = 1_000
"""Calls of a run up to which all are read; of more, only the newest of each node."""
_ASKED = 300
"""Nodes of a very long run whose newest call is looked for."""
_NODES = 5_000


def graph(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """The nodes of the run."""
    if scene.stopped:
        return stop_panes.graph(desk, width)
    call = scene.call
    if call is None:
        return empty_hint('graph', desk)
    rows = recorded_rows(desk, call)
    parts = [PicturePart(node_line(row), _command(row), row.state == 'here') for row in rows[:_NODES]]
    if len(rows) > _NODES:
        parts.append(PicturePart(Text(f'... {len(rows) - _NODES:,} further nodes', 'yellow')))
    return DrawnPicture(f'graph  run #{call.run}  {count(len(rows), "node")}', parts)


def recorded_rows(desk: Desk, call: CallRecord) -> list[NodeRow]:
    """The recorded nodes of a call's run; the call's own node is the position."""
    sites = _sites(desk, call)
    newest, counts = _calls(desk, call, sites)
    newest[call.site.name] = call
    fed = _fed_and_fetched(desk, call)
    made = {name for site in sites for name in site.outputs}
    feeds = [NodeRow(name.removesuffix(':0'), 'feed', 'ran', tensor=tensor) for name, tensor in fed.items()
             if name not in made and any(name in site.inputs for site in sites)]
    return [*feeds, *(_row(site, newest.get(site.name), counts.get(site.name, 0), fed, call) for site in sites)]


def _calls(desk: Desk, here: CallRecord, sites: list[SiteRecord]) -> tuple[dict[str, CallRecord], dict[str, int]]:
    """The newest call of each node of the run, and how many there were; of a very long run without their number."""
    if desk.trace.count(run=here.run) > _CALLS:
        calls = [one for site in sites[:_ASKED] for one in desk.trace.newest_calls(site, run=here.run)]
    else:
        calls = [one for one in desk.trace.calls(run=here.run)
                 if one.process == here.process and one.site.kind != 'gradient']
    counts: dict[str, int] = {}
    for one in calls:
        counts[one.site.name] = counts.get(one.site.name, 0) + 1
    return {one.site.name: one for one in calls}, counts


def _sites(desk: Desk, call: CallRecord) -> list[SiteRecord]:
    """The nodes that the run announced, in order; for one that announced none, those that were called."""
    try:
        announced = desk.trace.run(call.run, call.process).sites
    except PyfuncdbgError:
        announced = ()
    known = {(site.process, site.id): site for site in desk.trace.sites()}
    sites = [known[call.process, id] for id in announced if (call.process, id) in known]
    if not any(site.id == call.site.id for site in sites):
        sites.append(call.site)
    return sites


def _fed_and_fetched(desk: Desk, call: CallRecord) -> dict[str, TensorRecord]:
    """Feeds and fetches of the run by name: nodes that were not recorded themselves."""
    try:
        run = desk.trace.run(call.run, call.process)
    except PyfuncdbgError:
        return {}
    return {tensor.name: tensor for tensor in (*run.feeds, *run.fetches) if tensor.name}


def _row(site: SiteRecord, call: CallRecord | None, count: int, fed: dict[str, TensorRecord], here: CallRecord) -> NodeRow:
    tensors = [fed[name] for name in site.outputs if name in fed]
    if call is not None:
        tensors = list(call.outputs) or tensors
    worst = next((one for one in tensors if one.stats is not None and one.stats.bad), tensors[0] if tensors else None)
    standing: Standing = 'here' if site.id == here.site.id else 'ran' if call is not None or tensors else 'unknown'
    return NodeRow(site.name, site.op_type, standing, call, count, worst)


def _command(row: NodeRow) -> str:
    return f'call {row.call.number}' if row.call is not None else f'ni {shlex.quote(row.name)}'
