"""How a program goes on, from its growing trace: calls and rates by site, memory, errors, values that are not finite.

Asked now and then, on any one thread; each answer compares with the one before.
"""
from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from dataclasses import dataclass

from pyfuncdbg.debug.queries import Queries
from pyfuncdbg.record.records import TraceInfo
from pyfuncdbg.record.usage import SiteUse

WINDOW = 3.0
"""Seconds over which rates are taken."""


@dataclass(frozen=True, slots=True)
class SitePulse:
    """One site.

    Attributes:
        use: All its calls.
        rate: Calls a second, lately.
        share: Part of the time that went by lately that was spent in it; more than 1 where threads work at once.
    """

    use: SiteUse
    rate: float
    share: float


@dataclass(frozen=True, slots=True)
class Pulse:
    """The program now.

    Attributes:
        info: Of the trace.
        elapsed: Seconds since its start, up to its last record where it was closed.
        sites: Python sites and others that were called, the one with the most time first.
        run_rate: Runs a second, lately.
        call_rate: Calls a second, lately.
        bad: Calls that met NaN or infinity.
        failed: Calls that raised.
        memory: Bytes of the process that are in memory, None if that is not known.
        peak: The most there were at any look.
    """

    info: TraceInfo
    elapsed: float
    sites: tuple[SitePulse, ...]
    run_rate: float
    call_rate: float
    bad: int
    failed: int
    memory: int | None
    peak: int | None


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    runs: int
    calls: int
    sites: dict[tuple[int, int], tuple[int, float]]


class Pulses:
    """Takes the pulse of one program.

    Args:
        trace: Of it.
        pid: Its process.
    """

    def __init__(self, trace: Queries, pid: int) -> None:
        self._trace = trace
        self._pid = pid
        self._looks: deque[_Look] = deque()
        self._peak = 0

    def take(self) -> Pulse:
        """How it is now.

        Raises:
            TraceError: The trace cannot be read.
        """
        now = time.monotonic()
        info, uses = self._trace.info(), self._trace.usage()
        look = _Look(now, info.runs, info.calls,
                     {(use.site.process, use.site.id): (use.calls, use.total) for use in uses})
        self._looks.append(look)
        while len(self._looks) > 2 and now - self._looks[1].at >= WINDOW:
            self._looks.popleft()
        before = self._looks[0]
        elapsed = now - before.at
        memory = resident(self._pid)
        self._peak = max(self._peak, memory or 0)
        running = 0.0 if info.complete or memory is None else time.time() - info.started
        return Pulse(info, max(info.duration, running), tuple(_site(use, before, elapsed) for use in uses),
                     _rate(info.runs - before.runs, elapsed), _rate(info.calls - before.calls, elapsed),
                     sum(use.bad for use in uses), sum(use.failed for use in uses), memory, self._peak or None)


def _site(use: SiteUse, before: _Look, elapsed: float) -> SitePulse:
    calls, total = before.sites.get((use.site.process, use.site.id), (0, 0.0))
    return SitePulse(use, _rate(use.calls - calls, elapsed), _rate(use.total - total, elapsed))


def _rate(amount: float, elapsed: float) -> float:
    return amount / elapsed if elapsed > 0 else 0.0


def resident(pid: int) -> int | None:
    """Bytes of a process that are in memory; None if it is gone or the system does not tell."""
    try:
        with open(f'/proc/{pid}/statm', encoding='ascii') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') or None
    except (OSError, IndexError, ValueError):
        pass
    if os.path.isdir('/proc/self'):
        return None
    try:
        said = subprocess.run(['ps', '-o', 'rss=', '-p', str(pid)], capture_output=True, text=True, check=False, timeout=5)
        return int(said.stdout) * 1024
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
