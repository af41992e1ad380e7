"""Live counts of a running program: calls and rates by site, memory, errors, non-finite values.

Asked now and then, on any one thread; each answer compares with the one before.
"""
from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from dataclasses import dataclass

from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo

WINDOW = 3.0
"""Seconds over which rates are taken."""


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """Live counts of one site.

    Attributes:
        use: All its calls.
        rate: Calls a second, lately.
        share: Part of the time that went by lately that was spent in it; more than 1 where threads work at once.
        running: Calls that have not returned yet.
        spent: Seconds that all its calls have taken so far, those that run included.
    """

    use: SiteUse
    rate: float
    share: float
    running: int = 0
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """The program now.

    Attributes:
        info: Of the trace.
        elapsed: Seconds since its start, up to its last record where it was closed.
        sites: Python sites and others that were called, the one with the most time first.
        run_rate: Runs a second, lately.
        pass_rate: Backward passes a second, lately.
        call_rate: Calls a second, lately.
        bad: Calls that met NaN or infinity.
        failed: Calls that raised.
        memory: Bytes of the process that are in memory, None if that is not known.
        peak: The most there were at any look.
        over: Whether the program has ended: then 'lately' is all the time that it ran.
    """

    info: TraceInfo
    elapsed: float
    sites: tuple[SiteCounts, ...]
    run_rate: float
    pass_rate: float
    call_rate: float
    bad: int
    failed: int
    memory: int | None
    peak: int | None
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    runs: int
    passes: int
    calls: int
    sites: dict[tuple[int, int], tuple[int, float]]


class LiveCounter:
    """Reader of the live counts of one program.

    Args:
        trace: Of it.
        pid: Its process.
    """

    def __init__(self, trace: Trace, pid: int) -> None:
        self._trace = trace
        self._pid = pid
        self._looks: deque[_Look] = deque()
        self._peak = 0

    def take(self) -> LiveCounts:
        """The current counts.

        Raises:
            TraceError: The trace cannot be read.
        """
        now, clock = time.monotonic(), time.time()
        info, uses = self._trace.info(), self._trace.usage()
        memory = resident_memory(self._pid)
        self._peak = max(self._peak, memory or 0)
        over = info.complete or memory is None
        age = max(info.duration, 0.0 if over else clock - info.started)
        spent = {_key(use): use.total + (0.0 if over else _pending(use, age)) for use in uses}
        look = _Look(now, info.runs, info.passes, info.calls, {_key(use): (use.calls, spent[_key(use)]) for use in uses})
        self._looks.append(look)
        while len(self._looks) > 2 and now - self._looks[1].at >= WINDOW:
            self._looks.popleft()
        before, elapsed = (_Look(now, 0, 0, 0, {}), age) if over else (self._looks[0], now - self._looks[0].at)
        sites = tuple(_site(use, spent[_key(use)], before, elapsed, over=over) for use in uses)
        return LiveCounts(info, age, tuple(sorted(sites, key=lambda site: -site.spent)),
                          _rate(info.runs - before.runs, elapsed), _rate(info.passes - before.passes, elapsed),
                          _rate(info.calls - before.calls, elapsed),
                          sum(use.bad for use in uses), sum(use.failed for use in uses), memory, self._peak or None, over)


def _key(use: SiteUse) -> tuple[int, int]:
    return use.site.process, use.site.id


def _pending(use: SiteUse, now: float) -> float:
    """Seconds that calls have run which have not returned; a child process of the program may have ended."""
    running = use.calls - use.finished
    return max(0.0, running * now - use.unfinished_starts) if use.site.process == 1 else 0.0


def _site(use: SiteUse, spent: float, before: _Look, elapsed: float, *, over: bool) -> SiteCounts:
    calls, total = before.sites.get(_key(use), (0, 0.0))
    running = use.calls - use.finished if not over and use.site.process == 1 else 0
    return SiteCounts(use, _rate(use.calls - calls, elapsed), _rate(max(0.0, spent - total), elapsed), running, spent)


def _rate(amount: float, elapsed: float) -> float:
    return amount / elapsed if elapsed > 0 else 0.0


def resident_memory(pid: int) -> int | None:
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
