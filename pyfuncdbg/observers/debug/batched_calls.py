"""Batched reading of a trace's calls, with progress reports.

Judges and reports call it, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyfuncdbg.observers.record.records import CallRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

Tell = Callable[[int, int], None]
"""Takes how much is done, and of how much."""
BATCH = 500
"""Calls between two reports of progress."""


def read_calls(trace: Trace, tell: Tell | None, *, limit: int | None = None, **filters: Any) -> list[CallRecord]:
    """The calls of a trace, as `trace.calls` returns them.

    Args:
        trace: The trace.
        tell: Called after each batch; None: no reports.
        limit: Calls at most.
        **filters: Of `trace.calls` and `trace.count`.
    """
    if tell is None:
        return trace.calls(limit=limit, **filters)
    total = trace.count(**filters)
    total = total if limit is None else min(limit, total)
    calls: list[CallRecord] = []
    while len(calls) < total:
        batch = trace.calls(offset=len(calls), limit=min(BATCH, total - len(calls)), **filters)
        if not batch:
            break
        calls += batch
        tell(len(calls), total)
    return calls


def report_part(tell: Tell | None, before: int, total: int) -> Tell | None:
    """Report progress of one part as progress of the whole: `before` of `total` were done when it began."""
    return None if tell is None else lambda done, _: tell(before + done, total)
