"""The node card: all that is known of one node, as plain data. It covers inputs and outputs, where the node was made, and
its calls.

Made from a trace, and at a stop also from the run that is stopped, on the thread of the command.
"""
from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyfuncdbg.hooks.argument_form import ARGUMENT_FORM
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.graph_context import DECLARED_SHAPES, GRAPH, RETURNED
from pyfuncdbg.observers.debug.inspecting.node_search import FoundNode
from pyfuncdbg.observers.debug.inspecting.recorded_graph import (
    Constant,
    RecordedGraph,
    RecordedNode,
    ReturnedOutput,
    TensorUse,
)
from pyfuncdbg.observers.debug.inspecting.tensor_values import NodeValues
from pyfuncdbg.observers.debug.reports.lineage import Sort
from pyfuncdbg.observers.debug.reports.unattributed_calls import count_unattributed
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.index.decode import unknown_site
from pyfuncdbg.observers.record.index.site_usage import SiteTime
from pyfuncdbg.observers.record.record_contents import load_few
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.observers.record.trace import Trace

DUMPS = 20
"""Newest calls that are listed."""
_SEARCHED = 500
"""Calls of nodes of one name that are searched for the first with NaN."""
_SHOWN_ELSEWHERE = frozenset(('_device', '_control', '_constants', '_no_rank', '_no_line', '_handle', '_unseen',
                              ARGUMENT_FORM, DECLARED_SHAPES, GRAPH, RETURNED))
_NEVER = SiteTime(unknown_site(0, 0), 0, 0, 0, 0.0, 0.0, 0.0, '')


@dataclass(frozen=True, slots=True)
class NodeInput:
    """One input: where it comes from, and what it held last."""

    use: TensorUse
    kind: Sort
    op_type: str
    value: TensorRecord | None
    constant: Constant | None


@dataclass(frozen=True, slots=True)
class NodeOutput:
    """An output of a node: its last value and consumers, and whether a run fetches or a function returns it."""

    name: str
    value: TensorRecord | None
    users: tuple[TensorUse, ...]
    fetched: bool = False
    returned: ReturnedOutput | None = None


@dataclass(frozen=True, slots=True)
class NodeCard:
    """A node.

    Attributes:
        kind: A node, or a feed or constant, which have only consumers.
        site: As announced; None for a feed or constant.
        attrs: What TensorFlow's NodeDef says too; private names apart.
        device: '' if none was asked for.
        label, runs: What announced it, and how many runs have; '' and 0 for eager calls.
        run: What the figures are of, None for all runs.
        values_of: The run that values are of; None if none ran.
        before, after: Control inputs, and the nodes that wait for it without taking a tensor.
        calls, failed, bad, total: How often it ran, raised, met NaN or infinities, and for how many seconds; of `run` if
            one is given.
        retries: How many of the calls were executed once more by `retry`.
        possible_calls: How many calls may be of `run`, which has none that is known: several runs went on at once.
        first_bad: Number of the first call with NaN or infinities, ''.
        namesakes: Further sites of that name, each as its function or '': eager calls on other lines, nodes of other graphs.
        recorded: Whether a call of it would have been recorded.
        live: Whether the run is stopped: it may run yet.
        newest: Its newest call, None if it did not run.
        dumps: Newest calls with what was kept of them, if asked for.
        frames: The creation stack, outermost first; `sources` are their lines.
        constant: What a constant holds.
        called_in: The run in which it was called, as 'run #2 Net', if that announced no nodes; else ''.
        ops: Whether calls of the nodes around it were recorded.
    """

    name: str
    kind: Sort
    site: SiteRecord | None
    attrs: dict[str, Any]
    device: str
    label: str
    runs: int
    run: int | None
    inputs: tuple[NodeInput, ...]
    outputs: tuple[NodeOutput, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    calls: int
    failed: int
    bad: int
    first_bad: str
    total: float
    namesakes: tuple[str, ...]
    recorded: bool
    live: bool
    newest: CallRecord | None
    dumps: tuple[CallRecord, ...]
    frames: tuple[Frame, ...]
    sources: tuple[SourceText, ...] = field(repr=False)
    constant: Constant | None
    all_attrs: bool
    all_frames: bool
    retries: int = 0
    possible_calls: int = 0
    values_of: int | None = None
    called_in: str = ''
    ops: bool = False


def node_card(trace: Trace, found: FoundNode, stop: Stop | None = None, *, dumps: bool = False, all_attrs: bool = False,
              all_frames: bool = False) -> NodeCard:
    """The card of a node that was found."""
    graph, name = found.graph, found.name
    values = NodeValues(trace, graph, stop, name)
    node = graph.nodes.get(name)
    newest = values.call(node) if node is not None else None
    time = _time(trace, graph, node) or _NEVER
    attrs = dict(node.site.attrs) if node is not None else {}
    device = attrs.get('_device', '')
    return NodeCard(
        name, _kind(graph, name),
        node.site if node is not None else None,
        {key: value for key, value in attrs.items() if key not in _SHOWN_ELSEWHERE},
        device if isinstance(device, str) else '', graph.plan.label if graph.plan is not None else '',
        graph.plan.runs if graph.plan is not None else 0, graph.run,
        tuple(_node_input(graph, values, use, newest) for use in graph.inputs(name)) or _unnamed_inputs(newest),
        tuple(_node_output(graph, values, name, output) for output in _outputs(graph, node, name)) or _made_by(newest, name),
        node.control if node is not None else (),
        tuple(use.node for use in graph.outputs(name, control=True) if use.slot < 0), time.calls, time.failed, time.bad,
        _first_bad(trace, graph, node) if time.bad else '', time.total, _namesakes(trace, node),
        node is None or bool(node.site.function) or node.site.kind != 'op' or trace.count(kind='op', run=graph.run) > 0
        or trace.info().ops,
        _is_live(graph, node, stop), newest,
        _dumps(trace, graph, node) if dumps else (), *_stack(node), graph.constant(name),
        all_attrs, all_frames, time.retries,
        count_unattributed(trace, node.site, graph.run) if node is not None and newest is None else 0,
        values.run, _called_in(trace, newest, stop if _is_at(node, stop) else None) if graph.plan is None else '',
        trace.info().ops)


def _is_at(node: RecordedNode | None, stop: Stop | None) -> bool:
    """Whether a stop is at a node: its call may not have begun."""
    call = stop.call if stop is not None and stop.remote is None else None
    return call is not None and node is not None and (node.site.id, node.site.name) == (call.site.id, call.site.name)


def _is_live(graph: RecordedGraph, node: RecordedNode | None, stop: Stop | None) -> bool:
    """Whether a node may run in the run of a stop."""
    return stop is not None and stop.phase != 'end' and stop.run is not None and (
        stop.run.id == graph.run or _is_at(node, stop))


def _called_in(trace: Trace, call: CallRecord | None, stop: Stop | None) -> str:
    """The run of a call that is of no graph, or of that before which the thread has stopped."""
    if call is None and stop is not None and stop.run is not None and not stop.run.sites:
        return f'run #{stop.run.id} {stop.run.label}'
    run = trace.run(call.run, call.process) if call is not None and call.run else None
    return f'run #{run.id} {run.label}' if run is not None and not run.sites else ''


def _stack(node: RecordedNode | None) -> tuple[tuple[Frame, ...], tuple[SourceText, ...]]:
    """The creation stack of a node, and the lines of its frames."""
    frames = node.site.stack if node is not None else ()
    return frames, tuple(node.site.source_at(frame.filename, frame.line).only_line(frame.line) for frame in frames if node)


def _unnamed_inputs(call: CallRecord | None) -> tuple[NodeInput, ...]:
    """Inputs of a call whose site has no names for them: of an eager op, of a backward step."""
    return () if call is None else tuple(NodeInput(TensorUse('', slot, ''), 'elsewhere', '', load_few(tensor), None)
                                         for slot, tensor in enumerate(call.inputs) if not tensor.absent)


def _made_by(call: CallRecord | None, name: str) -> tuple[NodeOutput, ...]:
    return () if call is None else tuple(NodeOutput(f'{name}:{slot}', load_few(tensor), ())
                                         for slot, tensor in enumerate(call.outputs) if not tensor.absent)


def _kind(graph: RecordedGraph, name: str) -> Sort:
    return 'node' if name in graph.nodes else 'constant' if graph.constant(name) is not None else (
        'feed' if graph.is_fed(name) else 'elsewhere')


def _node_input(graph: RecordedGraph, values: NodeValues, use: TensorUse, call: CallRecord | None) -> NodeInput:
    """One input: as the node's newest call had it, for a variable's memory may hold something else for each who takes it."""
    node = graph.nodes.get(use.node)
    constant = graph.constants.get(use.tensor)
    sort: Sort = 'constant' if node is None and constant is not None else _kind(graph, use.node)
    return NodeInput(use, sort, node.site.op_type if node is not None else '', None if constant else values.live(
                     use.tensor) or _had(call, use) or values.tensor(use.tensor), constant)


def _had(call: CallRecord | None, use: TensorUse) -> TensorRecord | None:
    given = call.inputs[use.slot] if call is not None and 0 <= use.slot < len(call.inputs) else None
    return load_few(given) if given is not None and given.name == use.tensor and (
        given.unknown or given.stats is not None) else None


def _outputs(graph: RecordedGraph, node: RecordedNode | None, name: str) -> Sequence[str]:
    if node is not None:
        return node.site.outputs
    return list(dict.fromkeys(use.tensor for use in graph.outputs(name))) or [f'{name}:0']


def _node_output(graph: RecordedGraph, values: NodeValues, name: str, output: str) -> NodeOutput:
    return NodeOutput(output, values.tensor(output), tuple(use for use in graph.outputs(name) if use.tensor == output),
                      graph.is_fetched(output), _returned(graph.nodes.get(name), output))


def _returned(node: RecordedNode | None, output: str) -> ReturnedOutput | None:
    return None if node is None else next((returned for returned in node.returned
                                           if node.site.outputs[returned.slot:][:1] == (output,)), None)


def _time(trace: Trace, graph: RecordedGraph, node: RecordedNode | None) -> SiteTime | None:
    """The call count and cost of a node; as a step of the graph where that was recorded."""
    if node is None:
        return None
    found = [time for site in node.sites if (time := trace.site_time(site, graph.run)) is not None]
    return max(found, key=lambda time: (time.calls, time.total), default=None)


def _namesakes(trace: Trace, node: RecordedNode | None) -> tuple[str, ...]:
    return () if node is None else tuple(
        site.function for site in trace.sites() if (site.name, site.kind) == (node.name, node.site.kind)
        and (site.process, site.id) != (node.site.process, node.site.id))


def _first_bad(trace: Trace, graph: RecordedGraph, node: RecordedNode | None) -> str:
    if node is None:
        return ''
    mine = {(site.process, site.id) for site in node.sites}
    found = trace.calls(site=glob.escape(node.name), run=graph.run, bad=True, limit=_SEARCHED)
    return next((call.number for call in found if (call.process, call.site.id) in mine), '')


def _dumps(trace: Trace, graph: RecordedGraph, node: RecordedNode | None) -> tuple[CallRecord, ...]:
    if node is None:
        return ()
    for site in node.sites[::-1]:
        found = trace.newest_calls(site, run=graph.run, limit=DUMPS)
        if found:
            return tuple(found)
    return ()
