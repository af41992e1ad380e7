"""Bounded queue from calling threads to the writer thread, with an exact count of what was dropped.

One per process and recorder; a forked child starts with an empty one.
"""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import Call, next_id
from pyfuncdbg.hooks.capture import CaptureState
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.observers.record.log.back_pressure import BackPressure
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.snapshots.site_notes import SiteNote
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, TINY, Snapshot, Snapshots

# Measured: object, numbers and scalars of one queued call of a function of one scalar take 0.5 KB.
_ROW_SIZE = 768


Running = tuple[Call, Sequence[Any], CaptureState | None]
"""A call that has not returned, copies of its inputs, and what was in force before its capture began."""


class Losses:
    """Counts of what was not kept, by kind: 'calls', 'tensors', 'prints', 'bytes'. Any thread."""

    __slots__ = ('_lock', 'total')

    def __init__(self) -> None:
        self.total: dict[str, int] = {}
        self._lock = new_rlock()

    def add(self, counts: dict[str, int]) -> None:
        """Add to the totals."""
        with self._lock:
            for kind, count in counts.items():
                if count:
                    self.total[kind] = self.total.get(kind, 0) + count


class Backlog:
    """The queue of one process.

    Attributes:
        first: The first call that may be recorded, by id; those before belong to other recordings, or to the parent process.
        rows: Finished calls.
        sites, plans, runs: Announcements; a row is appended after what announces it, and the writer takes rows first.
        notes: Stops, breakpoints and other notes, as plain data.
        running: Calls that have not returned, with their input snapshots, by id.
        mark: Length of `rows` at which the thread of a call looks after the queue; 0 makes the next one do so.
        pressure: Waiting for the writer.
        wake: Tells its thread that there is work.
    """

    __slots__ = ('cap', 'first', 'losses', 'mark', 'notes', 'plan_numbers', 'plans', 'pressure', 'rows',
                 'running', 'runs', 'sites', 'usual_mark', 'wake')

    def __init__(self, limit: int) -> None:
        self.first = next_id()
        self.rows: deque[QueuedCall] = deque()
        self.sites: deque[SiteNote] = deque()
        self.plans: deque[tuple[int, Any, tuple[int, ...]]] = deque()
        self.runs: deque[tuple[int, ...]] = deque()
        self.notes: deque[list[Any]] = deque()
        self.running: dict[int, Running] = {}
        self.plan_numbers = itertools.count(1)
        self.losses = Losses()
        self.pressure = BackPressure()
        self.wake = self.pressure.wake
        self.cap = max(limit // _ROW_SIZE, 16)
        self.usual_mark = max(min(self.cap // 2, 2000), 1)
        self.mark = 0

    def begun(self) -> list[Running]:
        """All calls that have not returned."""
        return list(self.running.values())

    def linked(self, forward: int) -> int:
        """The call that a backward step is linked to: the one that it differentiates, or 0 if that is in no log of this
        process."""
        return forward if forward >= self.first else 0

    def has_room(self) -> bool:
        """Wake the writer; if the queue is full, wait for it. False if it stays full."""
        if not self.wake.is_set():
            self.wake.set()
        return len(self.rows) < self.cap or self.pressure.wait_for(lambda: len(self.rows) < self.cap)

    def close(self, snapshots: Snapshots) -> None:
        """The log cannot be written any more: count what waits as lost, give its memory back and take no more."""
        self.cap = self.mark = 0                # every row comes to `has_room`
        while self.rows:
            self.drop(self.rows.popleft(), snapshots)
        self.losses.add({'notes': len(self.notes)})
        self.notes.clear()
        snapshots.pool.clear()

    def drop(self, row: QueuedCall, snapshots: Snapshots) -> None:
        """Count a call as lost, and give back what is its own."""
        self.losses.add(lost_with(row))
        release(row.inputs, snapshots, row.id)
        release(row.outputs, snapshots, row.id)
        release_said(row, snapshots)


def lost_with(row: QueuedCall) -> dict[str, int]:
    """Counts of what is lost with a whole call; its output may be plain data by now."""
    tensors = size = 0
    said = row.output
    prints = len(said.entries) + said.lost if type(said) is QueuedOutput else len(said or ())
    prints += (row.lost or {}).get('prints', 0)
    for value in itertools.chain(row.inputs, row.outputs):
        if type(value) is tuple:
            tensors += 1
            size += len(value[2])
        elif type(value) is not Snapshot:
            tensors += 1
            size += getattr(value, 'nbytes', 8)
        elif value.data is not None or value.described is not None or value.note == OVER_BUDGET:
            tensors += 1
            size += value.nbytes
    return {'calls': 1, 'tensors': tensors, 'prints': prints, 'bytes': size}


def release(values: Iterable[Any], snapshots: Snapshots, dropped: int = 0) -> None:
    """Give back the memory of all snapshots among `values`; of the call `dropped`, only what is its own."""
    total = 0
    for value in values:
        if type(value) is tuple:
            if len(value[2]) > TINY:
                total += len(value[2])
        elif type(value) is Snapshot and (not dropped or value.owner in (0, dropped)):
            snapshots.release(value)
    if total:
        snapshots.allowance.give(total)


def charge(values: Iterable[Any], snapshots: Snapshots) -> None:
    """Take for copies of another process, its parent's, what `release` will give back."""
    snapshots.allowance.used += sum([
        (len(value[2]) if len(value[2]) > TINY else 0) if type(value) is tuple else value.charge
        for value in values if type(value) in (tuple, Snapshot)])


class QueuedOutput:
    """Output entries of one call on their way to the log, and what they take of their allowance."""

    __slots__ = ('charge', 'cut', 'entries', 'lost')

    def __init__(self, entries: tuple[Any, ...], cut: int, charge: Callable[[int], bool]) -> None:
        """Take room for them with `charge`; without it they are lost."""
        self.entries = entries
        self.cut = cut
        """Bytes that the capture itself left out."""
        self.lost = 0
        """Entries that found no room in the queue."""
        self.charge = sum([len(entry.text) + 200 for entry in entries])
        if not charge(self.charge):
            self.lost, self.entries, self.charge = len(entries), (), 0


def release_said(row: QueuedCall, snapshots: Snapshots) -> None:
    """Give back the memory of what a call has printed, and of the variables of its exception."""
    said, failure = row.output, row.error
    if said is not None:
        snapshots.allowance.give(said.charge)
    if failure is not None:
        release(failure.taken, snapshots)
        snapshots.allowance.give(failure.charge)
