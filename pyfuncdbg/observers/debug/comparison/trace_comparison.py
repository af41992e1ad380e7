"""Comparison of two recordings, of two runs, or of two calls.

Called by `diff` and the API, on the caller's thread. Reads traces and runs no code of a program.
"""
from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pyfuncdbg.observers.debug.comparison.call_alignment import align
from pyfuncdbg.observers.debug.comparison.divergence import (
    Divergence,
    SourceDifference,
    TimeDifference,
    TraceDifference,
)
from pyfuncdbg.observers.debug.comparison.record_comparison import Content, RecordComparison, RecordDifference, Rules
from pyfuncdbg.observers.record.records import CallRecord, RunRecord, SiteRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo

_ALONE = RecordDifference('calls')
_SLOWER, _LEAST_CALLS, _LEAST_SECONDS = 2.0, 20, 0.05
"""Times of a site differ if one median is twice the other, the middle halves do not overlap, each side has so many calls,
and all calls together differ by so many seconds: else it is noise."""


Progress = Callable[[int, int], None]


def compare_traces(one: Trace, two: Trace, rules: Rules, names: tuple[str, str],
                   progress: Progress | None = None) -> TraceDifference:
    """Compare two recordings.

    Sites are matched by node name, kind and function, so that hosts and versions of a framework may differ; calls of a site
    in order of ordinals, by what they hold; runs by what the user called.

    Args:
        one, two: Recordings of one program, or of two that should do the same.
        rules: What counts as a difference.
        names: Of both, for the result.
        progress: Told how many of how many sites are compared.

    Returns:
        The difference.
    """
    calls = _by_site(one), _by_site(two)
    comparison = _Comparison(rules, _end_times(calls[0]))
    keys = list(dict.fromkeys((*calls[0], *calls[1])))
    for number, key in enumerate(keys):
        comparison.calls(calls[0].get(key, []), calls[1].get(key, []))
        if progress is not None:
            progress(number + 1, len(keys))
    comparison.runs(one.runs(), two.runs())
    infos = one.info(), two.info()
    gaps = (f'{name}: {gap}' for name, info in zip(names, infos, strict=True) for gap in _gaps(info))
    return replace(comparison.result(names), gaps=tuple(gaps),
                   versions=() if 'versions' in rules.ignored else _versions(*infos),
                   environment=() if 'environment' in rules.ignored else _environment(one, two))


def compare_calls(one: CallRecord, two: CallRecord, rules: Rules) -> TraceDifference:
    """Compare two calls, of one recording or of two."""
    comparison = _Comparison(rules, {})
    comparison.calls([one], [two])
    return comparison.result((f'#{one.number} {one.label}', f'#{two.number} {two.label}'))


def compare_runs(trace: Trace, runs: tuple[int, int], rules: Rules) -> TraceDifference:
    """Compare two runs of one recording, with the calls in them.

    Raises:
        CommandError: There is no such run.
    """
    records = trace.run(runs[0]), trace.run(runs[1])
    calls = _by_site(trace, runs[0]), _by_site(trace, runs[1])
    comparison = _Comparison(rules, _end_times(calls[0]))
    for key in dict.fromkeys((*calls[0], *calls[1])):
        comparison.calls(calls[0].get(key, []), calls[1].get(key, []))
    comparison.runs([records[0]], [records[1]])
    return comparison.result((f'run #{runs[0]}', f'run #{runs[1]}'))


def _by_site(trace: Trace, run: int | None = None) -> dict[tuple[str, str, str], list[CallRecord]]:
    calls: defaultdict[tuple[str, str, str], list[CallRecord]] = defaultdict(list)
    for call in trace.calls(run=run):
        calls[call.site.name, call.site.kind, call.site.function].append(call)
    for of_site in calls.values():
        of_site.sort(key=lambda call: (call.process, call.ordinal, call.started))
    return calls


def _end_times(calls: Mapping[tuple[str, str, str], Sequence[CallRecord]]) -> dict[tuple[int, str], float]:
    """When calls and runs ended, by process and number; of a run '-' and its number.

    Durations leave out what it cost to watch, so that a call may seem to end before those in it.
    """
    ends: dict[tuple[int, str], float] = {}
    every = sorted((call for of_site in calls.values() for call in of_site), key=lambda call: call.started, reverse=True)
    for call in every:                          # what was called in a call comes before it here
        own = call.process, call.number
        end = ends[own] = max(ends.get(own, 0.0), call.started + (call.duration or 0.0))
        for around in ((call.process, call.parent), (call.process, f'-{call.run}')):
            ends[around] = max(ends.get(around, 0.0), end)
    return ends


class _Comparison:
    """One comparison as it goes on.

    Args:
        rules: What counts as a difference.
        ends: When calls and runs of the first side ended, as `_end_times` gives it.
    """

    def __init__(self, rules: Rules, ends: Mapping[tuple[int, str], float]) -> None:
        self._rules = rules
        self._end_times = ends
        self._divergences: list[Divergence] = []
        self._added: list[tuple[float, Divergence]] = []
        self._ends: list[tuple[float, float]] = []
        self._sources: dict[tuple[str, str, str], SourceDifference] = {}
        self._times: list[TimeDifference] = []
        self._counts = [0, 0]
        self._records = RecordComparison(rules)

    def calls(self, one: Sequence[CallRecord], two: Sequence[CallRecord]) -> None:
        """Compare the calls of one site."""
        pairs = align([_content(call) for call in one], [_content(call) for call in two])
        self._counts[0] += len(pairs)
        for first, second in pairs:
            if first is not None and second is not None:
                self._ends.append((_end(two[second]), self._end_times.get((one[first].process, one[first].number), 0.0)))
                self._pair(one[first], two[second])
            elif first is not None:
                divergence = _of_call(_ALONE, one[first], (one[first].number, ''))
                self._unpaired(self._timed(divergence, one[first].process, one[first].number))
            elif second is not None:
                self._unpaired(_of_call(_ALONE, two[second], ('', two[second].number)))
        if one and two:
            self._compare_sources(one[-1].site, two[-1].site)
            self._compare_times(one, two)

    def _pair(self, one: CallRecord, two: CallRecord) -> None:
        difference = self._records.compare(Content.of(one), Content.of(two))
        if difference is not None:
            divergence = _of_call(difference, one, (one.number, two.number))
            self._divergences.append(self._timed(divergence, one.process, one.number))

    def runs(self, one: Sequence[RunRecord], two: Sequence[RunRecord]) -> None:
        """Compare the runs that the program asked for: what was fed, what came back."""
        sides: list[dict[tuple[str, str], list[RunRecord]]] = []
        for runs in (one, two):
            of_label: dict[tuple[str, str], list[RunRecord]] = {}
            for run in sorted(runs, key=lambda run: (run.process, run.started)):
                if run.kind != 'eager':
                    of_label.setdefault((run.label, run.kind), []).append(run)
            sides.append(of_label)
        for key in dict.fromkeys((*sides[0], *sides[1])):
            first, second = sides[0].get(key, []), sides[1].get(key, [])
            self._counts[1] += max(len(first), len(second))
            for left, right in align([_content_of_run(run) for run in first], [_content_of_run(run) for run in second]):
                if left is not None and right is not None:
                    self._run_pair(first[left], second[right])
                elif left is not None:
                    divergence = _of_run(_ALONE, first[left], (str(first[left].id), ''))
                    self._unpaired(self._timed(divergence, first[left].process, f'-{first[left].id}'))
                elif right is not None:
                    self._unpaired(_of_run(_ALONE, second[right], ('', str(second[right].id))))

    def _run_pair(self, one: RunRecord, two: RunRecord) -> None:
        difference = self._records.compare(Content.of(one), Content.of(two))
        if difference is not None:
            divergence = _of_run(difference, one, (str(one.id), str(two.id)))
            self._divergences.append(replace(divergence, at=one.started) if divergence.inherited else
                                     self._timed(divergence, one.process, f'-{one.id}'))

    def _timed(self, divergence: Divergence, process: int, number: str) -> Divergence:
        """With the time when the last call in it ended, if that is later."""
        return replace(divergence, at=max(divergence.at, self._end_times.get((process, number), 0.0)))

    def _unpaired(self, divergence: Divergence) -> None:
        """A call or a run that one side has: of the second side the time on the first one is worked out at the end."""
        if self._ignores('calls'):
            return
        if divergence.numbers[0]:
            self._divergences.append(divergence)
        else:
            self._added.append((divergence.at, divergence))

    def _compare_sources(self, one: SiteRecord, two: SiteRecord) -> None:
        if one.source and two.source and one.source != two.source and not self._ignores('source'):
            self._sources.setdefault((two.function, one.source, two.source), SourceDifference(
                two.function, (two.filename, two.line), (one.source, two.source)))

    def _compare_times(self, one: Sequence[CallRecord], two: Sequence[CallRecord]) -> None:
        sides = [np.array([call.duration for call in calls if call.duration is not None]) for calls in (one, two)]
        apart = abs(float(sides[0].sum() - sides[1].sum()))
        if self._ignores('time') or min(map(len, sides)) < _LEAST_CALLS or apart < _LEAST_SECONDS:
            return
        fast, slow = sorted((np.percentile(side, (25, 50, 75)) for side in sides), key=lambda quartiles: float(quartiles[1]))
        if slow[1] > _SLOWER * fast[1] and slow[0] > fast[2]:
            medians = float(np.median(sides[0])), float(np.median(sides[1]))
            self._times.append(TimeDifference(one[0].site.name, medians, (len(one), len(two))))

    def _ignores(self, kind: str) -> bool:
        return kind in self._rules.ignored

    def result(self, names: tuple[str, str]) -> TraceDifference:
        """The difference; its first divergence is of the call that ended first, for the calls in a call end before it."""
        ends = sorted(self._ends)
        for end, divergence in self._added:     # when the call before it ended
            before = bisect_right(ends, (end, float('inf')))
            self._divergences.append(replace(divergence, at=max((one for _, one in ends[:before][-1:]), default=0.0)))
        divergences = sorted(self._divergences, key=lambda one: (one.at, one.what == 'run'))
        later = Counter((one.label.partition('[')[0], one.kind) for one in divergences[1:])
        return TraceDifference(
            names, self._counts[0], self._counts[1], divergences[0] if divergences else None,
            tuple((label, kind, number) for (label, kind), number in later.most_common()), (),
            tuple(self._sources.values()), tuple(self._times), self._records.unknown, tuple(sorted(self._rules.ignored)))


def _of_call(difference: RecordDifference, call: CallRecord, numbers: tuple[str, str]) -> Divergence:
    site = call.site
    return Divergence(difference.kind, 'call', call.label, numbers, site.function, (site.filename, site.line),
                      difference.tensors, difference.texts, _end(call))


def _of_run(difference: RecordDifference, run: RunRecord, numbers: tuple[str, str]) -> Divergence:
    return Divergence(difference.kind, 'run', run.label, numbers, '', ('', 0), difference.tensors, difference.texts,
                      run.started + (run.duration or 0.0))


def _end(call: CallRecord) -> float:
    return call.started + (call.duration or 0.0)


def _content(call: CallRecord) -> Hashable:
    return (*_contents(call.inputs), None, *_contents(call.outputs), _error_text(call))


def _content_of_run(run: RunRecord) -> Hashable:
    return (*_contents(run.feeds), None, *_contents(run.fetches), run.error.message if run.error is not None else '')


def _contents(tensors: Sequence[TensorRecord]) -> Iterator[Hashable]:
    for tensor in tensors:
        yield tensor.dtype, tensor.shape, tensor.key if tensor.key is not None else repr(tensor.stats)


def _error_text(record: CallRecord | RunRecord) -> str:
    return f'{record.error.type}: {record.error.message}' if record.error is not None else ''


def _gaps(info: TraceInfo) -> Iterator[str]:
    """The gaps of a recording, in a few words each."""
    for kind in ('calls', 'prints'):
        if number := info.dropped.get(kind, 0):
            yield f'{number:,} {kind} did not fit into its budget'
    yield from (f'damaged: {line}' for line in info.damage)
    if not info.complete and not info.damage:
        yield 'it goes on, or its program was killed'
    if not info.versions:
        yield 'its versions of libraries are not known: it was recorded by an earlier version of pyfuncdbg'


def _versions(one: TraceInfo, two: TraceInfo) -> tuple[tuple[str, str, str], ...]:
    """The libraries of both recordings whose versions differ, where both are known."""
    sides = [{'Python': info.python, **info.versions} for info in (one, two)]
    return tuple((name, sides[0][name], sides[1][name]) for name in sides[0]
                 if name in sides[1] and sides[0][name] != sides[1][name])


def _environment(one: Trace, two: Trace) -> tuple[tuple[str, str, str], ...]:
    """The programs, machines and settings of both recordings, where they differ."""
    sides = [trace.info() for trace in (one, two)]
    hosts = [', '.join(sorted({site.host for site in trace.sites()})) for trace in (one, two)]
    rows = [('arguments', *(' '.join(side.argv[1:]) for side in sides)), ('host', *hosts)]
    if all(side.versions for side in sides):    # else the other one does not say
        rows.append(('machine', sides[0].machine, sides[1].machine))
        rows += [(name, *(side.settings.get(name, 'not set') for side in sides))
                 for name in dict.fromkeys((*sides[0].settings, *sides[1].settings))]
    return tuple((what, first, second) for what, first, second in rows if first != second)
