"""Spans of calls by thread, from the columns alone: what a timeline of a million calls is drawn from.

Asked on worker threads; `cancel` on any.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyfuncdbg.observers.record.index.decode import call_number
from pyfuncdbg.observers.record.index.query import CallFilter, QueryCancelledError, Sites
from pyfuncdbg.observers.record.index.tables import UNFINISHED, TableView, rank_keys
from pyfuncdbg.observers.record.log.call_batch import BAD, FAILED

_STRETCH = 100_000
"""Calls that are searched at once."""
_TOGETHER = 1 << 20
"""Calls that are added up at once."""


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One call: when and where it ran. Times are seconds since the trace began; `duration` is None if it did not finish.

    Attributes:
        bad: Some recorded input or output has a NaN or infinity.
    """

    number: str
    label: str
    kind: str
    process: int
    thread: int
    started: float
    duration: float | None
    failed: bool
    bad: bool


@dataclass(frozen=True, slots=True)
class SpanBucket:
    """The calls of one thread that began in one of equal parts of a window.

    Attributes:
        busy: Which share of that part they ran, at most 1.
    """

    process: int
    thread: int
    part: int
    calls: int
    failed: int
    bad: int
    busy: float


@dataclass(frozen=True, slots=True)
class Extent:
    """Start of the first call and end of the last, in seconds.

    Attributes:
        reach: How long before a moment a call may have begun that still ran then: the longest took so long, and what did
            not finish reaches to the end.
        calls: How many there are.
    """

    start: float
    end: float
    reach: float
    calls: int


class Spans:
    """The calls of a trace by time, as they were when it was made.

    Args:
        calls, sites: Of the trace.
        site: Only calls of these, a glob over node names, op types and function names; the extent is that of all calls.
    """

    def __init__(self, calls: TableView, sites: Sites, site: str | None = None) -> None:
        self._calls, self._sites, self._site = calls, sites, site
        self._sorted: tuple[np.ndarray, np.ndarray] | None = None
        self._cancelled = False

    def extent(self) -> Extent:
        """The beginning and end of the calls, and their number.

        Returns:
            Of all calls, whatever their site.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        self._check()
        rows = CallFilter().rows(self._calls, self._sites)
        if not len(rows):
            return Extent(0.0, 0.0, 0.0, 0)
        started, duration = self._calls['started'][rows], self._calls['duration'][rows]
        first, latest = int(started.min()), int(started.max())
        still = started[duration == UNFINISHED]
        reach = max(int(duration.max()), latest - int(still.min()) if len(still) else 0, 0)
        return Extent(first / 1e9, int((started + np.maximum(duration, 0)).max()) / 1e9, reach / 1e9, len(rows))

    def window(self, start: float, end: float, *, reach: float, limit: int) -> list[SpanRecord]:
        """Calls that ran between two times.

        Args:
            start, end: The window, in seconds since the trace began.
            reach: `Extent.reach`.
            limit: How many calls can be shown; one more is returned where there are more.

        Returns:
            The calls, in order of their start.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        rows = self._started_between(_ns(start - reach), _ns(end))
        duration = self._calls['duration'][rows]
        rows = rows[(duration == UNFINISHED) | (self._calls['started'][rows] + duration >= _ns(start))]
        return span_records(self._calls, self._sites, rows[:limit + 1])

    def buckets(self, start: float, end: float, parts: int) -> list[SpanBucket]:
        """A window in equal parts, for more calls than can be told apart.

        Args:
            start, end: The window, in seconds since the trace began.
            parts: How many.

        Returns:
            The parts with calls, by thread.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        width = max(1, -(-_ns(end - start) // parts))
        rows = self._started_between(_ns(start), _ns(end))
        sums: dict[tuple[int, int, int], np.ndarray] = {}
        for begin in range(0, len(rows), _TOGETHER):
            self._check()
            self._add_buckets(sums, rows[begin:begin + _TOGETHER], _ns(start), width)
        return [SpanBucket(*key, int(calls), int(failed), int(bad), min(1.0, spent / width))
                for key, (calls, failed, bad, spent) in sorted(sums.items(), key=lambda item: item[0])]

    def _add_buckets(self, sums: dict[tuple[int, int, int], np.ndarray], rows: np.ndarray, start: int, width: int) -> None:
        """Add calls, failed and bad ones, and nanoseconds by process, thread and part."""
        columns = [rank_keys(column) for column in (
            self._calls['process'][rows], self._calls['thread'][rows], (self._calls['started'][rows] - start) // width)]
        cells = np.zeros(len(rows), np.int64)
        for distinct, ranks in columns:
            cells = cells * len(distinct) + ranks
        cells, places = rank_keys(cells)
        keys = np.unravel_index(cells, [len(distinct) for distinct, _ in columns])
        flags, busy = self._calls['flags'][rows], np.maximum(self._calls['duration'][rows], 0)
        added = np.stack([np.bincount(places, weights, len(cells))
                          for weights in (None, flags & FAILED != 0, flags & BAD != 0, busy)], axis=1)
        for key, numbers in zip(zip(*(distinct[ranks].tolist() for (distinct, _), ranks in zip(columns, keys, strict=True)),
                                    strict=True), added, strict=True):
            sums[key] = sums[key] + numbers if key in sums else numbers

    def beside(self, process: int, thread: int, at: float, *, later: bool, number: str = '') -> SpanRecord | None:
        """The call of a thread that begins next after a time, or last before it.

        Args:
            process, thread: Of the call.
            at: The time, in seconds since the trace began.
            later: After it, or before it.
            number: A call that is passed over.

        Returns:
            The call; None if there is none.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        id_, moment = int(number.rpartition('.')[2]) if number else 0, _ns(at)
        rows, started = self._by_time()
        low, high = (int(np.searchsorted(started, moment, side)) for side in ('left', 'right'))
        rows = rows[low:] if later else rows[:high][::-1]
        calls = self._calls
        for begin in range(0, len(rows), _STRETCH):
            self._check()
            some = rows[begin:begin + _STRETCH]
            ids = calls['id'][some]
            passes = (calls['process'][some] == process) & (calls['thread'][some] == thread) & (
                (calls['started'][some] != moment) | (ids > id_ if later else ids < id_))
            found = np.flatnonzero(passes)
            if len(found):
                return span_records(calls, self._sites, some[found[:1]])[0]
        return None

    def _by_time(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows by time of start, and those times."""
        self._check()
        if self._sorted is None:
            rows = CallFilter(site=self._site).rows(self._calls, self._sites)
            started = self._calls['started'][rows]
            order = np.argsort(started, kind='stable')
            self._sorted = rows[order], started[order]
        return self._sorted

    def _started_between(self, start: int, end: int) -> np.ndarray:
        """Rows of the calls that began between two times, both included."""
        rows, started = self._by_time()
        return rows[np.searchsorted(started, start, 'left'):np.searchsorted(started, end, 'right')]

    def _check(self) -> None:
        if self._cancelled:
            raise QueryCancelledError

    def cancel(self) -> None:
        """Break off what another thread is doing here; it gets `QueryCancelledError`."""
        self._cancelled = True

    def close(self) -> None:
        """Give the memory back; closing twice is allowed."""
        self.cancel()
        self._sorted = None


def span_records(calls: TableView, sites: Sites, rows: np.ndarray) -> list[SpanRecord]:
    """Decode spans.

    Args:
        calls: Columns of all calls.
        sites: Of the trace.
        rows: Of the calls.

    Returns:
        One span a row, in that order.
    """
    columns = [calls[name][rows].tolist() for name in ('process', 'id', 'thread', 'started', 'duration', 'flags', 'site',
                                                       'ordinal')]
    spans = []
    for process, id_, thread, started, duration, flags, key, ordinal in zip(*columns, strict=True):
        site = sites.get(key)
        name, kind = (site.name or '?', site.kind) if site is not None else ('?', 'python')
        spans.append(SpanRecord(call_number(process, id_), f'{name}[{ordinal}]', kind, process, thread, started / 1e9,
                                None if duration == UNFINISHED else duration / 1e9, bool(flags & FAILED), bool(flags & BAD)))
    return spans


def _ns(seconds: float) -> int:
    """Nanoseconds, within what a column holds."""
    return round(max(-4e9, min(seconds, 4e9)) * 1e9)
