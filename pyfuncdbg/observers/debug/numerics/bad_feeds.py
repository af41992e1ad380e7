"""Runs that were fed NaN or infinity: origins of their own where no recorded call took the feed.

Works on records of a trace; any thread.
"""
from __future__ import annotations

from collections.abc import Iterable

from pyfuncdbg.observers.record.records import CallRecord


def untaken(runs: Iterable[CallRecord], calls: Iterable[CallRecord]) -> dict[str, int]:
    """Those of the runs with a non-finite feed that none of these calls took, by number: the slot of the first one."""
    taken = {(call.process, call.run, tensor.name) for call in calls for tensor in call.inputs}
    found: dict[str, int] = {}
    for run in runs:
        # What a backward pass gives are gradients; the arguments of a function may be what another call made.
        if run.site.traits.backward_pass or (run.parent and not run.site.traits.fed_run):
            continue
        for slot, tensor in enumerate(run.inputs):
            if tensor.stats is not None and tensor.stats.bad and (run.process, run.run, tensor.name) not in taken:
                found.setdefault(run.number, slot)
    return found
