"""Rows of a record of calls as a record of their own, for copies of traces.

On the thread that copies. The record may be hostile: it is decoded and checked as any other.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.observers.record.dtypes import STRING, dtype_name
from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.batch_tensors import TYPES
from pyfuncdbg.observers.record.log.call_batch import Batch, decode_msgpack

HIDDEN = 'value removed'
"""Note of a tensor whose value a copy does not have."""
_SUMMARIZED = 13
"""Fields of a record from which on it has flags and sizes of its calls."""


def _same(item: Any) -> Any:
    return item


@dataclass(frozen=True, slots=True)
class RowContent:
    """Replacement of what the calls of a copy hold.

    Attributes:
        tensor: Of a description.
        output: Of what a call printed; None for nothing.
        error: Of what it raised.
        hides_scalars: Scalars become descriptions without a value.
    """

    tensor: Callable[[list[Any]], list[Any]] = _same
    output: Callable[[Any], Any] = _same
    error: Callable[[Any], Any] = _same
    hides_scalars: bool = False


def take_rows(payload: bytes, keep: np.ndarray, content: RowContent) -> bytes:
    """Copy some calls of a record.

    Args:
        payload: Of the record.
        keep: Whether to take each call; some are.
        content: What becomes of their values.

    Returns:
        The payload of a record of these.

    Raises:
        ValueError: It is no record of calls.
    """
    batch = Batch(payload)
    rows = np.flatnonzero(keep)
    flags, sizes = _flags_and_sizes(payload, batch)
    layout, values = batch.layout, np.repeat(keep, batch.layout.bounds[1:] - batch.layout.bounds[:-1])
    codes, described = layout.codes[values], batch.descriptions()
    general = [content.tensor(described[rank]) for rank in np.flatnonzero(values[layout.codes == 0]).tolist()]
    packed = {code: numbers[values[layout.codes == code]] for code, numbers in layout.packed.items()}
    if content.hides_scalars:
        ranks = iter(general)
        general = [next(ranks) if code == 0 else _hidden_scalar(code) for code in codes.tolist()]
        codes, packed = np.zeros(len(codes), np.uint8), {}
    place = {int(row): at for at, row in enumerate(rows)}
    inputs, outputs = layout.inputs[rows], (layout.bounds[1:] - layout.bounds[:-1] - layout.inputs)[rows]
    sparse = [_moved(items, place, change) for items, change in (
        (batch.output, content.output), (batch.error, content.error), (batch.lost, _same), (batch.sources, _same))]
    retries = _moved(batch.retries, place, _same)
    states = [columns.pack(column[rows]) for column in batch.states]
    body: bytes = msgpack.packb(
        [len(rows), [columns.pack(column[rows]) for column in batch.columns], flags[rows].tobytes(),
         columns.pack(sizes[rows]),
         inputs.astype('<u2').tobytes(), outputs.astype('<u2').tobytes(), codes.tobytes(),
         [[code, numbers.tobytes()] for code, numbers in packed.items() if len(numbers)], general, *sparse,
         *([retries] if retries or states else []), *([states] if states else [])], unicode_errors='surrogatepass')
    return body


def tensor_keys(payload: bytes, keep: np.ndarray, *, text: bool = True) -> set[bytes]:
    """The keys of the blobs that some calls of a record name.

    Args:
        payload: Of the record.
        keep: Whether to look at each call.
        text: Also those of text.

    Returns:
        The keys; of what is no key but as long, too.

    Raises:
        ValueError: It is no record of calls.
    """
    batch = Batch(payload)
    values = np.repeat(keep, batch.layout.bounds[1:] - batch.layout.bounds[:-1])
    described = batch.descriptions()
    # The second are of exceptions: those of their variables are somewhere within.
    waiting = [*[described[rank] for rank in np.flatnonzero(values[batch.layout.codes == 0]).tolist()],
               *[error for row, error in batch.error.items() if keep[row]]]
    keys = set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, bytes):
            keys.add(item)
        elif isinstance(item, list):
            waiting += item if text or item[:1] != [STRING] else ()
        elif isinstance(item, dict):
            waiting += item.values()
    return keys


def state_numbers(payload: bytes, keep: np.ndarray) -> set[int]:
    """The numbers of the states that some calls of a record began in.

    Args:
        payload: Of the record.
        keep: Whether to look at each call.

    Returns:
        The numbers, and 0 where one was not kept.

    Raises:
        ValueError: It is no record of calls.
    """
    return {number for column in Batch(payload).states for number in column[keep].tolist()}


def _flags_and_sizes(payload: bytes, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    fields = decode_msgpack(payload)
    if len(fields) >= _SUMMARIZED:
        flags, sizes = fields[2:4]
    else:
        summary = batch.summary(lambda entry: isinstance(entry, list) and len(entry) > 8 and entry[8] is True)
        flags, sizes = summary.flags, summary.sizes
    if not isinstance(flags, bytes) or len(flags) != batch.count:
        raise ValueError('flags of the wrong size')
    return np.frombuffer(flags, np.uint8), columns.unpack([columns.check(sizes, batch.count)], [batch.count])


def _moved(items: dict[int, Any], place: dict[int, int], change: Callable[[Any], Any]) -> list[Any]:
    moved = [(place[row], change(item)) for row, item in items.items() if row in place]
    return [[at, item] for at, item in moved if item is not None]


def _hidden_scalar(code: int) -> list[Any]:
    dtype = TYPES[code - 1]
    return [dtype_name(dtype), [], dtype.itemsize, 0, None, False, HIDDEN, None, False]
