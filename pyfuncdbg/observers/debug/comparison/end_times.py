"""Times at which calls and runs ended, so that of two that differ the first can be named. Pure."""
from __future__ import annotations

import numpy as np

from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls
from pyfuncdbg.observers.record.index.tables import find_ids


def own_ends(calls: GroupedCalls) -> np.ndarray:
    """When calls or runs ended by their own durations, in nanoseconds; one that did not end counts when it began."""
    return np.asarray(calls.started + np.maximum(calls.duration, 0))


def call_ends(calls: GroupedCalls) -> np.ndarray:
    """When calls ended, in nanoseconds: not before the calls in them.

    Durations leave out what it cost to watch, so that a call may seem to end before those in it.
    """
    ends = own_ends(calls)
    nested = np.flatnonzero(calls.parent > 0)
    nested = nested[np.argsort(-calls.started[nested], kind='stable')]      # what was called in a call comes before it
    parents = find_ids(calls.process, calls.id, calls.process[nested], calls.parent[nested])
    for call, parent in zip(nested.tolist(), parents.tolist(), strict=True):
        if parent >= 0:
            ends[parent] = max(ends[parent], ends[call])
    return ends


def run_ends(runs: GroupedCalls, calls: GroupedCalls, ends: np.ndarray) -> np.ndarray:
    """When runs ended, in nanoseconds: not before the calls in them, which ended at `ends`."""
    own = own_ends(runs)
    places = find_ids(runs.process, -runs.id, calls.process, calls.run)
    np.maximum.at(own, places[places >= 0], ends[places >= 0])
    return own
