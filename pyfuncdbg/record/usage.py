"""How much each site ran, added up by the index: a report must not decode a million calls to say how long they took.

Used by `Trace.usage` and `Trace.profile`, which hold the trace's lock.
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.record.decode import call_number
from pyfuncdbg.record.index import BAD, FAILED, SITE_BITS
from pyfuncdbg.record.query import condition
from pyfuncdbg.record.reading import Reading
from pyfuncdbg.record.records import SiteRecord


@dataclass(frozen=True, slots=True)
class SiteUse:
    """One site.

    Attributes:
        calls: How often it was called.
        failed: How many of these raised.
        finished: How many returned or raised before the log ended.
        total: Seconds that the finished ones took.
        bad: How many met NaN or infinity.
    """

    site: SiteRecord
    calls: int
    failed: int
    finished: int
    total: float
    bad: int = 0

    @property
    def mean(self) -> float | None:
        """Seconds a call, None if none finished."""
        return self.total / self.finished if self.finished else None


def usage(reading: Reading) -> list[SiteUse]:
    """Every site that was called, the one with the most time first."""
    rows = reading.rows(f'SELECT site, count(*), count(nullif(flags & {FAILED}, 0)), count(duration), total(duration), '
                        f'count(nullif(flags & {BAD}, 0)) FROM calls WHERE id > 0 GROUP BY site ORDER BY 5 DESC, site')
    return [SiteUse(reading.site(key), calls, failed, finished, nanoseconds / 1e9, bad)
            for key, calls, failed, finished, nanoseconds, bad in rows]


@dataclass(frozen=True, slots=True)
class SiteTime:
    """What one site cost.

    Attributes:
        calls, failed, finished, total: As in `SiteUse`.
        own: Seconds of `total` in which no other recorded call ran inside.
        longest: Seconds of the longest call, 0 if none finished.
        newest: Number of the newest call.
        bad: How many calls have a NaN or infinity in an input or output.
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

    @property
    def mean(self) -> float | None:
        """Seconds a call, None if none finished."""
        return self.total / self.finished if self.finished else None


def profile(reading: Reading, run: int | None = None, process: int | None = None) -> list[SiteTime]:
    """What every site that was called cost, of one run if given; most time of its own first."""
    where, parameters = condition(run=run, process=process)
    rows = reading.rows('SELECT site, count(*), count(nullif(flags & ?, 0)), count(duration), total(duration), '
                        f'max(duration), max(id), count(nullif(flags & ?, 0)) FROM calls WHERE {where} GROUP BY site',
                        [FAILED, BAD, *parameters])
    inner = _inner(reading, where, parameters)
    times = [SiteTime(reading.site(key), calls, failed, finished, total / 1e9,
                      max(0.0, total - inner.get(key, 0)) / 1e9, (longest or 0) / 1e9, call_number(key >> SITE_BITS, newest),
                      bad)
             for key, calls, failed, finished, total, longest, newest, bad in rows]
    return sorted(times, key=lambda time: (-time.own, time.site.process, time.site.id))


def _inner(reading: Reading, where: str, parameters: list[Any]) -> dict[int, int]:
    """By key of a site: nanoseconds that other calls took inside of its calls.

    Who made a call is not in the index, so the batches of the log are read: of 1,000,000 calls in some seconds.
    """
    rows = reading.rows(f'SELECT process, position, place, id, site, duration FROM calls WHERE {where} '
                        'AND duration IS NOT NULL ORDER BY process, position', parameters)
    sites: dict[tuple[int, int], int] = {}
    spent: dict[tuple[int, int], int] = {}
    for (process, position), batch in itertools.groupby(rows, key=lambda row: (row[0], row[1])):
        parents = reading.parents(process, position)
        for _, _, place, number, site, duration in batch:
            sites[process, number] = site
            parent = parents[place] if place < len(parents) else 0
            if parent:
                spent[process, parent] = spent.get((process, parent), 0) + duration
    found: dict[int, int] = {}
    for call, duration in spent.items():
        site = sites.get(call)
        if site is not None:
            found[site] = found.get(site, 0) + duration
    return found
