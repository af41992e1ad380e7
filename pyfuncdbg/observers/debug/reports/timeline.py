"""Timeline of calls by thread, as data: lanes in which nested calls lie below the calls around them.

Pure, from recorded calls; any thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyfuncdbg.observers.record.index.time_spans import SpanRecord


@dataclass(frozen=True, slots=True)
class Span:
    """One call.

    Attributes:
        number, label: '17' and 'norm[3]'.
        kind: 'python', 'op' or 'gradient'.
        start, end: Seconds since the trace began; the end of a call that did not finish is the end of the window.
        running: It did not finish.
        failed, bad: It raised; a recorded input or output has NaN or infinities.
    """

    number: str
    label: str
    kind: str
    start: float
    end: float
    running: bool
    failed: bool
    bad: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """One thread: `rows[0]` has its outermost calls, each further row what ran inside of those above it."""

    process: int
    thread: int
    rows: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A window of a trace.

    Attributes:
        start, end: Seconds since the trace began.
        lanes: Threads in order of their first call.
        total: Calls in the window; `shown` of them, the longest, are in the lanes.
        threads: How many threads have calls there.
    """

    start: float
    end: float
    lanes: tuple[Lane, ...]
    total: int
    shown: int
    threads: int


def timeline(calls: Sequence[SpanRecord], start: float, end: float, *, total: int | None = None, depth: int = 4,
             most: int = 32) -> Timeline:
    """Lay calls out.

    Args:
        calls: In order of their start.
        start, end: The window.
        total: How many calls there are in it; None: these.
        depth: Rows of a thread at most; calls further inside are left out.
        most: Threads at most.
    """
    threads: dict[tuple[int, int], list[list[Span]]] = {}
    shown_calls = 0
    for call in calls:
        rows = threads.setdefault((call.process, call.thread), [])
        span = _span(call, end)
        level = next((level for level, row in enumerate(rows) if row[-1].end <= span.start), len(rows))
        # What is inside of another call lies below it, even where the row above has room.
        inside = max((i + 1 for i, row in enumerate(rows) if row[-1].start <= span.start and row[-1].end >= span.end
                      and row[-1].end > span.start), default=0)
        level = max(level, inside)
        if level >= depth:
            continue
        if level == len(rows):
            rows.append([])
        rows[level].append(span)
        shown_calls += 1
    lanes = tuple(Lane(process, thread, tuple(tuple(row) for row in rows)) for (process, thread), rows in threads.items())
    return Timeline(start, end, lanes[:most], len(calls) if total is None else total, shown_calls, len(lanes))


def _span(call: SpanRecord, end: float) -> Span:
    over = max(end, call.started) if call.duration is None else call.started + call.duration
    return Span(call.number, call.label, call.kind, call.started, over, call.duration is None, call.failed, call.bad)
