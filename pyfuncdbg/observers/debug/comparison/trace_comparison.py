"""Comparison of two recordings, of two processes, of two runs, or of two calls.

Called by `diff` and the API, on the caller's thread. Reads traces and runs no code of a program. Of a million calls it
compares digests, by column; it decodes those that differ, one pair after the other, and keeps the first.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from pyfuncdbg.observers.debug.comparison.call_alignment import CallKeys, align
from pyfuncdbg.observers.debug.comparison.divergence import (
    Divergence,
    Kind,
    SourceDifference,
    TimeDifference,
    TraceDifference,
)
from pyfuncdbg.observers.debug.comparison.divergence_causes import Causes
from pyfuncdbg.observers.debug.comparison.end_times import call_ends, own_ends, run_ends
from pyfuncdbg.observers.debug.comparison.environment_differences import (
    environment_differences,
    gaps_of,
    version_differences,
)
from pyfuncdbg.observers.debug.comparison.record_comparison import Content, RecordComparison, RecordDifference, Rules
from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls, GroupKey
from pyfuncdbg.observers.record.index.process_tree import processes_of
from pyfuncdbg.observers.record.index.tables import site_key
from pyfuncdbg.observers.record.records import OLDEST, CallRecord, RunRecord, SiteRecord
from pyfuncdbg.observers.record.trace import Trace

_ALONE = RecordDifference('calls')
_SLOWER, _LEAST_CALLS, _LEAST_SECONDS = 2.0, 20, 0.05
"""Times of a site differ if one median is twice the other, the middle halves do not overlap, each side has so many calls,
and all calls together differ by so many seconds: else it is noise."""

Progress = Callable[[int, int], None]
Traces = tuple[Trace, Trace]
Groups = tuple[GroupedCalls, GroupedCalls]
"""The calls, or the runs, of both sides."""


def compare_traces(one: Trace, two: Trace, rules: Rules, names: tuple[str, str],
                   progress: Progress | None = None) -> TraceDifference:
    """Compare two recordings.

    Sites are matched by node name, kind and function, so that hosts and versions of a framework may differ; calls of a site
    in order of ordinals, by what they hold; runs by what the user called.

    Args:
        one, two: Recordings of one program, or of two that should do the same.
        rules: What counts as a difference.
        names: Of both, for the result.
        progress: Told how many of how many calls are compared.

    Returns:
        The difference.
    """
    work = _Work(progress, one.count() + two.count())
    sides = one.groups(progress=work.part()), two.groups(progress=work.part())
    comparison = _Comparison((one, two), rules, work)
    comparison.compare((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]))
    infos = one.info(), two.info()
    gaps = (f'{name}: {gap}' for name, info in zip(names, infos, strict=True) for gap in gaps_of(info))
    return replace(comparison.result(names), gaps=tuple(gaps),
                   versions=() if 'versions' in rules.ignored else version_differences(
                       *(info.versions_with_python for info in infos)),
                   environment=() if 'environment' in rules.ignored else environment_differences(one, two))


def compare_runs(trace: Trace, runs: tuple[int, int], rules: Rules) -> TraceDifference:
    """Compare two runs of one recording, with the calls in them.

    Raises:
        CommandError: There is no such run.
    """
    for run in runs:
        trace.run(run)
    sides = trace.groups(runs[0]), trace.groups(runs[1])
    comparison = _Comparison((trace, trace), rules, _Work(None, 0))
    comparison.compare((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]))
    return comparison.result((f'run #{runs[0]}', f'run #{runs[1]}'))


def compare_processes(trace: Trace, names: tuple[str, str], rules: Rules,
                      progress: Progress | None = None) -> TraceDifference:
    """Compare two processes of one recording, such as the ranks of a training program.

    Args:
        trace: The recording.
        names: Of the processes, as `processes_of` takes them.
        rules: What counts as a difference.
        progress: Told how many of how many calls are compared.

    Returns:
        The difference.

    Raises:
        CommandError: There is no such process.
    """
    tree = trace.info().tree
    numbers = [processes_of(tree, name) for name in names]
    work = _Work(progress, sum(trace.count(processes=number) for number in numbers))
    sides = [trace.groups(progress=work.part(), processes=number) for number in numbers]
    comparison = _Comparison((trace, trace), rules, work)
    comparison.compare((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]))
    return comparison.result(names)


def compare_calls(one: CallRecord, two: CallRecord, rules: Rules) -> TraceDifference:
    """Compare two calls, of one recording or of two."""
    records = RecordComparison(rules)
    difference = records.compare(Content.of(one), Content.of(two))
    first = _divergence(difference, one, (one.number, two.number), 0) if difference is not None else None
    source = None if 'source' in rules.ignored else _source_difference(one.site, two.site)
    return TraceDifference((f'#{one.number} {one.label}', f'#{two.number} {two.label}'), 1, 0, first, (), (),
                           (source,) if source is not None else (), (), records.unknown, tuple(sorted(rules.ignored)))


class _Work:
    """Progress of the parts of a comparison, as one.

    Args:
        progress: Told how much of how much is done.
        total: As far as it is known.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._before = 0

    def part(self, total: int = 0) -> Progress:
        """Takes the progress of the next part, which adds `total` to all."""
        self._total += total
        before = self._before

        def tell(done: int, of: int) -> None:
            self._before = before + of
            if self._progress is not None:
                self._progress(before + done, max(self._total, before + of))
        return tell


class _Comparison:
    """One comparison as it goes on.

    Args:
        traces: Both sides.
        rules: What counts as a difference.
        work: Told how far it is.
    """

    def __init__(self, traces: Traces, rules: Rules, work: _Work) -> None:
        self._traces = traces
        self._rules = rules
        self._work = work
        self._records = RecordComparison(rules)
        self._first: tuple[int, bool, bool, Divergence] | None = None
        """End, whether it is a run, whether only the second side has it, and the divergence: the least so far."""
        self._numbers: Counter[tuple[str, Kind]] = Counter()
        self._sources: dict[tuple[str, str, str], SourceDifference] = {}
        self._times: list[TimeDifference] = []
        self._counts: list[int] = []
        self._reordered = self._valueless = 0
        self._across = hosts_of(traces[0]) != hosts_of(traces[1])
        self._lost_calls = [any(trace.info().dropped.get(kind) for kind in ('calls', OLDEST)) for trace in traces]

    def compare(self, calls: Groups, runs: Groups) -> None:
        """Compare the calls and runs of both sides; what differs first is known by when it ended on the first side."""
        ends = call_ends(calls[0])
        ends_of_runs = run_ends(runs[0], calls[0], ends)
        pairs = self._pairs(calls)
        self._compare_pairs(calls, pairs, ends, 'call')
        self._compare_pairs(runs, self._pairs(runs), ends_of_runs, 'run', (calls, pairs, ends))
        self._compare_sites(calls)

    def _pairs(self, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
        """The places of both sides that are compared with each other, -1 for none."""
        parts = [(np.empty(0, np.int64),) * 2]
        for key, of_one, of_two in _matched_groups(groups):
            if self._across and not counts_across(key, on_both=bool(of_one.stop and of_two.stop)):
                continue
            sides = (groups[0], of_one), (groups[1], of_two)
            ordered = not any(_is_concurrent(side, part) for side, part in sides)
            left, right = align(*(CallKeys(side.content[part], side.inputs[part]) for side, part in sides), ordered=ordered)
            order = np.argsort(left)
            paired = right[order][(left[order] >= 0) & (right[order] >= 0)]
            self._reordered += 0 if ordered else int(np.count_nonzero(np.maximum.accumulate(paired) > paired))
            parts.append((np.where(left >= 0, left + of_one.start, -1), np.where(right >= 0, right + of_two.start, -1)))
        left, right = (np.concatenate(side) for side in zip(*parts, strict=True))
        self._counts.append(len(left))
        return left, right

    def _compare_pairs(self, groups: Groups, pairs: tuple[np.ndarray, np.ndarray], ends: np.ndarray,
                       what: Literal['call', 'run'],
                       calls: tuple[Groups, tuple[np.ndarray, np.ndarray], np.ndarray] | None = None) -> None:
        one, two = groups
        left, right = pairs
        both = (left >= 0) & (right >= 0)
        lefts, rights = left[both], right[both]
        differ = (one.content[lefts] != two.content[rights]) | (one.output[lefts] != two.output[rights]) | (
            (one.duration[lefts] < 0) | (two.duration[rights] < 0))
        if what == 'run':                       # what had no room in a recording is in its gaps
            differ &= ~((one.site[lefts] == 0) & self._lost_calls[0]) & ~((two.site[rights] == 0) & self._lost_calls[1])
        self._valueless += int(one.valueless[lefts[~differ]].sum())
        self._compare_records(groups, lefts[differ], rights[differ], ends, what)
        if 'calls' in self._rules.ignored:
            return
        for place in left[right < 0].tolist():
            self._note(_name(one, place), _ALONE, int(ends[place]), groups, (place, None), what)
        alone = right[left < 0]
        added = _times_of_added(own_ends(two)[alone], *(calls or (groups, pairs, ends)))
        for place, at in zip(alone.tolist(), added.tolist(), strict=True):
            self._note(_name(two, place), _ALONE, at, groups, (None, place), what)

    def _compare_records(self, groups: Groups, lefts: np.ndarray, rights: np.ndarray, ends: np.ndarray,
                         what: Literal['call', 'run']) -> None:
        """Decode and compare the pairs whose digests differ, in the order of the first log."""
        order = np.argsort(groups[0].rows[lefts], kind='stable')
        tell, causes = self._work.part(len(order)), Causes(self._traces, groups)
        for done, (left, right) in enumerate(zip(lefts[order].tolist(), rights[order].tolist(), strict=True), 1):
            one, two = _read(self._traces[0], groups[0], left, what), _read(self._traces[1], groups[1], right, what)
            difference = self._records.compare(Content.of(one), Content.of(two))
            if difference is not None:
                at = int(groups[0].started[left]) if what == 'run' and difference.inherited else int(ends[left])
                # The cause of the first one, and of each where some do not count: for each takes as long as the comparison.
                if what == 'call' and ('rng' in self._rules.ignored or self._is_first((at, False, False))):
                    difference = causes.add(difference, (left, right))
                if difference.kind not in self._rules.ignored:
                    self._note(_name(groups[0], left), difference, at, groups, (left, right), what, one, two)
            if done % 100 == 0 or done == len(order):
                tell(done, len(order))

    def _note(self, name: str, difference: RecordDifference, at: int, groups: Groups, places: tuple[int | None, int | None],
              what: Literal['call', 'run'], *records: CallRecord | RunRecord) -> None:
        """Count a difference, and keep it if it is the first."""
        self._numbers[name, difference.kind] += 1
        key = at, what == 'run', places[0] is None
        if not self._is_first(key):
            return
        pair = list(records) or [_read(trace, side, place, what) for trace, side, place in zip(
            self._traces, groups, places, strict=True) if place is not None]
        names = iter([record.number if isinstance(record, CallRecord) else str(record.id) for record in pair])
        numbers = '' if places[0] is None else next(names), '' if places[1] is None else next(names)
        self._first = *key, _divergence(difference, pair[0], numbers, at)

    def _is_first(self, key: tuple[int, bool, bool]) -> bool:
        return self._first is None or key < self._first[:3]

    def _compare_sites(self, calls: Groups) -> None:
        """Sources and times of the sites that both sides have."""
        sites = [{site_key(site.process, site.id): site for site in trace.sites()} for trace in self._traces]
        for _, *parts in _matched_groups(calls):
            if any(part.start == part.stop for part in parts):
                continue
            keys = [int(side.site[part.stop - 1]) for side, part in zip(calls, parts, strict=True)]
            one, two = (known.get(key) for known, key in zip(sites, keys, strict=True))
            if one is None or two is None:
                continue
            source = _source_difference(one, two)
            if source is not None and 'source' not in self._rules.ignored:
                self._sources.setdefault((source.function, *source.sources), source)
            if 'time' not in self._rules.ignored:
                durations = [side.duration[part] for side, part in zip(calls, parts, strict=True)]
                self._times += _time_difference(one.name, [side[side >= 0] / 1e9 for side in durations])

    def result(self, names: tuple[str, str]) -> TraceDifference:
        """The difference; its first divergence is of the call that ended first, for the calls in a call end before it."""
        first = self._first[-1] if self._first is not None else None
        if first is not None:
            first = replace(first, edited=any(first.function and first.function == source.function
                                              for source in self._sources.values()))
        numbers = self._numbers.copy()
        if first is not None:
            numbers[first.label.rpartition('[')[0] if first.what == 'call' else first.label, first.kind] -= 1
        return TraceDifference(
            names, self._counts[0], self._counts[1], first,
            tuple((label, kind, number) for (label, kind), number in numbers.most_common() if number > 0), (),
            tuple(self._sources.values()), tuple(self._times), self._records.unknown + self._valueless,
            tuple(sorted(self._rules.ignored)), reordered=self._reordered, across=self._across)


def hosts_of(trace: Trace) -> frozenset[str]:
    """The hosts of the Python functions in a recording."""
    return frozenset(site.host for site in trace.sites() if site.kind == 'python')


def counts_across(key: GroupKey, *, on_both: bool) -> bool:
    """Whether a group counts between two hosts: what the program itself calls and runs, not the steps of a host."""
    return key[1] in ('python', 'session') or (on_both and key[1] in ('backward', 'function'))


def _matched_groups(groups: Groups) -> Iterator[tuple[GroupKey, slice, slice]]:
    """The places of each group on both sides; of one that a side does not have, none."""
    numbers = [{key: number for number, key in enumerate(side.keys)} for side in groups]
    for key in dict.fromkeys((*groups[0].keys, *groups[1].keys)):
        yield key, _places(groups[0], numbers[0].get(key)), _places(groups[1], numbers[1].get(key))


def _places(side: GroupedCalls, number: int | None) -> slice:
    return slice(0, 0) if number is None else slice(int(side.bounds[number]), int(side.bounds[number + 1]))


def _is_concurrent(side: GroupedCalls, part: slice) -> bool:
    """Whether the order of these calls is an accident: several threads made them in one run, or in eager code."""
    thread, run = side.thread[part], side.run[part]
    return bool(((thread[1:] != thread[:-1]) & (run[1:] == run[:-1])).any())


def _name(side: GroupedCalls, place: int) -> str:
    """The name of the site of a call, or the label of a run."""
    key: GroupKey = side.keys[int(np.searchsorted(side.bounds, place, 'right')) - 1]
    return key[0]


def _read(trace: Trace, side: GroupedCalls, place: int, what: Literal['call', 'run']) -> CallRecord | RunRecord:
    row = int(side.rows[place])
    return trace.grouped_call(row) if what == 'call' else trace.grouped_run(row)


def _times_of_added(ends: np.ndarray, calls: Groups, pairs: tuple[np.ndarray, np.ndarray], ends_of_one: np.ndarray
                    ) -> np.ndarray:
    """The times on the first side of calls that only the second one has: when the call before each ended there."""
    left, right = pairs
    both = (left >= 0) & (right >= 0)
    other, own = own_ends(calls[1])[right[both]], ends_of_one[left[both]]
    order = np.lexsort((own, other))
    before = np.searchsorted(other[order], ends, 'right')
    return np.where(before > 0, own[order][before - 1], 0) if len(order) else np.zeros(len(ends), np.int64)


def _divergence(difference: RecordDifference, record: CallRecord | RunRecord, numbers: tuple[str, str],
                at: int) -> Divergence:
    if isinstance(record, RunRecord):
        return Divergence(difference.kind, 'run', record.label, numbers, '', ('', 0), difference.tensors, difference.texts,
                          at / 1e9)
    site = record.site
    return Divergence(difference.kind, 'call', record.label, numbers, site.function, (site.filename, site.line),
                      difference.tensors, difference.texts, at / 1e9, difference.generators, difference.reads)


def _source_difference(one: SiteRecord, two: SiteRecord) -> SourceDifference | None:
    if not (one.source and two.source) or one.source == two.source:
        return None
    return SourceDifference(two.function, (two.filename, two.line), (one.source, two.source))


def _time_difference(name: str, sides: Sequence[np.ndarray]) -> list[TimeDifference]:
    """The difference of the durations of a site, in seconds; none that may be noise."""
    apart = abs(float(sides[0].sum() - sides[1].sum()))
    if min(map(len, sides)) < _LEAST_CALLS or apart < _LEAST_SECONDS:
        return []
    fast, slow = sorted((np.percentile(side, (25, 50, 75)) for side in sides), key=lambda quartiles: float(quartiles[1]))
    if slow[1] <= _SLOWER * fast[1] or slow[0] <= fast[2]:
        return []
    return [TimeDifference(name, (float(np.median(sides[0])), float(np.median(sides[1]))), (len(sides[0]), len(sides[1])))]
