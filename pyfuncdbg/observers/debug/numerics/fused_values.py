"""Calls of fused nodes: their outputs are the framework's own, while each node alone gives something else.

A framework runs several nodes as one, while a debugged run computes them one by one. So what is shown of the nodes before
such a call may not be what the framework had. Read from a trace, on any thread.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from pyfuncdbg.observers.record.records import CallRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

MOST = 100
"""Calls that are searched for."""


def has_fused_remark(call: CallRecord) -> bool:
    """Whether the host has remarked so on a call."""
    return any(record.kind == 'host' and record.category == 'otherwise' for record in call.output)


def fused_calls(trace: Trace, run: int | None = None) -> tuple[CallRecord, ...]:
    """The first of them."""
    return tuple(call for call in trace.calls(kind='op', run=run, printed=True, limit=MOST) if has_fused_remark(call))
