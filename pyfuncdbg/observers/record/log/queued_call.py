# cython: annotation_typing=False, auto_pickle=False
"""A call on its way to the log: made on the thread of the call, encoded by the writer's. Compiled by `queued_call.pxd`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.call import Call


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
        holding: Whether there may be memory to give back to the allowance; to look for it takes a third of a writer's time.
        broken_off: Whether `retry` ended it.
    """

    __slots__ = ('broken_off', 'error', 'finished', 'forward', 'holding', 'id', 'inputs', 'lost', 'ordinal', 'output',
                 'outputs', 'parent', 'retry_of', 'run', 'site', 'sources', 'started', 'thread')

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
    holding: bool
    retry_of: int
    broken_off: bool

    def replaced(self, inputs: Sequence[Any], outputs: Sequence[Any], output: Any, error: Any,
                 lost: dict[str, int] | None) -> QueuedCall:
        """The same call with other values."""
        made = QueuedCall()
        for name in QueuedCall.__slots__:
            setattr(made, name, getattr(self, name))
        made.inputs, made.outputs, made.output, made.error, made.lost = inputs, outputs, output, error, lost
        return made


def queued_call(call: Call, inputs: Sequence[Any], outputs: Sequence[Any], finished: int, forward: int,
                holding: bool) -> QueuedCall:
    """A call that printed nothing and raised nothing; a function, for the reason of `hooks.call.new_call`."""
    made = QueuedCall()
    made.id = call.id
    made.run = call.run.id
    made.site = call.site.id
    made.ordinal = call.ordinal
    made.thread = call.thread
    made.started = call.started
    made.finished = finished
    made.forward = forward
    made.parent = call.parent
    made.inputs = inputs
    made.outputs = outputs
    made.output = made.error = made.lost = None
    made.sources = tuple(call.sources)
    made.holding = holding
    made.retry_of = call.retry_of
    made.broken_off = False
    return made


def fields_of(calls: Sequence[QueuedCall]) -> list[tuple[Any, ...]]:
    """Fields of each call: the numbers in the order of `call_batch.COLUMNS`, then inputs, outputs, output, error, lost and
    sources."""
    return [(call.id, call.run, call.site, call.ordinal, call.thread, call.started, call.finished, call.forward, call.parent,
             call.inputs, call.outputs, call.output, call.error, call.lost, call.sources) for call in calls]
