"""How much each site ran, added up by the index: a report must not decode a million calls to say how long they took.

Used by `Trace.usage`, which holds the trace's lock.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.record.index import FAILED
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
    """

    site: SiteRecord
    calls: int
    failed: int
    finished: int
    total: float

    @property
    def mean(self) -> float | None:
        """Seconds a call, None if none finished."""
        return self.total / self.finished if self.finished else None


def usage(reading: Reading) -> list[SiteUse]:
    """Every site that was called, the one with the most time first."""
    rows = reading.rows(f'SELECT site, count(*), count(nullif(flags & {FAILED}, 0)), count(duration), total(duration) '
                        'FROM calls WHERE id > 0 GROUP BY site ORDER BY 5 DESC, site')
    return [SiteUse(reading.site(key), calls, failed, finished, nanoseconds / 1e9)
            for key, calls, failed, finished, nanoseconds in rows]
