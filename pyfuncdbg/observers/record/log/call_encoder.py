"""Encoder of many calls as one record, by column, on the writer thread; `call_batch` reads it.

Encoding a call by itself costs more than making it; a batch of columns costs a tenth of that.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.batch_tensors import COLUMNED
from pyfuncdbg.observers.record.log.call_batch import BAD, CHANGED, FAILED, PRINTED, RETRY
from pyfuncdbg.observers.record.log.queued_call import QueuedCall, numbers_of, rare_fields_of
from pyfuncdbg.observers.record.log.record_values import RecordValues, ValueStore
from pyfuncdbg.observers.record.snapshots.call_state import NO_STATE

_EACH = slice(None)
"""Places of tensors that have a value each."""


def encode(calls: Sequence[QueuedCall], store: ValueStore) -> bytes:
    """Encode calls as one record.

    Args:
        calls: At most `MOST_ROWS`; their output, errors and losses are plain data or None.
        store: Takes the bytes that are kept.

    Returns:
        The payload of the record.
    """
    values = RecordValues(store)
    for call in calls:
        values.put_copies(call.inputs)
        values.put_copies(call.outputs)
    ins, outs = (np.fromiter(map(len, side), '<u2', len(calls)) for side in (
        [call.inputs for call in calls], [call.outputs for call in calls]))
    states = [call.state for call in calls]
    return pack_calls(numbers_of(calls), ins, outs, values, _EACH, rare_fields_of(calls),
                      list(zip(*states, strict=True)) if set(states) != {NO_STATE} else ())


def pack_calls(numbers: Sequence[Sequence[int] | np.ndarray], ins: np.ndarray, outs: np.ndarray, values: RecordValues,
               places: np.ndarray | slice, rare: Sequence[list[list[Any]]] = ([], [], [], [], []),
               states: Iterable[Sequence[int]] = ()) -> bytes:
    """Pack the record of some calls.

    Args:
        numbers: A column for each of `call_batch.COLUMNS`.
        ins, outs: For each call how many inputs and outputs it has.
        values: What they are.
        places: Of each input and output its place among the values, in the order of the calls.
        rare: As `rare_fields_of` gives it.
        states: Columns of the states that they began in.

    Returns:
        The payload.
    """
    values.finish()
    codes, ranks, sizes = values.codes[places], values.ranks[places], _sums(values.sizes[places])
    bounds = _sums(ins.astype(np.int64) + outs)
    columned = ranks[codes == COLUMNED]
    *sparse, retries = rare
    packed_states = [columns.pack(column) for column in states]
    body: bytes = msgpack.packb(
        [len(ins), [columns.pack(column) for column in numbers], _flags(values, places, bounds, rare),
         columns.pack(sizes[bounds[1:]] - sizes[bounds[:-1] + ins]), ins.tobytes(), outs.tobytes(), codes.tobytes(),
         values.scalars(codes, ranks), values.descriptions(ranks[codes == 0].tolist()), *sparse,
         *([retries] if retries or packed_states or len(columned) else []),
         *([packed_states] if packed_states or len(columned) else []),
         *([[columns.pack(columned), values.columns()]] if len(columned) else [])], unicode_errors='surrogatepass')
    return body


def _flags(values: RecordValues, places: np.ndarray | slice, bounds: np.ndarray, rare: Sequence[list[list[Any]]]) -> bytes:
    output, errors, _, _, retries = rare
    flags = np.zeros(len(bounds) - 1, np.uint8)
    for bit, marks in ((BAD, values.bad), (CHANGED, values.changed)):
        if marks.any():
            sums = _sums(marks[places])
            flags[sums[bounds[1:]] > sums[bounds[:-1]]] |= bit
    for bit, rows in ((FAILED, errors), (PRINTED, output), (RETRY, [each for each in retries if each[1][0]])):
        flags[[row for row, _ in rows]] |= bit
    return flags.tobytes()


def _sums(numbers: np.ndarray) -> np.ndarray:
    """The sum of the first so many numbers, from none on."""
    sums = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers, out=sums[1:])
    return sums
