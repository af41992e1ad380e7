"""Calls as stretches of time by thread, from the index alone: what a timeline of a million calls is drawn from.

Asked on worker threads; `cancel` on any.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.record.decode import call_number
from pyfuncdbg.record.index import BAD, FAILED
from pyfuncdbg.record.query import condition
from pyfuncdbg.record.side_index import SideIndex

FIELDS = 'process, id, thread, started, duration, flags, (SELECT name FROM sites WHERE key = site), ordinal, ' \
         '(SELECT kind FROM sites WHERE key = site)'
"""Columns of a span in the index."""


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
class Crowd:
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
    """When the first call began and the last was over, in seconds.

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
    """The calls of a trace by time. Close it after use.

    Args:
        index: Of the trace.
        site: Only calls of these, a glob over node names, op types and function names; the extent is that of all calls.
    """

    def __init__(self, index: Path, site: str | None = None) -> None:
        self._index = SideIndex(index)
        self._where, self._given = condition(site=site, walk=True)

    def extent(self) -> Extent:
        """When the calls began and ended, and how many there are."""
        first, last, longest, open_since, latest, calls = self._index.rows(
            'SELECT min(started), max(started + coalesce(duration, 0)), max(duration), '
            'min(CASE WHEN duration IS NULL THEN started END), max(started), count(*) FROM calls WHERE id > 0')[0]
        reach = max(longest or 0, 0 if open_since is None else latest - open_since)
        return Extent((first or 0) / 1e9, (last or 0) / 1e9, reach / 1e9, calls)

    def window(self, start: float, end: float, *, reach: float, limit: int) -> list[SpanRecord]:
        """Calls that ran between two times, in order of their start; at most `limit` + 1, by which too many are known."""
        return records(self._index.rows(
            f'SELECT {FIELDS} FROM calls WHERE {self._where} AND started >= ? AND started <= ? '
            'AND (duration IS NULL OR started + duration >= ?) ORDER BY started, process, id LIMIT ?',
            [*self._given, _ns(start - reach), _ns(end), _ns(start), limit + 1]))

    def crowds(self, start: float, end: float, parts: int) -> list[Crowd]:
        """The same window in equal parts, for more calls than can be told apart."""
        width = max(1, -(-_ns(end - start) // parts))
        return [Crowd(process, thread, part, calls, failed, bad, min(1.0, busy / width))
                for process, thread, part, calls, failed, bad, busy in self._index.rows(
                    f'SELECT process, thread, (started - ?) / ? AS part, count(*), sum(flags & {FAILED}), '
                    f'sum(flags & {BAD}) / {BAD}, total(duration) FROM calls WHERE {self._where} AND started >= ? '
                    'AND started <= ? GROUP BY process, thread, part',
                    [_ns(start), width, *self._given, _ns(start), _ns(end)])]

    def beside(self, process: int, thread: int, at: float, *, later: bool, number: str = '') -> SpanRecord | None:
        """The call of a thread that begins next after a time, or before it; another one than `number`."""
        sign, way = ('>=', 'ASC') if later else ('<=', 'DESC')
        id_ = int(number.rpartition('.')[2]) if number else 0
        found = records(self._index.rows(
            f'SELECT {FIELDS} FROM calls WHERE {self._where} AND started {sign} ? AND +process = ? AND +thread = ? '
            f'AND (started != ? OR id {sign[0]} ?) ORDER BY started {way}, id {way} LIMIT 1',
            [*self._given, _ns(at), process, thread, _ns(at), id_]))
        return found[0] if found else None

    def cancel(self) -> None:
        """Break off what another thread is doing here; it gets `QueryCancelledError`."""
        self._index.cancel()

    def close(self) -> None:
        """Give everything back; closing twice is allowed."""
        self._index.close()


def records(rows: Sequence[tuple[Any, ...]]) -> list[SpanRecord]:
    """Spans from rows of the index."""
    return [SpanRecord(call_number(process, id_), f'{name or "?"}[{ordinal}]', kind or 'python', process, thread,
                       started / 1e9, None if duration is None else duration / 1e9, bool(flags & FAILED), bool(flags & BAD))
            for process, id_, thread, started, duration, flags, name, ordinal, kind in rows]


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
