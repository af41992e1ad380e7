# cython: annotation_typing=False, auto_pickle=False
"""Recording of ops in batches, on their thread: what may be written to is copied, the rest is kept.

The half of a recorder that takes the batches of `hooks.op_batch`; `call_recorder` has the other. Compiled by
`op_recorder.pxd`.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from pyfuncdbg.hooks.op_batch import OpBatch
from pyfuncdbg.hooks.value_placeholders import LaterValue
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.log.op_columns import QueuedOps, read_value
from pyfuncdbg.observers.record.snapshots.snapshot import LARGEST
from pyfuncdbg.observers.record.snapshots.statistics import IN_ROWS

_OP_SIZE = 128
"""Bytes of an op in the queue, without its values."""
_HELD = 256 << 10
"""Bytes for which a value counts that is read later, if it has more: no copy of it is made, and it should not be lost."""
_MOST_WAITING, _MOST_OPS = 4, 64
"""Batches and ops for which the writer is woken, if both are waiting: it takes the interpreter from the program's thread."""
_SHARE = 8
"""Of the memory for copies, the part that ops may have before their thread waits for the writer: what is in the processor's
caches when it is written costs half, and another thread's calls have room."""


class OpRecorder:
    """Recorder of ops in one process.

    Args:
        calls: Has the queue, the memory, and what is announced.
    """

    __slots__ = ('_calls', '_copies', '_limit', '_mark', '_run', '_share')

    def __init__(self, calls: CallRecorder) -> None:
        self._calls = calls
        snapshots = calls.snapshots
        self._limit = -1 if snapshots.level == 'none' else min(snapshots.full_limit, LARGEST)
        self._share = snapshots.allowance.limit // _SHARE
        self._mark = object()
        self._copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """Arrays of the present run that others may write to, and their copies, by id."""
        self._run = 0

    def on_ops(self, batch: OpBatch) -> None:
        """Queue ops that have run.

        Args:
            batch: The ops.
        """
        calls, sequence = self._calls, batch.sequence
        if batch.run.id not in calls.known_runs:
            calls.announce(batch.run, sequence.sites[0])
        if sequence.announced is not self._mark:
            for site in sequence.sites:
                calls.announce(batch.run, site)
            sequence.announced = self._mark
        if self._run != batch.run.id:
            self._run = batch.run.id
            self._copies.clear()
        size = self._take(batch) + _OP_SIZE * len(batch)
        if not batch.continues:
            self._copies.clear()
        allowance = calls.snapshots.allowance
        queued = QueuedOps(batch, self._limit, size)
        if allowance.used + size > self._share and calls.backlog.ops:
            calls.backlog.overflow(lambda: allowance.used + size <= self._share or not calls.backlog.ops)
        if not self._charge(size):
            queued.charge = _OP_SIZE * len(batch)
            if not self._charge(queued.charge):
                if calls.backlog.ops or not calls.backlog.cap:
                    calls.backlog.losses.add(queued.losses())
                    return
                queued.charge = 0               # the calls that are running hold all memory, and this is in it anyway
            self._take_singly(batch)
        calls.backlog.ops.append(queued)
        if calls.backlog.mark == 0:             # the writer's thread does not run: after a fork
            calls.restart()
        waiting = len(calls.backlog.ops)
        if waiting >= _MOST_WAITING and (waiting * len(batch) >= _MOST_OPS or allowance.used > self._share >> 1) and (
                not calls.backlog.wake.is_set()):
            calls.backlog.wake.set()

    def _charge(self, size: int) -> bool:
        """Take memory, if need be after waiting for the writer."""
        calls = self._calls
        allowance, overflow = calls.snapshots.allowance, calls.backlog.overflow
        if not calls.backlog.cap:               # the log cannot be written any more
            return False
        return allowance.take(size) or (size <= allowance.limit and overflow(lambda: allowance.take(size)))

    def _take(self, batch: OpBatch) -> int:
        """Replace the values that may change by copies, and those that are no arrays by snapshots; returns their bytes."""
        values, snapshots, scalars = batch.values, self._calls.snapshots, self._calls.scalars
        copied = set(batch.sequence.copied)
        copies = self._copies
        host = batch.sequence.sites[0].host
        owns_values = batch.owns_values
        size = 0
        dtype: Any = None
        has_row = False
        for place in range(len(values)):
            value = values[place]
            kind = type(value)
            if kind is ndarray and value.dtype is not dtype:        # most are as the one before
                dtype = value.dtype
                has_row = dtype.char in IN_ROWS
            if kind is ndarray and has_row:
                entry = copies.get(id(value))
                if entry is not None:           # also what an op has passed on
                    values[place] = entry[1]
                    continue
                if self._limit < 0:
                    values[place] = _placeholder(value)
                    continue
                size += value.nbytes
                if not owns_values and (place in copied or value.base is not None):
                    values[place] = value.copy()
                    copies[id(value)] = value, values[place]
            elif kind is LaterValue:
                if self._limit < 0:
                    values[place] = _placeholder(value)
                else:
                    size += min(value.nbytes, _HELD)
            elif kind not in scalars:
                if isinstance(value, np.generic) and value.dtype.char in IN_ROWS:
                    values[place] = np.asarray(value)
                else:
                    values[place] = snapshots.take(value, host)
        return size

    def _take_singly(self, batch: OpBatch) -> None:
        """Take values that have no room in memory together one by one, as those of a call.

        Of each there is a copy, or where that has no room either, now, its statistics or its bytes in the log.
        """
        values, snapshots = batch.values, self._calls.snapshots
        for place, value in enumerate(values if self._limit >= 0 else ()):
            if type(value) is LaterValue:
                value = values[place] = read_value(value, self._limit)
            if type(value) is ndarray:
                values[place] = snapshots.take_array(value)


def _placeholder(array: np.ndarray | LaterValue) -> np.ndarray:
    """An array of the same type and shape without memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)
