# cython: annotation_typing=False, auto_pickle=False
"""A call on its way to the log: made on the thread of the call, encoded by the writer's. Compiled by `queued_call.pxd`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.record.snapshots.call_state import NO_STATE, StateNumbers
from pyfuncdbg.observers.record.snapshots.snapshot import TINY, Snapshot

_untrack_record: Callable[[Any, tuple[Any, ...], tuple[Any, ...]], None] | None
try:
    from pyfuncdbg.observers.record.log import garbage_collection  # type: ignore[attr-defined,unused-ignore]
except ImportError:                             # no C compiler
    _untrack_record = None
else:
    _untrack_record = garbage_collection.untrack_record


class QueuedCall:
    """Record of a call in the queue; it keeps neither the call nor a value of the program alive.

    Attributes:
        id, ordinal, thread, started, finished, sources, retry_of: As in `Call`; `finished` is 0 while it runs.
        run, site, parent: Ids.
        forward: The call that a backward step differentiates, by id; 0 if that is in no log of this process.
        inputs, outputs: Snapshots of its values, as `snapshot.Taken`.
        output: What it printed, as a `QueuedOutput`, or as plain data; None if nothing.
        error: What it raised, as a `Failure`, or as plain data; None if nothing.
        lost: Counts of what of it had no room; None if all had.
        holds_memory: Whether there may be memory to give back; to look for it takes a third of a writer's time.
        broken_off: Whether `retry` ended it.
        state: Numbers of the state that it began in.
    """

    __slots__ = ('broken_off', 'error', 'finished', 'forward', 'holds_memory', 'id', 'inputs', 'lost', 'ordinal', 'output',
                 'outputs', 'parent', 'retry_of', 'run', 'site', 'sources', 'started', 'state', 'thread')

    id: int
    run: int
    site: int
    ordinal: int
    thread: int
    started: int
    finished: int
    forward: int
    parent: int
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    output: Any
    error: Any
    lost: dict[str, int] | None
    sources: Sequence[int]
    holds_memory: bool
    retry_of: int
    broken_off: bool
    state: StateNumbers

    def with_values(self, inputs: Sequence[Any], outputs: Sequence[Any], output: Any, error: Any,
                 lost: dict[str, int] | None) -> QueuedCall:
        """The same call with other values.

        Args:
            inputs, outputs, output, error, lost: As the attributes.

        Returns:
            A new row.
        """
        copy = QueuedCall()
        for name in QueuedCall.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.inputs, copy.outputs, copy.output, copy.error, copy.lost = inputs, outputs, output, error, lost
        return copy


def queued_call(call: Call, inputs: Sequence[Any], outputs: Sequence[Any], finished: int, forward: int,
                holds_memory: bool) -> QueuedCall:
    """Make the row of a call that printed nothing and raised nothing; a function, for the reason of `hooks.call.new_call`.

    Args:
        call: The call.
        inputs, outputs, finished, forward, holds_memory: As the attributes of `QueuedCall`.

    Returns:
        The row.
    """
    row = QueuedCall()
    row.id = call.id
    row.run = call.run.id
    row.site = call.site.id
    row.ordinal = call.ordinal
    row.thread = call.thread
    row.started = call.started
    row.finished = finished
    row.forward = forward
    row.parent = call.parent
    row.inputs = inputs
    row.outputs = outputs
    row.output = row.error = row.lost = None
    row.sources = tuple(call.sources)
    row.holds_memory = holds_memory
    row.retry_of = call.retry_of
    row.broken_off = False
    row.state = NO_STATE
    if _untrack_record is not None and type(inputs) is tuple and type(outputs) is tuple:
        _untrack_record(row, inputs, outputs)
    return row


def numbers_of(calls: Sequence[QueuedCall]) -> list[list[int]]:
    """The numbers of calls, by column.

    Args:
        calls: The calls.

    Returns:
        A list for each of `call_batch.COLUMNS`.
    """
    return [[call.id for call in calls], [call.run for call in calls], [call.site for call in calls],
            [call.ordinal for call in calls], [call.thread for call in calls], [call.started for call in calls],
            [call.finished for call in calls], [call.forward for call in calls], [call.parent for call in calls]]


def rare_fields_of(calls: Sequence[QueuedCall]) -> list[list[list[Any]]]:
    """What few calls have.

    Args:
        calls: The calls; their output, errors and losses are plain data or None.

    Returns:
        Output, error, losses, sources, and (retry_of, broken_off): of each the rows that have it, with it.
    """
    output: list[list[Any]] = []
    errors: list[list[Any]] = []
    lost: list[list[Any]] = []
    sources: list[list[Any]] = []
    retries: list[list[Any]] = []
    for row, call in enumerate(calls):
        if call.output:
            output.append([row, call.output])
        if call.error:
            errors.append([row, call.error])
        if call.lost:
            lost.append([row, call.lost])
        if call.sources:
            sources.append([row, call.sources])
        if call.retry_of or call.broken_off:
            retries.append([row, (call.retry_of, call.broken_off)])
    return [output, errors, lost, sources, retries]


def is_plain(call: QueuedCall, most: int) -> bool:
    """Whether a call is encoded as it is: it has printed and raised nothing.

    Args:
        call: The call.
        most: Values that it may have.
    """
    return call.output is None and call.error is None and len(call.inputs) + len(call.outputs) <= most


def held_by(calls: Sequence[QueuedCall]) -> tuple[int, list[Snapshot]]:
    """What calls hold until they are in the log.

    Args:
        calls: The calls.

    Returns:
        The bytes of copies, and the snapshots.
    """
    size = 0
    snapshots: list[Snapshot] = []
    for call in calls:
        if call.holds_memory:
            size += _held_by(call.inputs, snapshots) + _held_by(call.outputs, snapshots)
    return size, snapshots


def _held_by(values: Sequence[Any], snapshots: list[Snapshot]) -> int:
    size = 0
    for value in values:
        if type(value) is tuple:
            if len(value[2]) > TINY:
                size += len(value[2])
        elif type(value) is Snapshot:
            snapshots.append(value)
    return size
