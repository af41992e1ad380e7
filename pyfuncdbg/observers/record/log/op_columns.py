"""Runs of ops as records of calls: the numbers and the values of hundreds of ops as columns.

`QueuedOps` is what `op_recorder` queues, on the thread of the ops; the writer encodes several together. Nothing here lives
for one op.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pyfuncdbg.hooks.op_batch import OpBatch, OpSequence
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN, LaterValue, UnknownValue
from pyfuncdbg.observers.record.log.call_encoder import pack_calls
from pyfuncdbg.observers.record.log.columns import MOST_ROWS
from pyfuncdbg.observers.record.log.record_values import RecordValues, ValueStore
from pyfuncdbg.observers.record.log.value_columns import MOST_VALUES
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshot
from pyfuncdbg.observers.record.snapshots.statistics import IN_ROWS


class QueuedOps:
    """Ops in the queue.

    Attributes:
        batch: The ops; its values are the arrays themselves, scalars, or snapshots.
        limit: Bytes up to which an array is kept whole; -1 where nothing is kept of any.
        charge: Bytes taken from the allowance.
    """

    __slots__ = ('batch', 'charge', 'limit')

    def __init__(self, batch: OpBatch, limit: int, charge: int) -> None:
        self.batch = batch
        self.limit = limit
        self.charge = charge

    def read_values(self) -> None:
        """Read the values that are to be read later; on the writer's thread, which may wait for them."""
        if self.batch.awaits:
            self.batch.values = [read_value(value, self.limit) if type(value) is LaterValue else value
                                 for value in self.batch.values]
            self.batch.awaits = False

    def losses(self) -> dict[str, int]:
        """Count what is lost with them.

        Returns:
            Counts by kind, as in `queue.Losses`.
        """
        values = self.batch.values
        return {'calls': len(self.batch), 'tensors': len(values), 'bytes': sum([getattr(v, 'nbytes', 8) for v in values])}


def read_value(value: LaterValue, limit: int) -> np.ndarray | Snapshot:
    """Read the elements of a value, which may have to be waited for.

    Args:
        value: Of a batch of ops.
        limit: Bytes up to which it is kept whole.

    Returns:
        The elements, or a snapshot where a column cannot hold them.
    """
    elements = value.elements()
    if isinstance(elements, UnknownValue):
        return Snapshot(elements.dtype, elements.shape, 0, f'{NOT_KNOWN}: {elements.reason}')
    if elements.dtype.char in IN_ROWS:
        return elements
    snapshot = Snapshot(elements.dtype, elements.shape, elements.nbytes)
    snapshot.data, snapshot.keep = np.ascontiguousarray(elements), elements.nbytes <= limit
    if not snapshot.keep and limit > 0:
        snapshot.note = f'more than {limit} bytes'
    return snapshot


class _SequenceColumns:
    """Columns of one sequence that are the same in each of its runs."""

    __slots__ = ('bounds', 'first_output', 'inputs', 'outputs', 'places', 'sites')

    def __init__(self, sequence: OpSequence) -> None:
        self.sites = np.array([site.id for site in sequence.sites], np.int64)
        self.inputs = np.array([len(places) for places in sequence.inputs], '<u2')
        self.outputs = np.array([len(places) for places in sequence.outputs], '<u2')
        self.places = np.array(list(itertools.chain.from_iterable(itertools.chain.from_iterable(
            zip(sequence.inputs, sequence.outputs, strict=True)))), np.int64)
        self.bounds = np.concatenate(([0], np.cumsum(self.inputs.astype(np.int64) + self.outputs)))


def columns_of(sequence: OpSequence) -> _SequenceColumns:
    """The columns of a sequence, made at its first use.

    Args:
        sequence: Of ops.

    Returns:
        The columns.
    """
    if sequence.encoded is None:
        sequence.encoded = _SequenceColumns(sequence)
    made: _SequenceColumns = sequence.encoded
    return made


def parts(queued: Sequence[QueuedOps]) -> list[list[QueuedOps]]:
    """Distribute ops among records.

    Args:
        queued: In the order of the queue; each has at most `MOST_ROWS` ops.

    Returns:
        For each record its ops.
    """
    records: list[list[QueuedOps]] = []
    rows = values = 0
    for ops in queued:
        rows, values = rows + len(ops.batch), values + len(ops.batch.values)
        if not records or rows > MOST_ROWS or values > MOST_VALUES:
            rows, values = len(ops.batch), len(ops.batch.values)
            records.append([])
        records[-1].append(ops)
    return records


def encode(queued: Sequence[QueuedOps], store: ValueStore) -> bytes:
    """Encode ops as one record of calls.

    Args:
        queued: At most `MOST_ROWS` ops together.
        store: Takes the bytes that are kept.

    Returns:
        The payload of the record.
    """
    for ops in queued:
        ops.read_values()
    batches = [ops.batch for ops in queued]
    made = [columns_of(batch.sequence) for batch in batches]
    counts = [len(batch) for batch in batches]
    tensors = [int(one.bounds[count]) for one, count in zip(made, counts, strict=True)]
    starts = np.cumsum([0, *(len(batch.values) for batch in batches)])[:-1]
    places = np.concatenate([one.places[:end] + start
                             for one, end, start in zip(made, tensors, starts.tolist(), strict=True)])
    ins = np.concatenate([one.inputs[:count] for one, count in zip(made, counts, strict=True)])
    outs = np.concatenate([one.outputs[:count] for one, count in zip(made, counts, strict=True)])
    values = RecordValues(store)
    for ops in queued:
        values.put_arrays(ops.batch.values, ops.limit)

    def repeated(numbers: Sequence[int]) -> np.ndarray:
        return np.repeat(np.array(numbers, np.int64), counts)
    times = [np.array(batch.times, np.int64) for batch in batches]
    numbers = [repeated([batch.first for batch in batches]) + np.concatenate([np.arange(count) for count in counts]),
               repeated([batch.run.id for batch in batches]),
               np.concatenate([one.sites[:count] for one, count in zip(made, counts, strict=True)]),
               list(itertools.chain.from_iterable([batch.ordinals for batch in batches])),
               repeated([batch.thread for batch in batches]), np.concatenate([one[:-1] for one in times]),
               np.concatenate([one[1:] for one in times]), np.zeros(sum(counts), np.int64),
               repeated([batch.parent for batch in batches])]
    return pack_calls(numbers, ins, outs, values, places)
