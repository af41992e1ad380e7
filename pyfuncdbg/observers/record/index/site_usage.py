"""Totals by site: how often each was called, and for how long, added up from the columns.

Used by `Trace.usage` and `Trace.profile`, which hold the trace's lock.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pyfuncdbg.observers.record.index.decode import call_number
from pyfuncdbg.observers.record.index.log_reader import DecodedLog
from pyfuncdbg.observers.record.index.query import CallFilter
from pyfuncdbg.observers.record.index.tables import SITE_BITS, UNFINISHED, TableView, distinct_of, rank_keys
from pyfuncdbg.observers.record.log.call_batch import BAD, CHANGED, FAILED, RETRY
from pyfuncdbg.observers.record.records import SiteRecord

_TOGETHER = 1 << 20
"""Calls that are added up at once."""


@dataclass(frozen=True, slots=True)
class SiteUse:
    """One site.

    Attributes:
        calls: How often it was called.
        failed: How many of these raised.
        finished: How many returned or raised before the log ended.
        total: Seconds that the finished ones took.
        bad: How many met NaN or infinity.
        retries: How many were executed once more by `retry`; the program has not called those.
        changed: During how many an input changed, as far as the trace tells.
        unfinished_starts: Seconds at which those that have not finished began, added up.
    """

    site: SiteRecord
    calls: int
    failed: int
    finished: int
    total: float
    bad: int = 0
    retries: int = 0
    changed: int = 0
    unfinished_starts: float = 0.0

    @property
    def mean(self) -> float | None:
        """Seconds a call, None if none finished."""
        return self.total / self.finished if self.finished else None


def usage(reading: DecodedLog) -> list[SiteUse]:
    """Add up calls and times by site.

    Args:
        reading: The trace, decoded.

    Returns:
        Every site that was called, the one with the most time first.
    """
    sums = _sums(reading.calls(), CallFilter().rows(reading.calls(), reading.entries()))
    uses = [SiteUse(reading.site(each.key), each.calls, each.failed, each.finished, each.total / 1e9, each.bad,
                    each.retries, each.changed, each.begun / 1e9)
            for each in sums]
    return sorted(uses, key=lambda use: -use.total)


@dataclass(frozen=True, slots=True)
class SiteTime:
    """Cost of one site.

    Attributes:
        calls, failed, finished, total: As in `SiteUse`.
        own: Seconds of `total` in which no other recorded call ran inside.
        longest: Seconds of the longest call, 0 if none finished.
        newest: Number of the newest call.
        bad: How many calls have a NaN or infinity in an input or output.
        retries: As in `SiteUse`.
    """

    site: SiteRecord
    calls: int
    failed: int
    finished: int
    total: float
    own: float
    longest: float
    newest: str
    bad: int = 0
    retries: int = 0

    @property
    def mean(self) -> float | None:
        """Seconds a call, None if none finished."""
        return self.total / self.finished if self.finished else None


def profile(reading: DecodedLog, run: int | None = None) -> list[SiteTime]:
    """The cost of every site that was called.

    Args:
        reading: The trace, decoded.
        run: In this run only.

    Returns:
        The site with the most self time first.
    """
    calls = reading.calls()
    rows = CallFilter(run=run).rows(calls, reading.entries())
    inner = _inner_times(calls, rows)
    times = [_time(reading, sums, inner.get(sums.key, 0)) for sums in _sums(calls, rows)]
    return sorted(times, key=lambda time: (-time.own, time.site.process, time.site.id))


def site_time(reading: DecodedLog, key: int, run: int | None = None) -> SiteTime | None:
    """The cost of one site, with all that ran inside its calls.

    Args:
        reading: The trace, decoded.
        key: As from `tables.site_key`.
        run: In this run only.

    Returns:
        The cost; None if it was not called.
    """
    calls = reading.calls()
    rows = CallFilter(run=run).rows(calls, reading.entries())
    sums = _sums(calls, rows[calls['site'][rows] == key])
    return _time(reading, sums[0], 0) if sums else None


class _Sums(NamedTuple):
    """Totals of one site. Numbers of calls, of those that raised, that ended; nanoseconds together and of the longest; the
    newest; bad; retries; with an input that changed; starts of those that have not finished, added up."""

    key: int
    calls: int
    failed: int
    finished: int
    total: int
    longest: int
    newest: int
    bad: int
    retries: int
    changed: int
    begun: int


def _sums(calls: TableView, rows: np.ndarray) -> list[_Sums]:
    """By key of a site, ascending."""
    totals: dict[int, _Sums] = {}
    for begin in range(0, len(rows), _TOGETHER):
        for sums in _partial_sums(calls, rows[begin:begin + _TOGETHER]):
            before = totals.get(sums.key)
            totals[sums.key] = sums if before is None else _Sums(sums.key, *(
                max(pair) if name in ('longest', 'newest') else sum(pair)
                for name, pair in zip(_Sums._fields[1:], zip(before[1:], sums[1:], strict=True), strict=True)))
    return [totals[key] for key in sorted(totals)]


def _partial_sums(calls: TableView, rows: np.ndarray) -> list[_Sums]:
    keys, ranks = rank_keys(calls['site'][rows])
    if len(keys) <= 1 << 16:
        ranks = ranks.astype(np.uint16)         # sorted by counting, a tenth of the time
    rows = rows[np.argsort(ranks, kind='stable')]
    starts = np.concatenate(([0], np.cumsum(np.bincount(ranks))[:-1]))
    flags, duration = calls['flags'][rows], calls['duration'][rows]
    spent = np.maximum(duration, 0)

    def counted(marks: np.ndarray) -> list[int]:
        return list(np.add.reduceat(marks.astype(np.int64), starts).tolist())
    return [_Sums(*row) for row in zip(
        keys.tolist(), np.diff([*starts.tolist(), len(rows)]).tolist(), counted(flags & FAILED != 0),
        counted(duration != UNFINISHED), counted(spent), np.maximum.reduceat(spent, starts).tolist(),
        np.maximum.reduceat(calls['id'][rows], starts).tolist(), counted(flags & BAD != 0), counted(flags & RETRY != 0),
        counted(flags & CHANGED != 0),
        np.add.reduceat(np.where(duration == UNFINISHED, calls['started'][rows], 0), starts).tolist(), strict=True)]


def _time(reading: DecodedLog, sums: _Sums, inner: int) -> SiteTime:
    return SiteTime(reading.site(sums.key), sums.calls, sums.failed, sums.finished, sums.total / 1e9,
                    max(0.0, sums.total - inner) / 1e9, sums.longest / 1e9,
                    call_number(sums.key >> SITE_BITS, sums.newest), sums.bad, sums.retries)


def _inner_times(calls: TableView, rows: np.ndarray) -> dict[int, int]:
    """By key of a site: nanoseconds that other calls took inside of its calls."""
    times: dict[int, int] = {}
    inside = rows[calls['parent'][rows] > 0]
    for process in distinct_of(calls['process'][inside]).tolist():
        process_rows = rows[calls['process'][rows] == process]
        ids = calls['id'][process_rows]                 # ascending, for rows are by (process, id)
        children = inside[calls['process'][inside] == process]
        parents = calls['parent'][children]
        at = np.minimum(np.searchsorted(ids, parents), len(ids) - 1)
        recorded = ids[at] == parents
        keys, places = np.unique(calls['site'][process_rows[at[recorded]]], return_inverse=True)
        spent = np.zeros(len(keys), np.int64)
        np.add.at(spent, places.reshape(-1), np.maximum(calls['duration'][children[recorded]], 0))
        times.update(zip(keys.tolist(), spent.tolist(), strict=True))
    return times
