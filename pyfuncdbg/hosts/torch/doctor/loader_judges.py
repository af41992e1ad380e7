"""Judges of DataLoaders: who waits for whom.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, Place, RecordedFact, Spot
from pyfuncdbg.hosts.torch.doctor.loader_calls import OPS, line_text, loader_spots, numbers

_LEAST_SECONDS, _LEAST_SHARE = 0.5, 0.25
"""Of waiting, for a finding."""
_LEAST_BATCHES = 5
_BUSY = 0.7
"""Share of their time that workers are in the program's functions, above which these are what takes long."""
_OVERHEAD = 2e-4
"""Seconds that the examination of an item may take, many times more than measured."""
_LEAST_ITEMS, _SLOWER, _MOST_WORKERS = 8, 2.0, 8


class _Work(NamedTuple):
    """The program's functions in the processes of a loader.

    Attributes:
        spots: Those with the most time first, each with its calls and their seconds there.
        seconds: Of all.
        busy: Share of their time that the processes were in them.
    """

    spots: Sequence[tuple[Spot, int, float]]
    seconds: float
    busy: float

    @property
    def calls(self) -> int:
        return sum(calls for _, calls, _ in self.spots)

    @property
    def slowest(self) -> str:
        """'Samples.__getitem__ (data.py:12) took 3.1 s in 400 calls'; '' if none is recorded."""
        if not self.spots:
            return ''
        spot, calls, seconds = self.spots[0]
        place = line_text(Place(spot.site.filename, spot.site.line))
        return f'{spot.site.name} ({place}) took {seconds:.2f} s in {calls:,} calls'


def find_slow_loaders(evidence: Evidence) -> Iterator[Finding]:
    """Loaders that the program waits for. Where workers wait for the program, nothing is wrong."""
    for fact in evidence.facts_of_kind('torch loader'):
        if not fact.number('workers'):
            yield from _without_workers(evidence, fact)
        else:
            work = _work(evidence, _processes(evidence, fact))
            yield from list(_uneven_workers(evidence, fact)) or _slow_workers(fact, work)
            yield from _restarted_workers(fact, work)


def _without_workers(evidence: Evidence, fact: RecordedFact) -> Iterator[Finding]:
    """A loader whose items the main process fetches itself, while nothing else goes on."""
    work = _work(evidence, {fact.process}, fact.place)
    span, cpus = _seconds(fact, 'span'), fact.number('cpus')
    share = work.seconds / span if span else 0.0
    if work.seconds < _LEAST_SECONDS or share < _LEAST_SHARE or fact.number('batches') < _LEAST_BATCHES:
        return
    what = (f'The program fetches the items of {fact.text("dataset")} itself, {work.seconds:.2f} s of {span:.2f} s, and '
            f'nothing is computed meanwhile: {work.slowest}')
    uses = [use for spot, _, _ in work.spots if (use := evidence.use(spot)) is not None]
    waits = sum(use.waiting for use in uses) > sum(use.cpu for use in uses)
    # Functions that wait for a disk or a network need no CPU of their own.
    workers = min(math.ceil(work.seconds / max(span - work.seconds, 1e-9)), _MOST_WORKERS if waits else max(cpus - 1, 1))
    fix = f'DataLoader(..., num_workers={workers})' if waits or cpus != 1 else ''
    yield Finding('loader', fact.text('dataset'), fact.place, what, _figures(fact, work.seconds, share), fix,
                  'let workers fetch while the program computes' if fix else
                  'there is one CPU for both: make the function cheaper, or store what it makes')


def _slow_workers(fact: RecordedFact, work: _Work) -> Iterator[Finding]:
    """A loader whose workers are slower than the program."""
    steady = _seconds(fact, 'span') - sum(_seconds(fact, name) for name in ('made', 'first', 'ended'))
    dataset, workers, cpus = fact.text('dataset'), fact.number('workers'), fact.number('cpus')
    waited = _seconds(fact, 'waited')
    share = waited / steady if steady > 0 else 0.0
    overhead = work.calls * _OVERHEAD / workers
    if waited < max(_LEAST_SECONDS, overhead) or share < _LEAST_SHARE or fact.number('batches') < _LEAST_BATCHES:
        return
    figures = {**_figures(fact, waited, share), 'busy share of the workers': round(work.busy, 3)}
    what = f'The program waits for the loader of {dataset} {waited:.2f} s of {steady:.2f} s'
    have = 'its worker is' if workers == 1 else f'its {workers} workers are'
    more = min(cpus, math.ceil(workers / max(1 - share, 0.1)))
    if work.busy < _BUSY:
        what += (f', but {have} in recorded functions only {work.busy:.0%} of the time: the rest is collation of PyTorch\'s '
                 f'own, sending batches to the program, waiting for a CPU, or for an earlier batch of another worker')
        fix, advice = '', 'send less: arrays or tensors instead of lists and dicts of numbers, smaller dtypes'
    else:
        what += f', and {have} busy {work.busy:.0%} of the time: {work.slowest}'
        fix, advice = f'DataLoader(..., num_workers={more})', 'make the function cheaper, or take more workers'
        if more <= workers:
            fix, advice = '', ('make the function cheaper, or store what it makes; with '
                               f'{cpus} CPU{"s" if cpus > 1 else ""} more workers help only where it waits for a disk or '
                               'a network')
    yield Finding('loader', dataset, fact.place, what, figures, fix, advice)


def _restarted_workers(fact: RecordedFact, work: _Work) -> Iterator[Finding]:
    """Workers that are started anew in each pass over the loader."""
    passes, batches, span = fact.number('passes'), fact.number('batches'), _seconds(fact, 'span')
    a_batch = (work.seconds + _seconds(fact, 'waited')) / batches if batches else 0.0
    # A forked worker fetches its first batch at once; another one imports the program before.
    first = 0.0 if fact.data.get('forked') else max(_seconds(fact, 'first') - passes * a_batch, 0.0)
    started = _seconds(fact, 'made') + first + _seconds(fact, 'ended')
    if passes > 1 and not fact.data.get('persistent') and started >= max(2 * _LEAST_SECONDS, _LEAST_SHARE * span):
        what = (f'The workers of the loader of {fact.text("dataset")} are started and ended anew in each of {passes} '
                f'passes, and the program waits for that: {started:.2f} s of {span:.2f} s')
        yield Finding('loader', fact.text('dataset'), fact.place, what,
                      {'passes': passes, 'workers': fact.number('workers'),
                       'starting and ending seconds': round(started, 3), 'share of the time': round(started / span, 3)},
                      'DataLoader(..., persistent_workers=True)', 'make the DataLoader once, and keep its workers')


def _uneven_workers(evidence: Evidence, fact: RecordedFact) -> Iterator[Finding]:
    """One worker that is slower than the others, where the program waits."""
    if _seconds(fact, 'waited') < _LEAST_SECONDS:
        return
    workers = numbers(fact, 'pids')
    calls: Counter[int] = Counter()
    seconds: dict[int, float] = defaultdict(float)
    for site in [site for spot in loader_spots(evidence) if spot.site.op_type == f'{OPS}item' for site in spot.sites]:
        worker = workers.get(str(evidence.pids.get(site.process)))
        if worker is not None:
            count, took = evidence.time_at(site)
            calls[worker] += count
            seconds[worker] += took
    means = {worker: seconds[worker] / count for worker, count in calls.items() if count >= _LEAST_ITEMS}
    slow = max(means, key=lambda worker: means[worker], default=-1)
    usual = statistics.median([mean for worker, mean in means.items() if worker != slow] or [math.inf])
    if means and means[slow] >= _SLOWER * usual and (means[slow] - usual) * calls[slow] >= _LEAST_SECONDS:
        what = (f'An item takes {means[slow] * 1e3:.1f} ms in DataLoader worker {slow}, and {usual * 1e3:.1f} ms in the '
                f'others: batches come in order, so that all wait for it')
        yield Finding('uneven', f'DataLoader worker {slow}', fact.place, what,
                      {'items of the slow one': calls[slow], 'items': sum(calls.values())}, '',
                      'spread what takes long over the workers (shuffle, or shards of one size); in_order=False where the '
                      'order of batches does not matter')


def _work(evidence: Evidence, processes: set[int], place: Place | None = None) -> _Work:
    """What the program's functions took in processes, for loaders that take batches at a place."""
    entries: list[tuple[Spot, int, float]] = []
    for spot in loader_spots(evidence):
        times = [evidence.time_at(site) for site in spot.sites if site.process in processes]
        calls, seconds = sum(calls for calls, _ in times), sum(seconds for _, seconds in times)
        if calls and (place is None or spot.place == place):
            entries.append((spot, calls, seconds))
    entries.sort(key=lambda entry: -entry[2])
    busy = _busy_share([spot for spot, _, _ in entries], processes)
    return _Work(entries, sum(seconds for _, _, seconds in entries), busy)


def _busy_share(spots: Sequence[Spot], processes: set[int]) -> float:
    """Share of the time from the first call in each process to the end of its last one in which calls were under way."""
    busy = span = 0.0
    for process in processes:
        calls = [[call for call in spot.calls if call.site.process == process and call.duration is not None]
                 for spot in spots]
        starts = [of_spot[0].started for of_spot in calls if of_spot]
        if not starts:
            continue
        # Of a spot with very many calls the newest are read: what was before the first of them is not compared.
        begin = (max if any(spot.count > len(spot.calls) for spot in spots) else min)(starts)
        later = [(call.started, call.duration or 0.0) for of_spot in calls for call in of_spot if call.started >= begin]
        busy += sum(duration for _, duration in later)
        span += max(started + duration for started, duration in later) - begin
    return min(busy / span, 1.0) if span > 0 else 0.0


def _processes(evidence: Evidence, fact: RecordedFact) -> set[int]:
    """The processes of a loader's workers, as the trace numbers them."""
    pids = numbers(fact, 'pids')
    return {process for process, pid in evidence.pids.items() if str(pid) in pids}


def _figures(fact: RecordedFact, waited: float, share: float) -> dict[str, Figure]:
    return {'waiting seconds': round(waited, 3), 'share of the time': round(share, 3), 'batches': fact.number('batches'),
            'workers': fact.number('workers'), 'CPUs': fact.number('cpus')}


def _seconds(fact: RecordedFact, name: str) -> float:
    return max(fact.number(name), 0) / 1e9


def _count(number: int, name: str) -> str:
    return f'{number} {name}' if number == 1 else f'{number} {name}s'
