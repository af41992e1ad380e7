"""Bounded queue from calling threads to the writer thread, with an exact count of what was dropped.

One per process and recorder; a forked child starts with an empty one.
"""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import Call, next_id
from pyfuncdbg.hooks.capture import CaptureState
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.observers.record.log.back_pressure import BackPressure
from pyfuncdbg.observers.record.log.large_rows import large_rows
from pyfuncdbg.observers.record.log.op_columns import QueuedOps
from pyfuncdbg.observers.record.log.program_environment import settings
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.records import HOST
from pyfuncdbg.observers.record.snapshots.call_state import StateNumbers
from pyfuncdbg.observers.record.snapshots.site_notes import SiteNote
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, TINY, Snapshot, Snapshots

ROW_SIZE = 768
"""Bytes of a queued call. Measured: object, numbers and scalars of one of a function of one scalar take 0.5 KB."""

Running = tuple[Call, Sequence[Any], CaptureState | None, StateNumbers]
"""A call that has not returned, copies of its inputs, what was in force before its capture began, and the state that it
began in."""


class Losses:
    """Counts of what was not kept, by kind: 'calls', 'tensors', 'prints', 'bytes'. Any thread."""

    __slots__ = ('_lock', 'total')

    def __init__(self) -> None:
        self.total: dict[str, int] = {}
        self._lock = new_rlock()

    def add(self, counts: dict[str, int]) -> None:
        """Add to the totals.

        Args:
            counts: By kind.
        """
        with self._lock:
            for kind, count in counts.items():
                if count:
                    self.total[kind] = self.total.get(kind, 0) + count


class Backlog:
    """The queue of one process.

    Args:
        limit: Bytes that its calls may take.

    Attributes:
        first: The first call that may be recorded, by id; those before belong to other recordings, or to the parent process.
        rows: Finished calls.
        ops: Finished ops that are recorded together.
        sites, plans, runs: Announcements; a row is appended after what announces it, and the writer takes rows first.
        hosts: Names of those whose environment is noted.
        notes: Stops, breakpoints and other notes, as plain data.
        states: States that calls begin in, as plain data, and the memory that each takes.
        states_in_force: Gives the numbers of those that calls to come may name.
        running: Calls that have not returned, with their input snapshots, by id.
        cap: Length of `rows` at which it overflows.
        mark: Length of `rows` at which the thread of a call looks after the queue; 0 makes the next one do so.
        overflow: Makes room until a condition is true; False if there will be none. Waits for the writer, unless a ring
            has the queue.
        pressure: Waiting for the writer.
        wake: Tells its thread that there is work.
    """

    __slots__ = ('cap', 'first', 'hosts', 'losses', 'mark', 'notes', 'ops', 'overflow', 'plan_numbers', 'plans', 'pressure',
                 'rows', 'running', 'runs', 'sites', 'states', 'states_in_force', 'usual_mark', 'wake')

    def __init__(self, limit: int) -> None:
        self.first = next_id()
        self.rows: deque[QueuedCall] = deque()
        self.ops: deque[QueuedOps] = deque()
        self.sites: deque[SiteNote] = deque()
        self.plans: deque[tuple[int, Any, tuple[int, ...]]] = deque()
        self.runs: deque[tuple[int, ...]] = deque()
        self.hosts: set[str] = set()
        self.notes: deque[list[Any]] = deque()
        self.states: deque[list[Any]] = deque()
        self.states_in_force: Callable[[], set[int]] = set
        self.running: dict[int, Running] = {}
        self.plan_numbers = itertools.count(1)
        self.losses = Losses()
        self.pressure = BackPressure()
        self.overflow: Callable[[Callable[[], bool]], bool] = self.pressure.wait_for
        self.wake = self.pressure.wake
        self.cap = max(limit // ROW_SIZE, 16)
        self.usual_mark = max(min(self.cap // 2, 2000), 1)
        self.mark = 0

    def note_host(self, host: Host) -> None:
        """Note the environment of a host, once.

        Args:
            host: Of a site that is announced.
        """
        if host.name not in self.hosts:
            self.hosts.add(host.name)
            self.notes.append([HOST, perf_counter_ns(), {'name': host.name, 'version': host.version,
                                                         'settings': settings(host.variables)}])

    def running_calls(self) -> list[Running]:
        """All calls that have not returned.

        Returns:
            In order of their start.
        """
        return list(self.running.values())

    def recorded_forward(self, forward: int) -> int:
        """The call that a backward step differentiates, if it is in the log.

        Args:
            forward: Its id, 0 if unknown.

        Returns:
            The id; 0 if it is in no log of this process.
        """
        return forward if forward >= self.first else 0

    def has_room(self) -> bool:
        """Wake the writer, and wait for it if the queue is full.

        Returns:
            False if the queue stays full.
        """
        if not self.wake.is_set():
            self.wake.set()
        return len(self.rows) < self.cap or self.overflow(lambda: len(self.rows) < self.cap)

    def put_state(self, snapshots: Snapshots, record: list[Any]) -> bool:
        """Queue the state that calls begin in from now on; its memory is given back when it is written.

        Args:
            snapshots: Whose memory it takes.
            record: Number, kind and content.

        Returns:
            False if it has no room.
        """
        if not self.cap or not snapshots.charge(len(record[2])):
            return False
        self.states.append(record)
        return True

    def named_states(self) -> set[int]:
        """The states that calls in the queue, running ones and calls to come may name.

        Returns:
            Their numbers.
        """
        numbers = self.states_in_force()
        for row in list(self.rows):
            numbers.update(row.state)
        for *_, state in self.running_calls():
            numbers.update(state)
        return numbers

    def close(self, snapshots: Snapshots) -> None:
        """Count all queued calls as lost, free their memory and accept no more: the log cannot be written any more.

        Args:
            snapshots: Whose memory it is.
        """
        self.cap = self.mark = 0                # every row comes to `has_room`
        while self.rows:
            self.drop(self.rows.popleft(), snapshots)
        while self.ops:
            ops = self.ops.popleft()
            self.losses.add(ops.losses())
            release_ops(ops, snapshots)
        self.losses.add({'notes': len(self.notes)})
        self.notes.clear()
        self.states.clear()
        snapshots.pool.clear()

    def drop(self, row: QueuedCall, snapshots: Snapshots) -> None:
        """Count a call as lost, and free the memory of its own.

        Args:
            row: The call.
            snapshots: Whose memory it is.
        """
        self.losses.add(losses_of(row))
        release(row.inputs, snapshots, row.id)
        release(row.outputs, snapshots, row.id)
        release_output(row, snapshots)


def release_ops(ops: QueuedOps, snapshots: Snapshots) -> None:
    """Free the memory of ops, and give their arrays back to the host.

    Args:
        ops: Written or dropped.
        snapshots: Whose memory it is.
    """
    snapshots.allowance.give(ops.charge)
    release([value for value in ops.batch.values if type(value) in (tuple, Snapshot)], snapshots)
    values, ops.batch.values = ops.batch.values, []
    large_rows.forget(values)
    if ops.batch.recycle is not None:
        ops.batch.recycle(values)


def losses_of(row: QueuedCall) -> dict[str, int]:
    """Count what is lost with a whole call.

    Args:
        row: The call; its output may be plain data by now.

    Returns:
        Counts by kind, as in `Losses`.
    """
    tensors = size = 0
    output = row.output
    prints = len(output.entries) + output.lost if type(output) is QueuedOutput else len(output or ())
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
    """Free the memory of snapshots.

    Args:
        values: Of a call.
        snapshots: Whose memory it is.
        dropped: Id of a call that is dropped: snapshots shared with other calls stay.
    """
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
    """Take the memory that `release` will free, for copies of the parent process.

    Args:
        values: Of a call.
        snapshots: Whose memory it is.
    """
    snapshots.allowance.used += sum([
        (len(value[2]) if len(value[2]) > TINY else 0) if type(value) is tuple else value.charge
        for value in values if type(value) in (tuple, Snapshot)])


class QueuedOutput:
    """Output entries of one call on their way to the log, and the memory they take.

    Args:
        entries: As captured.
        cut: Bytes that the capture itself left out.
        charge: Takes memory; where it is False the entries are lost.
    """

    __slots__ = ('charge', 'cut', 'entries', 'lost')

    def __init__(self, entries: tuple[Any, ...], cut: int, charge: Callable[[int], bool]) -> None:
        self.entries = entries
        self.cut = cut
        """Bytes that the capture itself left out."""
        self.lost = 0
        """Entries that found no room in the queue."""
        self.charge = sum([len(entry.text) + 200 for entry in entries])
        if not charge(self.charge):
            self.lost, self.entries, self.charge = len(entries), (), 0


def release_output(row: QueuedCall, snapshots: Snapshots) -> None:
    """Free the memory of the output of a call, and of the variables of its exception.

    Args:
        row: The call.
        snapshots: Whose memory it is.
    """
    output, failure = row.output, row.error
    if output is not None:
        snapshots.allowance.give(output.charge)
    if failure is not None:
        release(failure.taken, snapshots)
        snapshots.allowance.give(failure.charge)
