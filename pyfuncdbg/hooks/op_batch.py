"""Ops that ran in a row, recorded together: what a host hands over where a recorder alone watches ops.

Without a `Call` for each op, a host has three things to do:

1. It asks `hooks.op_recorder`. Where that is None, another hook wants each op as a call: `chain.invoke`.
2. It keeps one `OpSequence` for each order of ops that it runs again and again, and makes an `OpBatch` of it for each run.
   While the ops run it appends their outputs to `values`, and `perf_counter_ns()` to `times`: once before the first op, and
   once after each.
3. `deliver` numbers the calls and gives the batch to the recorder, before other code runs that makes calls or may write to
   one of the values: so the numbers of calls are in the order in which they began.

Where an op raises, the batch has the values and times of those before it; the host makes the call of the failed op by
`chain.invoke`. Everything here runs on the thread of the ops.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, Protocol

from pyfuncdbg.hooks.call import CallSite, Run, current, take_ids
from pyfuncdbg.hooks.hook_failure import report_failure
from pyfuncdbg.hooks.installed_hooks import hooks
from pyfuncdbg.hooks.native_thread import native_thread

MOST_OPS = 512
"""Ops of one sequence; a longer order of ops is several of them."""


class OpSequence:
    """A fixed order of ops, as a host runs them: what is the same in every run of it.

    Attributes:
        sites: Of the ops, in the order of their execution.
        inputs, outputs: For each op the places of its inputs and outputs in `OpBatch.values`. Outputs have places in the
            order of the ops, behind those of the values that were there before.
        copied: Places of values that something else may write to after the batch was delivered: what the program has fed,
            what it or a variable gets. The recorder copies these at once; all others it keeps.
        encoded, announced: Of the recorder: columns that it has made of this, and a mark that the log knows the sites.
    """

    __slots__ = ('announced', 'copied', 'encoded', 'inputs', 'outputs', 'sites')

    def __init__(self, sites: Sequence[CallSite], inputs: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]],
                 copied: Sequence[int] = ()) -> None:
        """Make one.

        Args:
            sites, inputs, outputs, copied: As the attributes.

        Raises:
            ValueError: There are too many ops.
        """
        if len(sites) > MOST_OPS:
            raise ValueError(f'a sequence of {len(sites)} ops; expected {MOST_OPS} at most: make several')
        self.sites = tuple(sites)
        self.inputs = tuple(map(tuple, inputs))
        self.outputs = tuple(map(tuple, outputs))
        self.copied = tuple(copied)
        self.encoded: Any = None
        self.announced: Any = None


class OpBatch:
    """One execution of a sequence, or of its beginning.

    Attributes:
        sequence: The ops.
        run: That they are part of.
        values: The host's own values: those that were there before, then the outputs.
        times: `perf_counter_ns()` before the first op, and after each.
        awaits: Whether some of the values are `LaterValue`s, which the recorder reads.
        owns_values: Whether nothing else refers to the memory of the arrays among the values: none is copied.
        continues: Whether the next batch of the run follows with no code of the program, and no write to a value, between.
        recycle: Takes `values` back when the recorder needs them no more, on its thread; None if the host wants none.
        first: Id of the first call; the others follow.
        ordinals: Of the calls, as in `Call`.
        thread: Native thread id; the host sets it where the ops ran on another than the one that delivers, in no call.
        parent: Id of the enclosing call, else 0.
    """

    __slots__ = ('awaits', 'continues', 'first', 'ordinals', 'owns_values', 'parent', 'recycle', 'run', 'sequence', 'thread',
                 'times', 'values')

    def __init__(self, sequence: OpSequence, run: Run, values: list[Any] | None = None,
                 recycle: Callable[[list[Any]], None] | None = None) -> None:
        self.sequence = sequence
        self.run = run
        self.values = values if values is not None else []
        self.recycle = recycle
        self.continues = self.awaits = self.owns_values = False
        self.times = [perf_counter_ns()]
        self.first = self.thread = self.parent = 0
        self.ordinals: list[int] = []

    def __len__(self) -> int:
        """The number of ops that have run."""
        return len(self.times) - 1


class OpBatchHook(Protocol):
    """Hook on ops that takes them in batches: it needs no call of its own for any of them."""

    def on_ops(self, batch: OpBatch) -> None:
        """Record ops that have run; the batch and all that is in it are the recorder's from now on."""


def deliver(recorder: OpBatchHook | None, batch: OpBatch) -> None:
    """Number the calls of a batch and give it to the recorder. A mistake of that switches it off.

    Args:
        recorder: `hooks.op_recorder` when the batch began; None where it had gone just then.
        batch: With at least one op that has run, else nothing happens.
    """
    count, outer_call = len(batch), current.get()
    if recorder is None or not count or batch.first:    # a signal handler of the program may have broken off a delivery
        return
    if outer_call is not None and not outer_call.id:    # a re-execution for inspection
        return
    batch.first = take_ids(count)
    batch.ordinals = [next(site.counter) for site in batch.sequence.sites[:count]]
    if not batch.thread:
        batch.thread = native_thread()
        batch.parent = outer_call.id if outer_call is not None else 0
    try:
        recorder.on_ops(batch)
    except Exception as error:                  # a mistake of the hook: the program goes on without it
        if hooks.remove_failed(recorder):  # type: ignore[arg-type]
            report_failure(f'{type(recorder).__name__} failed at op calls from #{batch.first} on and is switched off', error)
