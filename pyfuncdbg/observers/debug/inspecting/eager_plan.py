"""Plan of a run that announced no nodes: the eager ops that it has called.

Their inputs are known by name. Read from a trace, on any thread.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from pyfuncdbg.observers.record.records import PlanRecord, RunRecord

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.trace import Trace

_NEWEST = 256
"""Runs among which one with ops is looked for."""


def eager_plan(trace: Trace, run: RunRecord) -> PlanRecord | None:
    """The nodes that a run has called, in the order of their first calls.

    Args:
        trace: Has the run.
        run: One that announced no nodes.

    Returns:
        The plan; None if no op was called in it that takes what another one gives.
    """
    ops = trace.calls(kind='op', run=run.id, process=run.process)
    if not any(name for call in ops for name in call.site.inputs):
        return None
    calls = sorted([*ops, *trace.calls(kind='python', run=run.id, process=run.process)], key=lambda call: call.started)
    return PlanRecord(run.process, run.label, run.host, tuple(tensor.name for tensor in run.feeds), run.fetch_names,
                      tuple(dict.fromkeys(call.site.id for call in calls)), run.kind, 1, run.id)


def newest_eager_plan(trace: Trace) -> PlanRecord | None:
    """That of the newest run of a function, else of the newest run that has one; None if there is none."""
    runs = [run for run in trace.runs()[-_NEWEST:] if trace.count(kind='op', run=run.id, process=run.process)]
    runs.sort(key=lambda run: run.kind == 'function')
    for run in reversed(runs):
        if (plan := eager_plan(trace, run)) is not None:
            return plan
    return None
