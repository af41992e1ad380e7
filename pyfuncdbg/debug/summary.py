"""What happened in a trace, in one value: how much ran where, what went wrong, what was not kept.

The run report draws it; `report --json` writes it. Reads the trace on any thread.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyfuncdbg.debug.health import Finding, judge
from pyfuncdbg.debug.queries import Queries
from pyfuncdbg.record.records import CallRecord, SiteRecord, TensorRecord, TraceInfo

PAGE = 2_000
TIMED = 50_000
"""Calls whose times are added up."""
LISTED = 1_000
"""Failed calls and non-finite runs that are grouped, the first ones."""


@dataclass(frozen=True, slots=True)
class SiteUse:
    """How much one site ran. Times are seconds."""

    site: SiteRecord
    calls: int
    failed: int
    total: float
    mean: float | None
    """None if no call finished."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a non-finite value began, and how many later calls inherited it."""

    finding: Finding
    heirs: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Calls of one site that raised the same: the first of them, and how many."""

    call: CallRecord
    count: int


@dataclass(frozen=True, slots=True)
class BadFetch:
    """A fetched tensor that was not finite: in which run first, and in how many."""

    run: int
    tensor: TensorRecord
    runs: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole trace.

    Attributes:
        info: Of the trace.
        calls: By kind ('python', 'op', 'gradient').
        sites: Python sites that ran, the one with the most time first.
        origins: Where non-finite values began, in order of time.
        masked: How many calls met non-finite inputs and made finite outputs.
        unjudged: Calls with non-finite values that were not looked at, there being too many.
        failures: Calls that raised, grouped, in order of time.
        failed: How many calls raised.
        unfinished: How many calls had not finished when the log ended.
        fetches: Fetched tensors that were not finite, by name.
        timed: Whether every call is in the times; otherwise those of the first `TIMED`.
    """

    info: TraceInfo
    calls: dict[str, int]
    sites: tuple[SiteUse, ...]
    origins: tuple[Origin, ...]
    masked: int
    unjudged: int
    failures: tuple[Failure, ...]
    failed: int
    unfinished: int
    fetches: tuple[BadFetch, ...]
    timed: bool


def summarized(trace: Queries) -> Summary:
    """Look through a whole trace once."""
    calls = {kind: n for kind in ('python', 'op', 'gradient') if (n := trace.count(kind=kind))}
    sites, unfinished = _use(trace)
    health = judge(trace)
    heirs = Counter(finding.origin for finding in health.having('inherited'))
    origins = tuple(Origin(finding, heirs[finding.call.number]) for finding in health.origins)
    return Summary(trace.info(), calls, sites, origins, len(health.having('masked')), health.unjudged, _failures(trace),
                   trace.count(kind='python', failed=True), unfinished, _bad_fetches(trace),
                   calls.get('python', 0) <= TIMED)


def _pages(trace: Queries) -> Iterator[CallRecord]:
    for offset in range(0, TIMED, PAGE):
        page = trace.calls(kind='python', limit=PAGE, offset=offset)
        yield from page
        if len(page) < PAGE:
            return


def _use(trace: Queries) -> tuple[tuple[SiteUse, ...], int]:
    sites: dict[tuple[int, str, str], SiteRecord] = {}
    calls: Counter[tuple[int, str, str]] = Counter()
    failed: Counter[tuple[int, str, str]] = Counter()
    finished: Counter[tuple[int, str, str]] = Counter()
    total: dict[tuple[int, str, str], float] = {}
    for call in _pages(trace):
        key = (call.process, call.site.name, call.site.function)
        sites.setdefault(key, call.site)
        calls[key] += 1
        failed[key] += call.error is not None
        if call.duration is not None:
            finished[key] += 1
            total[key] = total.get(key, 0.0) + call.duration
    uses = [SiteUse(site, calls[key], failed[key], total.get(key, 0.0), total[key] / finished[key] if key in total else None)
            for key, site in sites.items()]
    return tuple(sorted(uses, key=lambda use: -use.total)), calls.total() - finished.total()


def _failures(trace: Queries) -> tuple[Failure, ...]:
    first: dict[tuple[str, str, str], CallRecord] = {}
    counts: dict[tuple[str, str, str], int] = {}
    for call in trace.calls(kind='python', failed=True, limit=LISTED):
        if call.error is None:
            continue
        key = (call.site.name, call.error.type, call.error.frames[-1].function if call.error.frames else '')
        first.setdefault(key, call)
        counts[key] = counts.get(key, 0) + 1
    return tuple(Failure(call, counts[key]) for key, call in first.items())


def _bad_fetches(trace: Queries) -> tuple[BadFetch, ...]:
    first: dict[str, tuple[int, TensorRecord]] = {}
    counts: Counter[str] = Counter()
    for run in trace.calls(kind='run', bad=True, limit=LISTED):
        for tensor in run.outputs:
            if tensor.stats is not None and tensor.stats.bad:
                first.setdefault(tensor.name, (run.run, tensor))
                counts[tensor.name] += 1
    return tuple(BadFetch(run, tensor, counts[name]) for name, (run, tensor) in first.items())
