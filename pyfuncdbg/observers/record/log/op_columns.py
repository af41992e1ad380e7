# cython: annotation_typing=False, auto_pickle=False
"""Runs of ops as records of calls: the numbers and the values of hundreds of ops as columns.

`QueuedOps` is what `op_recorder` queues, on the thread of the ops; the writer encodes several together. Nothing here lives
for one op.
"""
from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

import msgpack
import numpy as np

from pyfuncdbg.hooks.op_batch import OpBatch, OpSequence
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN, LaterValue, UnknownValue
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.batch_tensors import TYPES
from pyfuncdbg.observers.record.log.call_batch import BAD, COLUMNED
from pyfuncdbg.observers.record.log.columns import MOST_ROWS
from pyfuncdbg.observers.record.log.value_columns import MOST_VALUES, NOTHING, ValueList
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, SCALARS, Snapshot
from pyfuncdbg.observers.record.snapshots.statistics import IN_ROWS, ROW, have_bad, rows_of

_CODES = {kind: number for number, kind in enumerate(SCALARS, 1)}
_LARGE = 64 << 10
"""Bytes from which on a value that is kept has its statistics beside it, as in `blob_store`."""


class LargeRows:
    """Statistics of large arrays in the queue.

    What one batch has made is an input of the next, in a record of its own.
    """

    __slots__ = ('_rows',)

    def __init__(self) -> None:
        self._rows: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    def find(self, array: np.ndarray) -> np.ndarray | None:
        """Find the row of an array.

        Args:
            array: In the queue.

        Returns:
            The row; None if it is not known.
        """
        entry = self._rows.get(id(array))
        return entry[1] if entry is not None and entry[0]() is array else None

    def keep(self, array: np.ndarray, row: np.ndarray) -> None:
        """Keep the row of an array until it is freed, or nothing in the queue has it.

        Args:
            array: In the queue.
            row: Its statistics.
        """
        key = id(array)
        self._rows[key] = weakref.ref(array, lambda _: self._rows.pop(key, None)), row.copy()

    def forget(self, values: list[Any]) -> None:
        """Forget those of arrays that nothing but this list refers to: the host will write into them.

        Args:
            values: Of a batch that leaves the queue.
        """
        for value in values if self._rows else ():
            if type(value) is np.ndarray and sys.getrefcount(value) <= _SOLE:
                self._rows.pop(id(value), None)


large_rows = LargeRows()


def _references(values: list[Any]) -> int:
    for value in values:
        return sys.getrefcount(value)
    return 0


_SOLE = _references([object()])
"""What `sys.getrefcount` gives for an element that only its list and the loop over it refer to; less where compiled."""


class QueuedOps:
    """Ops in the queue.

    Attributes:
        batch: The ops; its values are the arrays themselves, scalars, or snapshots.
        limit: Bytes up to which an array is kept whole; -1 where nothing is kept of any.
        charge: Bytes taken from the allowance.
        note: Why nothing is kept of the arrays, else ''.
    """

    __slots__ = ('batch', 'charge', 'limit', 'note')

    def __init__(self, batch: OpBatch, limit: int, charge: int) -> None:
        self.batch = batch
        self.limit = limit
        self.charge = charge
        self.note = ''

    def read_values(self) -> None:
        """Read the values that are to be read later; on the writer's thread, which may wait for them."""
        if self.batch.awaits:
            self.batch.values = [_read(value, self.limit) if type(value) is LaterValue else value
                                 for value in self.batch.values]
            self.batch.awaits = False

    def losses(self) -> dict[str, int]:
        """Count what is lost with them.

        Returns:
            Counts by kind, as in `queue.Losses`.
        """
        values = self.batch.values
        return {'calls': len(self.batch), 'tensors': len(values), 'bytes': sum([getattr(v, 'nbytes', 8) for v in values])}


def _read(value: LaterValue, limit: int) -> np.ndarray | Snapshot:
    """The elements of a value, or a snapshot where a column cannot hold them."""
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


class ValueStore(Protocol):
    """Store of the bytes of tensors: `blob_store.BlobStore`."""

    def describe(self, snapshot: Any) -> list[Any]:
        """Describe a snapshot and store its bytes where they are kept.

        Args:
            snapshot: Of a value.

        Returns:
            As `BlobStore.describe`.
        """

    def place_array(self, array: np.ndarray) -> Any:
        """Store the bytes of an array.

        Args:
            array: Of numbers.

        Returns:
            [The bytes] if they are few, the key of their blob, or None if there is no room for it.
        """

    def miss(self, nbytes: int) -> None:
        """Count a tensor that had no room.

        Args:
            nbytes: Of its elements.
        """


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
    values = _EncodedValues(queued, store)

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
    bounds = np.concatenate(([0], np.cumsum(ins.astype(np.int64) + outs)))
    codes, sizes = values.codes[places], np.concatenate(([0], np.cumsum(values.sizes[places])))
    bad = np.concatenate(([0], np.cumsum(values.bad[places])))
    flags = np.where(bad[bounds[1:]] > bad[bounds[:-1]], BAD, 0).astype(np.uint8)
    columned, described = codes == COLUMNED, codes == 0
    body: bytes = msgpack.packb(
        [sum(counts), [columns.pack(column) for column in numbers], flags.tobytes(),
         columns.pack(sizes[bounds[1:]] - sizes[bounds[:-1] + ins]), ins.tobytes(), outs.tobytes(), codes.tobytes(),
         values.scalars(codes, places), [values.descriptions[place] for place in values.ranks[places[described]].tolist()],
         [], [], [], [], *([[], [], [columns.pack(values.ranks[places[columned]]), values.list.encode()]]
                           if columned.any() else [])], unicode_errors='surrogatepass')
    return body


class _EncodedValues:
    """Encoded values of some batches, in their order.

    Attributes:
        codes, sizes, bad, ranks: Of each value.
        descriptions: Of those that are neither scalars nor columns.
        list: Those in columns.
    """

    def __init__(self, queued: Sequence[QueuedOps], store: ValueStore) -> None:
        self._scalars: dict[int, list[Any]] = {}
        self.descriptions: list[list[Any]] = []
        self.list = ValueList()
        codes: list[int] = []
        ranks: list[int] = []
        arrays: list[np.ndarray] = []
        limits: list[int] = []
        notes: list[str] = []
        ranks_by_limit: dict[int, dict[int, int]] = {}      # a constant is a value of every run
        for ops in queued:
            known = ranks_by_limit.setdefault(ops.limit, {})
            for value in ops.batch.values:
                if type(value) is np.ndarray:
                    codes.append(COLUMNED)
                    rank = known.setdefault(id(value), len(arrays))
                    ranks.append(rank)
                    if rank < len(arrays):
                        continue
                    arrays.append(value)
                    limits.append(ops.limit)
                    notes.append(ops.note)
                elif (code := _CODES.get(type(value), 0)):
                    codes.append(code)
                    ranks.append(len(same := self._scalars.setdefault(code, [])))
                    same.append(value)
                else:
                    codes.append(0)
                    ranks.append(len(self.descriptions))
                    self.descriptions.append(store.describe(value))
        self.codes, self.ranks = np.array(codes, np.uint8), np.array(ranks, np.int64)
        self._measure(arrays, _fill(self.list, arrays, limits, notes, store))

    def _measure(self, arrays: list[np.ndarray], bad: list[bool]) -> None:
        """Fill `sizes` and `bad`, given the arrays in columns and which of these have a NaN or infinity."""
        self.sizes, self.bad = np.zeros(len(self.codes), np.int64), np.zeros(len(self.codes), np.int64)
        here = self.codes == COLUMNED
        if arrays:
            self.bad[here] = np.array(bad)[self.ranks[here]]
            self.sizes[here] = np.array([array.nbytes for array in arrays])[self.ranks[here]]
        described = self.codes == 0
        self.bad[described] = [entry[8] is not False for entry in self.descriptions]
        self.sizes[described] = [entry[2] for entry in self.descriptions]
        for code, same in self._scalars.items():
            numbers, here = np.array(same, TYPES[code - 1]), self.codes == code
            self.sizes[here] = numbers.itemsize
            if numbers.dtype.kind in 'fc':
                self.bad[here] = ~np.isfinite(numbers)

    def scalars(self, codes: np.ndarray, places: np.ndarray) -> list[Any]:
        """The scalars of all tensors, by code."""
        return [[code, np.array(same, TYPES[code - 1])[self.ranks[places[codes == code]]].tobytes()]
                for code, same in sorted(self._scalars.items())]


def _rows_of(arrays: list[np.ndarray]) -> np.ndarray:
    """As `rows_of`; large arrays that are still in the queue are summarised once."""
    if max([array.nbytes for array in arrays], default=0) <= _LARGE:
        return rows_of(arrays)
    found = [large_rows.find(array) if array.nbytes > _LARGE else None for array in arrays]
    fresh = [place for place, row in enumerate(found) if row is None]
    rows = np.zeros(len(arrays), ROW)
    if fresh:
        rows[fresh] = rows_of([arrays[place] for place in fresh])
    for place, row in enumerate(found):
        if row is not None:
            rows[place] = row
        elif arrays[place].nbytes > _LARGE:
            large_rows.keep(arrays[place], rows[place])
    return rows


def _fill(into: ValueList, arrays: list[np.ndarray], limits: list[int], notes: list[str], store: ValueStore) -> list[bool]:
    """Put arrays into columns, and the bytes of those that are kept into a store; whether each has a NaN or infinity."""
    tested: list[int] = []
    summarized: list[int] = []
    dtype, name, shape = None, '', ()
    for place in range(len(arrays)):
        array, limit, note = arrays[place], limits[place], notes[place]
        nbytes, where = array.nbytes, None
        if array.dtype is not dtype:            # most are as the one before
            dtype = array.dtype
            name = dtype_name(dtype)
        if array.shape != shape:
            shape = array.shape
        into.dtypes.append(name)
        into.shapes.append(shape)
        if limit >= nbytes:
            where = store.place_array(array)
            note = '' if where is not None else OVER_BUDGET
        if note:
            store.miss(nbytes)
        elif 0 < limit < nbytes:
            note = f'more than {limit} bytes'
        if note:
            into.notes[place] = note
        into.places.append(where if where is not None else NOTHING)
        into.levels.append(2 if where is not None else 0 if note == OVER_BUDGET or limit < 0 else 1)
        if limit >= 0:                          # of what goes over budget only a NaN or infinity is worth statistics
            (summarized if into.levels[place] == 1 or (where is not None and nbytes > _LARGE) else tested).append(place)
    bad = [False] * len(arrays)
    for place, is_bad in zip(tested, have_bad([arrays[place] for place in tested]), strict=True):
        bad[place] = is_bad
        if is_bad and into.levels[place] == 0:
            into.levels[place] = 1
            summarized.append(place)
    rows = _rows_of([arrays[place] for place in summarized])
    for place, count in zip(summarized, (rows['nan'] + rows['neg_inf'] + rows['pos_inf']).tolist(), strict=True):
        bad[place] = count > 0
    into.take_statistics(summarized, rows)
    return bad
