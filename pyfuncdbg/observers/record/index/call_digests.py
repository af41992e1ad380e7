"""Digests of calls: two calls with equal digests have equal tensors and errors, whatever the trace.

A comparison of a million calls looks at these columns first and decodes the calls that differ only. Digests hold within one
process: they are salted, as Python's hashes of text are. Made by readers, under the lock of their trace.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.log.batch_tensors import TYPES, BatchTensors
from pyfuncdbg.observers.record.log.call_batch import Batch
from pyfuncdbg.observers.record.records import ABSENT

_MASK = (1 << 64) - 1
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)
_SALT = np.uint64(hash('digest of a call') & _MASK)
_INLINE = 64
"""Bytes up to which values are never in a blob of their own."""
_OUTPUT_PLACE = 1 << 20
"""Places of outputs: beyond those of all inputs."""
_NAMES = [dtype_name(dtype) for dtype in TYPES]
_CODES = {name: 1 + _NAMES.index(name) for name in _NAMES}
_PRINTS, _WARNINGS = ('out', 'err', 'log'), ('warning', 'fp')


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of calls, by column.

    Attributes:
        inputs: Of dtypes, shapes and values (statistics where these were not kept).
        content: The same of inputs and outputs, and of the error.
        output: Of what was printed, logged and warned; 0 for nothing.
        valueless: How many tensors have no value.
    """

    inputs: np.ndarray
    content: np.ndarray
    output: np.ndarray
    valueless: np.ndarray


def no_digests(count: int) -> Digests:
    """Room for the digests of calls.

    Args:
        count: How many calls.

    Returns:
        Zeros.
    """
    inputs, content, output = (np.zeros(count, np.uint64) for _ in range(3))
    return Digests(inputs, content, output, np.zeros(count, np.uint32))


def damage_digests(count: int, why: str) -> Digests:
    """Digests of the calls of a record that cannot be decoded.

    Args:
        count: How many calls there are.
        why: What is wrong with it.

    Returns:
        Equal ones for equal damage.
    """
    digests = no_digests(count)
    digests.content[:] = hash(why) & _MASK
    return digests


def batch_digests(batch: Batch) -> Digests:
    """Digest the calls of a batch.

    Args:
        batch: Decoded.

    Returns:
        A row for each of its calls.

    Raises:
        ValueError: A description cannot be read.
    """
    layout, descriptions = batch.layout, batch.descriptions()
    sums = np.concatenate(([np.uint64(0)], np.cumsum(_tensor_digests(layout, descriptions))))
    content = sums[layout.bounds[1:]] - sums[layout.bounds[:-1]]
    inputs = sums[layout.bounds[:-1] + layout.inputs] - sums[layout.bounds[:-1]]
    for row, error in batch.error.items():
        content[row] ^= np.uint64(hash(repr(error[:2]) if isinstance(error, list) else repr(error)) & _MASK)
    output = np.zeros(batch.count, np.uint64)
    for row, items in batch.output.items():
        output[row] = hash(_texts(items)) & _MASK
    marks = np.zeros(len(layout.codes) + 1, np.int64)
    marks[1:][layout.codes == 0] = [_is_valueless(entry) for entry in descriptions]
    counts = np.cumsum(marks)
    return Digests(inputs, content, output, (counts[layout.bounds[1:]] - counts[layout.bounds[:-1]]).astype(np.uint32))


def _tensor_digests(layout: BatchTensors, descriptions: list[Any]) -> np.ndarray:
    """A digest of each tensor with its place in its call."""
    digests = np.zeros(len(layout.codes), np.uint64)
    for code, scalars in layout.packed.items():
        digests[layout.codes == code] = _scalar_digests(code, scalars)
    digests[layout.codes == 0] = _description_digests(descriptions)
    counts = np.diff(layout.bounds)
    places = np.arange(len(digests)) - np.repeat(layout.bounds[:-1], counts)
    inputs = np.repeat(layout.inputs, counts)
    places = np.where(places < inputs, places, places - inputs + _OUTPUT_PLACE).astype(np.uint64)
    return _mixed(digests + _mixed(places))


def _scalar_digests(code: int, scalars: np.ndarray) -> np.ndarray:
    """Digests of scalars of one type."""
    size = scalars.dtype.itemsize
    words = np.ascontiguousarray(scalars).view(f'<u{min(size, 8)}').reshape(len(scalars), -1).astype(np.uint64)
    codes = np.full(len(scalars), _CODES[_NAMES[code - 1]], np.uint64)
    return _word_digests(codes, words[:, 0], words[:, 1] if size > 8 else np.zeros(len(scalars), np.uint64))


def _word_digests(codes: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Digests of scalars by their codes and bits."""
    return np.asarray(_mixed(low + codes * _ODD) + _mixed(high))


def _mixed(words: np.ndarray) -> np.ndarray:
    """Spread each bit over all of them (splitmix64); sums of the results do not cancel out."""
    words = (words + _SALT) * _ODD
    for shift, factor in _MIX:
        words = (words ^ (words >> shift)) * factor
    return np.asarray(words ^ (words >> _LAST))


def _description_digests(descriptions: list[Any]) -> np.ndarray:
    """Digests of descriptions, which are not checked; of one number kept whole that of the scalar."""
    digests = np.zeros(len(descriptions), np.uint64)
    scalars: list[tuple[int, int, int, int]] = []
    for number, entry in enumerate(descriptions):
        try:
            dtype, shape, _, _, payload, _, _, stats = entry[:8]
            if payload is None:
                digests[number] = hash((dtype, tuple(shape), repr(stats))) & _MASK
                continue
            data = payload if isinstance(payload, bytes) else payload[0]
            code = _CODES.get(dtype, 0) if data is not payload and not shape else 0
            if code and len(data) == TYPES[code - 1].itemsize:
                scalars.append((number, code, int.from_bytes(data[:8], 'little'), int.from_bytes(data[8:], 'little')))
            else:                               # bytes seen for the first time are in the record, then in a blob
                key = digest(data) if data is not payload and len(data) > _INLINE else data
                digests[number] = hash((dtype, tuple(shape), key)) & _MASK
        except (TypeError, ValueError, IndexError):
            digests[number] = hash(repr(entry)) & _MASK
    if scalars:
        numbers, codes, low, high = np.array(scalars, np.uint64).T
        digests[numbers.astype(np.int64)] = _word_digests(codes, low, high)
    return digests


def _is_valueless(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) >= 8 and entry[4] is None and not (entry[3] == 0 and entry[6] == ABSENT)


def _texts(items: Any) -> tuple[str, str]:
    """What is printed and logged, and the warnings: however many pieces it came in."""
    entries = [item for item in items if isinstance(item, list) and len(item) > 1] if isinstance(items, list) else []
    prints, warnings = (''.join(str(item[1]) for item in entries if item[0] in kinds) for kinds in (_PRINTS, _WARNINGS))
    return prints, warnings
