"""How much each site ran, added up by the index: a report must not decode a million calls to say how long they took.

Used by `Trace.usage` and `Trace.profile`, which hold the trace's lock.
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.record.batch import COLUMNS
from pyfuncdbg.record.decode import call_number
from pyfuncdbg.record.index import BAD, FAILED, SITE_BITS, site_key
from pyfuncdbg.record.query import condition
from pyfuncdbg.record.reading import Reading
from pyfuncdbg.record.records import SiteRecord

ID, RUN, SITE, STARTED, FINISHED, PARENT = map(COLUMNS.index, ('id', 'run', 'site', 'started', 'finished', 'parent'))


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


def profile(reading: Reading, run: int | None = None) -> list[SiteTime]:
    """What every site that was called cost, of one run if given; most time of its own first."""
    where, parameters = condition(run=run)
    inner = _inner(reading, where, parameters, run)
    times = [_time(reading, row, inner.get(row[0], 0)) for row in _sums(reading, where, parameters)]
    return sorted(times, key=lambda time: (-time.own, time.site.process, time.site.id))


def time_of(reading: Reading, key: int, run: int | None = None) -> SiteTime | None:
    """What one site cost, with what ran inside of its calls counted as its own; None if it was not called."""
    where, parameters = condition(run=run)
    rows = _sums(reading, f'{where} AND site = ?', [*parameters, key])
    return _time(reading, rows[0], 0) if rows else None


def _sums(reading: Reading, where: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    return reading.rows('SELECT site, count(*), count(nullif(flags & ?, 0)), count(duration), total(duration), '
                        f'max(duration), max(id), count(nullif(flags & ?, 0)) FROM calls WHERE {where} GROUP BY site',
                        [FAILED, BAD, *parameters])


def _time(reading: Reading, row: tuple[Any, ...], inner: int) -> SiteTime:
    key, calls, failed, finished, total, longest, newest, bad = row
    return SiteTime(reading.site(key), calls, failed, finished, total / 1e9, max(0.0, total - inner) / 1e9,
                    (longest or 0) / 1e9, call_number(key >> SITE_BITS, newest), bad)


def _inner(reading: Reading, where: str, parameters: list[Any], run: int | None) -> dict[int, int]:
    """By key of a site: nanoseconds that other calls took inside of its calls.

    Who made a call is not in the index, so the first columns of the log's batches are read: of 1,000,000 calls in 2 s.
    """
    places = reading.rows(f'SELECT DISTINCT process, position FROM calls WHERE {where} ORDER BY process, position',
                          parameters)
    found: dict[int, int] = {}
    for process, group in itertools.groupby(places, key=lambda place: place[0]):
        batches = [reading.columns(process, position) for _, position in group]
        if not any(columns[PARENT].any() for columns in batches):
            continue                            # nothing was made inside of anything
        columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
        ids, runs, sites, parents = (columns[at] for at in (ID, RUN, SITE, PARENT))
        spent = np.where(columns[FINISHED] > 0, columns[FINISHED] - columns[STARTED], 0)
        # Of a call that was written twice the later record stands.
        _, last = np.unique(ids[::-1], return_index=True)
        order = len(ids) - 1 - last
        kept = order[(ids[order] > 0) & ((runs[order] == run) if run is not None else True)]
        ids, sites, parents, spent = ids[kept], sites[kept], parents[kept], spent[kept]
        at = np.searchsorted(ids, parents)      # `ids` ascend
        known = (parents > 0) & (at < len(ids)) & (ids[np.minimum(at, len(ids) - 1)] == parents)
        for site, duration in zip(sites[at[known]].tolist(), spent[known].tolist(), strict=True):
            key = site_key(process, site)
            found[key] = found.get(key, 0) + duration
    return found
