"""Consequences of a non-finite value: its heirs, the calls that masked it, and the fetches that it reached.

Works on the verdicts of `numerics.nan_verdicts` and the trace they came from; any thread.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyfuncdbg.observers.debug.inspecting.recorded_graph import site_graph
from pyfuncdbg.observers.debug.numerics.data_order import TensorKey, tensor_key
from pyfuncdbg.observers.debug.numerics.nan_verdicts import Health, NanVerdict
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

RUNS = 1_000
"""Runs with non-finite feeds or fetches that are followed, the first ones."""
_FLOATS = 'float', 'bfloat', 'complex'


@dataclass(frozen=True, slots=True)
class ReachedFetch:
    """A fetch that a non-finite value came to.

    Attributes:
        run: Number of the run; `process` whose it is.
        source: What the run was: 'Session.run', the name of a function.
        tensor: What was fetched.
        path: The recorded calls on the way, the origin first.
        gap: Nodes between the origin and the next call of `path` were not recorded.
        certain: False if only this origin explains it, but the way was not recorded to its end.
    """

    run: int
    process: int
    source: str
    tensor: TensorRecord
    path: tuple[CallRecord, ...]
    gap: bool
    certain: bool


@dataclass(frozen=True, slots=True)
class NanOutcome:
    """Consequences of the non-finite values of one origin.

    Attributes:
        origin: Where they began.
        heirs: Calls that inherited them by a way that was recorded; `likely` those for which nothing else explains them.
        masked: Calls that got them and gave finite values.
        fetches: Where they came out.
        gradient_only: Only backward steps met them: no forward value, no fetch.
    """

    origin: NanVerdict
    heirs: int
    likely: int
    masked: tuple[str, ...]
    fetches: tuple[ReachedFetch, ...]
    gradient_only: bool


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The verdicts that were asked for.

    Attributes:
        findings: In order of time.
        total: How many pass the filters.
        counts: How many of each verdict, of those that pass.
        outcomes: Of the origins among `findings`, and of those that these come from.
        filters: What was asked for, by name.
        unjudged: Calls with non-finite values beyond the limit, not judged.
        ops: Whether graph nodes were recorded.
        stepped: Whether some were without that, for a run was stepped through.
        stopped: Whether the program is stopped, and more may come.
        not_kept: How many calls the trace does not hold: what they met is not known.
        fusion_mismatches: Calls whose nodes by themselves give something else than the framework had.
        unexamined: Newest calls with values that were not examined, if nothing was found.
    """

    findings: tuple[NanVerdict, ...]
    total: int
    counts: dict[str, int]
    outcomes: tuple[NanOutcome, ...]
    filters: dict[str, object]
    unjudged: int
    ops: bool
    stopped: bool
    fusion_mismatches: tuple[CallRecord, ...] = ()
    stepped: bool = False
    not_kept: int = 0
    unexamined: int = 0


def unexamined_calls(calls: Iterable[CallRecord]) -> int:
    """The number of calls with floats that may be NaN or Inf: neither their elements nor statistics were recorded."""
    return sum(any(map(_is_unexamined, (*call.inputs, *call.outputs))) for call in calls)


def _is_unexamined(tensor: TensorRecord) -> bool:
    return (tensor.level == 'none' and tensor.stats is None and tensor.nbytes > 0 and tensor.dtype.startswith(_FLOATS)
            and not tensor.absent and not tensor.unknown)


def outcomes(trace: Trace, health: Health) -> tuple[NanOutcome, ...]:
    """The consequences of each origin, in order of time."""
    heirs: dict[str, list[NanVerdict]] = {}
    for finding in health.findings:
        if finding.origin:
            heirs.setdefault(finding.origin, []).append(finding)
    reached = _fetches(trace, health)
    steps = frozenset(site.name for site in trace.sites() if site.kind == 'gradient')
    result = []
    for origin in health.origins:
        number = origin.call.number
        heirs_of_origin = heirs.get(number, [])
        inherited = [finding for finding in heirs_of_origin if finding.verdict == 'inherited'
                     and not finding.call.site.attrs.get(
            'source')]                          # a source row, not a step
        fetches = tuple(reached.get(number, ()))
        backward = all(_is_backward(trace, finding.call, steps) for finding in (origin, *heirs_of_origin))
        certain = sum(finding.certain for finding in inherited)
        result.append(NanOutcome(origin, certain, len(inherited) - certain,
                                 tuple(finding.call.number for finding in heirs_of_origin
                                       if finding.verdict == 'masked'), fetches,
                                 backward and not fetches))
    return tuple(result)


def _is_backward(trace: Trace, call: CallRecord, steps: frozenset[str]) -> bool:
    """Whether it is a backward step, or a node that belongs to one."""
    if call.site.kind == 'gradient':
        return True
    if call.site.kind != 'op':
        return False
    if call.parent:
        return trace.call(call.parent).site.kind == 'gradient'
    return any(part in steps for part in call.site.name.split('/'))


def _fetches(trace: Trace, health: Health) -> dict[str, list[ReachedFetch]]:
    """The non-finite fetches by the number of the call where their values began."""
    makers: dict[TensorKey, NanVerdict] = {}
    latest: dict[tuple[int, int], NanVerdict] = {}
    for finding in health.findings:
        key = finding.call.process, finding.call.run
        if finding.verdict != 'masked':
            latest[key] = finding
        for tensor in finding.call.outputs:
            if tensor.name and tensor.stats is not None and tensor.stats.bad:
                makers[tensor_key(finding.call, tensor.name)] = finding
    graphs = {(site.process, site.id): site_graph(site) for site in trace.sites()}
    fetches: dict[str, list[ReachedFetch]] = {}
    for run in trace.calls(kind='run', bad=True, limit=RUNS):
        if run.site.traits.backward_pass:
            continue
        fed = {tensor.name for tensor in run.inputs if tensor.stats is not None and tensor.stats.bad}
        for tensor in run.outputs:
            if tensor.stats is None or not tensor.stats.bad or tensor.name in fed:
                continue
            graph = _graph_of_run(trace, run, graphs)
            maker = _maker(makers, run, graph, tensor.name)
            source = maker or latest.get((run.process, run.run)) or _origin_before(health, run)
            if source is not None:
                origin = source.origin or source.call.number
                path, gap = _path(origin, run, graph, tensor.name, makers, health.by_call())
                fetches.setdefault(origin, []).append(ReachedFetch(run.run, run.process, run.site.name, tensor, path, gap,
                                                                   maker is not None and source.certain))
    return fetches


def _origin_before(health: Health, run: CallRecord) -> NanVerdict | None:
    """The first origin of the process before a run ended: variables carry values to later runs."""
    ended = run.started + (run.duration or 0.0)
    return next((finding for finding in health.origins
                 if finding.call.process == run.process and finding.call.started <= ended), None)


def _graph_of_run(trace: Trace, run: CallRecord, graphs: Mapping[tuple[int, int], int]) -> int:
    """The number of the graph whose nodes a run announced; 0 of one that announced none."""
    announced = trace.run(run.run, run.process).sites
    return next((number for site in announced if (number := graphs.get((run.process, site), 0))), 0)


def _maker(makers: Mapping[TensorKey, NanVerdict], run: CallRecord, graph: int, name: str) -> NanVerdict | None:
    """The call that made a tensor of a graph; steps of gradients are of no graph, and their tensors have names of it."""
    return makers.get((run.process, run.run, graph, name)) or makers.get((run.process, run.run, 0, name))


def _path(origin: str, run: CallRecord, graph: int, fetch: str, makers: Mapping[TensorKey, NanVerdict],
          findings: Mapping[str, NanVerdict]) -> tuple[tuple[CallRecord, ...], bool]:
    """The calls from the origin to the fetch, and whether some between were not recorded."""
    way: list[CallRecord] = []
    seen: set[str] = set()
    name = fetch
    while (maker := _maker(makers, run, graph, name)) is not None and maker.call.number not in seen:
        seen.add(maker.call.number)
        way.append(maker.call)
        if maker.call.number == origin:
            return tuple(way[::-1]), False
        name = _bad_input(maker.call.inputs)
    first = findings.get(origin)
    return (*((first.call,) if first is not None else ()), *way[::-1]), True


def _bad_input(inputs: Sequence[TensorRecord]) -> str:
    return next((tensor.name for tensor in inputs if tensor.stats is not None and tensor.stats.bad), '')
