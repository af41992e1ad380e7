"""Summary of a trace in one value: how much ran where, what went wrong, what was not kept.

The run report draws it; `report --json` writes it. Reads the trace on any thread.
"""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyfuncdbg.observers.debug.batched_calls import Tell
from pyfuncdbg.observers.debug.numerics.nan_verdicts import Health, NanVerdict, judge
from pyfuncdbg.observers.debug.numerics.origin_card import OriginCard, origin_card
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo

_NUMBER = re.compile(r'[\d.]*\d')
LISTED = 1_000
"""Failed calls and non-finite runs that are read and grouped, the first ones."""


@dataclass(frozen=True, slots=True)
class NanSource:
    """Origin of a non-finite value, with the number of later calls that inherited it, by kind.

    Attributes:
        finding: The verdict on the call.
        heirs: Calls that inherited it by a way that was recorded.
        likely: Calls that met non-finite values later, for which nothing but this explains them.
    """

    finding: NanVerdict
    heirs: Mapping[str, int]
    likely: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Calls of one site that raised the same, numbers in the message apart.

    Attributes:
        call: The first of them.
        count: How many there are among those listed.
        alike: Whether numbers in their messages differ.
    """

    call: CallRecord
    count: int
    alike: bool = False


@dataclass(frozen=True, slots=True)
class BadFetch:
    """A fetched tensor that was not finite: in which run first, and in how many of those listed."""

    run: int
    tensor: TensorRecord
    runs: int
    source: str = ''
    """The label of the run: 'Session.run', 'GradientTape.gradient', the name of a function."""
    ended: float = 0.0
    """Seconds from the start of the trace to the end of that run."""


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """The whole trace.

    Attributes:
        info: What the trace is and holds; `help info` lists its keys.
        calls: By kind ('python', 'op', 'gradient'); of gradients the backward steps.
        bad: How many of them met non-finite values.
        retries: How many of the Python calls were executed once more by `retry`.
        sites: Python sites that ran, the one with the most time first; those of one place in several processes are one.
        origins: Where non-finite values began, in order of time; those that were masked at once come last.
        masked: How many calls met non-finite inputs and made finite outputs.
        unjudged: Calls with non-finite values beyond the limit, not judged.
        failures: The first calls that raised, grouped, in order of time; `failed` counts all.
        failed: How many calls raised.
        unfinished: How many calls had not finished when the log ended.
        fetches: Fetched tensors that were not finite, by name, of the first such runs; `bad_runs` counts all.
        bad_runs: How many runs fetched, or were fed, non-finite values.
        ask: How a line begins that asks more of this trace; '' for a shell's.
        live: Whether the program runs here and is asked, so that more may come.
        uncaught: The exception that ended the program, '' if none is known.
    """

    info: TraceInfo
    calls: dict[str, int]
    bad: dict[str, int]
    sites: tuple[SiteUse, ...]
    origins: tuple[NanSource, ...]
    masked: int
    unjudged: int
    failures: tuple[FailureGroup, ...]
    failed: int
    unfinished: int
    fetches: tuple[BadFetch, ...]
    bad_runs: int
    live: bool = False
    ask: str = ''
    retries: int = 0
    uncaught: str = ''
    card: OriginCard | None = field(default=None, repr=False)
    """Card of the first origin, for the report."""


def summarize(trace: Trace, tell: Tell | None = None) -> TraceSummary:
    """Summarize a whole trace; `tell` is called with the number of calls with non-finite values read so far."""
    uses = trace.usage()
    calls: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for use in uses:
        if not use.site.attrs.get('source'):    # a source row, not a step
            calls[use.site.kind] += use.calls
        bad[use.site.kind] += use.bad
    sites = _across_processes(use for use in uses if use.site.kind == 'python')
    unfinished = sum(use.calls - use.finished for use in sites)
    health = judge(trace, tell=tell)
    heirs: defaultdict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for finding in health.with_verdicts('inherited'):
        if not finding.call.site.attrs.get('source'):       # the calls that the title counts
            heirs[finding.origin, finding.certain][finding.call.site.kind] += 1
    bad_runs = [run for run in trace.calls(kind='run', bad=True, limit=LISTED)      # an inner pass has no result outside
                if trace.run(run.run, run.process).kind != 'inner']
    origins = tuple(NanSource(finding, heirs[finding.call.number, True], heirs[finding.call.number, False])
                    for finding in sorted(health.origins, key=_Masked(health, bad_runs)))
    return TraceSummary(trace.info(), dict(calls), dict(bad), sites, origins, len(health.with_verdicts('masked')),
                        health.unjudged,
                        _failures(trace), sum(use.failed for use in sites), unfinished, _bad_fetches(bad_runs),
                        trace.count(kind='run', bad=True), retries=sum(use.retries for use in sites),
                        uncaught=trace.uncaught(),
                        card=next((origin_card(one.finding, one.heirs, one.likely) for one in origins), None))


def _across_processes(uses: Iterable[SiteUse]) -> tuple[SiteUse, ...]:
    """One use for what several processes have made of one place of the program, the one with the most time first.

    Sites of one process that look alike stay apart: the n-th of one process and of another are the same place.
    """
    groups: defaultdict[tuple[object, ...], list[SiteUse]] = defaultdict(list)
    alike: Counter[tuple[object, ...]] = Counter()
    for use in sorted(uses, key=lambda use: (use.site.process, use.site.id)):
        site = use.site
        key = site.name, site.op_type, site.function, site.filename, site.line, site.stack
        groups[*key, alike[site.process, key]].append(use)
        alike[site.process, key] += 1
    return tuple(sorted((_sum(group) for group in groups.values()), key=lambda use: -use.total))


def _sum(uses: Sequence[SiteUse]) -> SiteUse:
    first, *others = uses
    return replace(first, **{name: sum((getattr(use, name) for use in others), getattr(first, name))
                             for name in ('calls', 'failed', 'finished', 'total', 'bad', 'retries', 'changed',
                                          'unfinished_starts')}) if others else first


def _failures(trace: Trace) -> tuple[FailureGroup, ...]:
    first: dict[tuple[str, ...], CallRecord] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    differing: set[tuple[str, ...]] = set()
    for call in trace.calls(kind='python', failed=True, limit=LISTED):
        if call.error is None:
            continue
        key = (call.site.name, call.error.type, call.error.frames[-1].function if call.error.frames else '',
               _NUMBER.sub('0', call.error.message))
        earliest = first.setdefault(key, call)
        counts[key] += 1
        if earliest.error is not None and earliest.error.message != call.error.message:
            differing.add(key)
    return tuple(FailureGroup(call if i else load_call(call, 0), counts[key], key in differing)
                 for i, (key, call) in enumerate(first.items()))     # the report draws the first one


class _Masked:
    """Predicate on origins: values masked at once, which no call inherited and no run gave."""

    def __init__(self, health: Health, bad_runs: Sequence[CallRecord]) -> None:
        self._masked = {finding.origin for finding in health.with_verdicts('masked')}
        self._inherited = {finding.origin for finding in health.with_verdicts('inherited')}
        self._fetched = {(run.process, run.run, tensor.name) for run in bad_runs for tensor in run.outputs
                         if tensor.stats is not None and tensor.stats.bad}

    def __call__(self, origin: NanVerdict) -> bool:
        call = origin.call
        return call.number in self._masked - self._inherited and not any(
            (call.process, call.run, tensor.name) in self._fetched for tensor in call.outputs)


def _bad_fetches(bad_runs: Sequence[CallRecord]) -> tuple[BadFetch, ...]:
    first: dict[tuple[str, str], tuple[CallRecord, TensorRecord]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for run in bad_runs:
        keys = set()
        for tensor in run.outputs:
            if tensor.stats is not None and tensor.stats.bad:
                key = tensor.name, '' if tensor.name else run.site.name
                first.setdefault(key, (run, tensor))
                keys.add(key)
        counts.update(keys)                     # runs, however many results of one have that name, or none
    return tuple(BadFetch(run.run, tensor, counts[key], run.site.name, run.started + (run.duration or 0.0))
                 for key, (run, tensor) in first.items())
