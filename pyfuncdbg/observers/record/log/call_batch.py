"""Many calls as one record, by column: how calls are found again.

Encoded by `call_encoder`, on the writer thread; decoded by readers, who check everything, for a log may be hostile.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.batch_tensors import COLUMNED, TYPES, BatchTensors
from pyfuncdbg.observers.record.log.columns import MOST_ROWS, Packed
from pyfuncdbg.observers.record.log.value_columns import ValueColumns
from pyfuncdbg.observers.record.snapshots.call_state import NO_STATE, StateNumbers

FAILED, BAD, PRINTED, RETRY, CHANGED = 1, 2, 4, 8, 16
"""Bits of the column `flags`, part of the trace format. `CHANGED` is that of a call during which an input changed."""


COLUMNS = ('id', 'run', 'site', 'ordinal', 'thread', 'started', 'finished', 'forward', 'parent')
"""The numbers of a call, in the order of a record. `finished` is 0 for a call that has not returned."""

MOST_TENSORS = 4096
"""Tensors on one side of a call; more are not recorded."""

_FIELDS, _FIELDS_2 = 13, 11
"""Of a record of calls without optional fields, and in version 2 of the format, which had no flags and sizes. At the end one
more where calls were retried (`retry_of` and `broken_off`), a second where the states that they began in were kept: their
numbers, three columns (none in a record that has the third); and a third where values are columns: for each tensor of the
code `COLUMNED` the number of its value, and the values."""
_OPTIONAL = 3

_LIMITS: dict[str, Any] = {'unicode_errors': 'surrogatepass', 'max_array_len': 1 << 17, 'max_map_len': 1 << 12,
                           'max_ext_len': 0, 'strict_map_key': True}
_WRONG = (msgpack.UnpackException, TypeError, OverflowError, RecursionError, MemoryError)

IsBad = Callable[[Any], bool]
"""Whether a description is of a tensor with a NaN or infinity."""


def _flags(count: int, bad: Iterable[int], failed: Iterable[int], printed: Iterable[int]) -> bytes:
    flags = bytearray(count)
    for bit, rows in ((BAD, bad), (FAILED, failed), (PRINTED, printed)):
        for row in rows:
            flags[row] |= bit
    return bytes(flags)


def _resolve_shared(descriptions: list[Any]) -> list[Any]:
    """Descriptions with those that calls share in each of their places."""
    return [descriptions[entry] if type(entry) is int and 0 <= entry < i else entry for i, entry in enumerate(descriptions)]


class Batch:
    """A decoded record of calls. Everything in it has been checked.

    Args:
        payload: Of the record.

    Attributes:
        count: Number of calls.
        columns: One int64 array for each of `COLUMNS`.
        layout: Whose its tensors are, and the scalars among them.
        output, error, lost, sources, retries: What some calls printed, raised, could not keep, continue, and how they were
            retried, by row.
        states: The numbers of the states that they began in, one column for each kind; none where they were not kept.
    """

    __slots__ = ('_edges', '_head', '_payload', '_places', '_ranks', '_values', 'columns', 'count', 'error', 'layout',
                 'lost', 'output', 'retries', 'sources', 'states')

    def __init__(self, payload: bytes) -> None:
        """Decode and check.

        Raises:
            ValueError: It is no batch (msgpack's own exceptions are ValueErrors too).
        """
        # Tensor descriptions stay packed until one is asked for: they are nine tenths of the work, and a thousand lists a
        # batch would keep the garbage collector busy for as long as the batch is remembered.
        before, self._head, self._edges, after = _split_payload(payload)
        self._payload = payload
        numbers, ins, outs, codes, packed = before[1], *before[-4:]
        output, error, lost, sources, *optional = after
        self.count = count = _check_count(before[0])
        self.columns = [columns.unpack([column], [count]) for column in _check_columns(numbers, count)]
        inputs, outputs = (_array(side, np.dtype('<u2'), count).astype(np.int64) for side in (ins, outs))
        codes = _array(codes, np.dtype(np.uint8), int((inputs + outputs).sum()))
        self._values: ValueColumns | None = None
        self._places: list[int] = []
        described = int((codes == 0).sum())
        if len(optional) > 2:
            codes = self._take_columns(optional[2], codes)
        self._ranks = np.zeros(len(codes), np.int64)
        counts = np.bincount(codes, minlength=len(TYPES) + 1)
        if len(counts) > len(TYPES) + 1:
            raise ValueError('unknown scalar type')
        for code in np.flatnonzero(counts):
            self._ranks[codes == code] = np.arange(counts[code])
        scalars = _by_row(packed, len(TYPES) + 1)
        self.layout = BatchTensors(inputs, outputs, codes, {
            int(code): _array(scalars.get(int(code)), TYPES[code - 1], int(counts[code]))
            for code in np.flatnonzero(counts) if code})
        if len(self._edges) - 1 != described:
            raise ValueError('wrong number of tensors')
        self.output, self.error = _by_row(output, count), _by_row(error, count)
        self.lost, self.sources = _by_row(lost, count), _by_row(sources, count)
        self.retries = _by_row(optional[0], count) if optional else {}
        self.states = _check_states(optional[1], count) if len(optional) > 1 and (optional[1] or not self._places) else []

    def _take_columns(self, fields: Any, codes: np.ndarray) -> np.ndarray:
        """Decode the values in columns; returns the codes of all tensors, theirs as those of descriptions."""
        if not isinstance(fields, list) or len(fields) != 2:
            raise ValueError('wrong columns of values')
        columned, values = codes == COLUMNED, ValueColumns(fields[1])
        count = int(columned.sum())
        numbers = columns.unpack([columns.check(fields[0], count)], [count])
        if not count or not (numbers.min() >= 0 and numbers.max() < values.count):
            raise ValueError('wrong number of a value')
        places = np.cumsum(codes == 0) - 1              # of the description, or ~number of the value
        places[columned] = ~numbers
        self._values, self._places = values, places[(codes == 0) | columned].tolist()
        return np.where(columned, 0, codes).astype(np.uint8)

    def tensors(self, row: int) -> tuple[list[Any], list[Any]]:
        """Inputs and outputs of one call.

        Args:
            row: Of the call, from 0.

        Returns:
            Inputs, and outputs: NumPy scalars, and tensor descriptions that are not checked.

        Raises:
            ValueError: A description cannot be read.
        """
        tensors, shared = self.layout, dict[int, Any]()
        start, end = int(tensors.bounds[row]), int(tensors.bounds[row + 1])
        values = [tensors.packed[code][rank] if code else self._describe(rank, shared)
                  for code, rank in zip(tensors.codes[start:end].tolist(), self._ranks[start:end].tolist(), strict=True)]
        split = int(tensors.inputs[row])
        return values[:split], values[split:]

    def descriptions(self) -> list[Any]:
        """All tensors that are no scalars.

        Returns:
            Their descriptions, unchecked, in the order of the calls.

        Raises:
            ValueError: They cannot be read.
        """
        described = _resolve_shared(decode_msgpack(self._payload[self._head:self._edges[-1]]))
        if self._values is None:
            return described
        values = {place: self._values.description(~place) for place in set(self._places) if place < 0}
        return [values[place] if place < 0 else described[place] for place in self._places]

    def state(self, row: int) -> StateNumbers:
        """The numbers of the state that one call began in.

        Args:
            row: Of the call, from 0.

        Returns:
            `NO_STATE` if it was not kept.
        """
        if not self.states:
            return NO_STATE
        generators, values, surroundings = [int(column[row]) for column in self.states]
        return generators, values, surroundings

    def summary(self, is_bad: IsBad) -> BatchSummary:
        """Make the search keys of its calls: for records of version 2, which have none.

        Args:
            is_bad: Tests a description.

        Returns:
            The keys.

        Raises:
            ValueError: A description cannot be read.
        """
        descriptions = self.descriptions()
        bad = self.layout.rows_of_bad_scalars() | self.layout.rows_of_descriptions(
            [is_bad(entry) for entry in descriptions])
        return BatchSummary(self.count, [columns.pack(column) for column in self.columns],
                            _flags(self.count, bad, self.error, self.output),
                            columns.pack(self.layout.output_sizes(descriptions)))

    def _describe(self, rank: int, shared: dict[int, Any]) -> Any:
        """One description; that of an earlier tensor if this one shares it, decoded once for all of a call that do."""
        if self._values is not None:
            rank = self._places[rank]
            if rank < 0:
                return self._values.description(~rank)
        entry = decode_msgpack(self._payload[self._edges[rank]:self._edges[rank + 1]])
        if type(entry) is int and 0 <= entry < rank:
            if entry not in shared:
                shared[entry] = decode_msgpack(self._payload[self._edges[entry]:self._edges[entry + 1]])
            entry = shared[entry]
        return entry


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """Index columns of a batch of calls, still packed, but checked.

    Attributes:
        count: Number of calls.
        columns: One for each of `COLUMNS`.
        flags: A byte a call: bits of `index.tables`.
        sizes: Bytes of the outputs of each call; a hostile log says negative ones.
    """

    count: int
    columns: list[Packed]
    flags: bytes
    sizes: Packed


def summary_of(payload: bytes, is_bad: IsBad) -> BatchSummary:
    """The summary of a record of calls; its values are not decoded where the record has one: a fraction of the work.

    Args:
        payload: Of the record.
        is_bad: Tests a description, for a record that has no summary.

    Returns:
        The summary.

    Raises:
        ValueError: It is no batch.
    """
    reader = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), **_LIMITS)
    reader.feed(payload)
    try:
        if not _FIELDS <= reader.read_array_header() <= _FIELDS + _OPTIONAL:
            return Batch(payload).summary(is_bad)
        count, numbers, flags, sizes = (reader.unpack() for _ in range(4))
    except _WRONG as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error
    count = _check_count(count)
    if type(flags) is not bytes or len(flags) != count:
        raise ValueError('flags of the wrong size')
    return BatchSummary(count, _check_columns(numbers, count), flags, columns.check(sizes, count))


def decode_msgpack(payload: bytes) -> Any:
    """Decode msgpack without trusting it: no extension types, bounded sizes and depth.

    Args:
        payload: The bytes.

    Returns:
        Lists, dicts, text, bytes, numbers, bools and None.

    Raises:
        ValueError: It is not msgpack, too deep or too large.
    """
    try:
        return msgpack.unpackb(payload, **_LIMITS)
    except _WRONG as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error


def _split_payload(payload: bytes) -> tuple[list[Any], int, list[int], list[Any]]:
    """The fields before the tensor descriptions (two fewer in version 2), where these begin, where each of them does (and
    the last ends), and the four fields after them with the optional ones."""
    try:
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), **_LIMITS)
        unpacker.feed(payload)
        fields = unpacker.read_array_header()
        if not _FIELDS <= fields <= _FIELDS + _OPTIONAL and fields != _FIELDS_2:
            raise ValueError('not a batch of calls')
        optional = max(fields - _FIELDS, 0)
        before = [unpacker.unpack() for _ in range(fields - 5 - optional)]
        head = unpacker.tell()
        descriptions = unpacker.read_array_header()
        edges = [unpacker.tell()]
        if descriptions > len(payload):
            raise ValueError('wrong number of tensors')
        for _ in range(descriptions):
            unpacker.skip()
            edges.append(unpacker.tell())
        after = [unpacker.unpack() for _ in range(4 + optional)]
        if unpacker.tell() != len(payload):
            raise ValueError('more than a batch of calls')
    except _WRONG as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error
    return before, head, edges, after


def _array(data: Any, dtype: np.dtype[Any], count: int) -> np.ndarray:
    if not isinstance(data, bytes) or len(data) != count * dtype.itemsize:
        raise ValueError('a column of the wrong size')
    return np.frombuffer(data, dtype)


def _check_count(count: Any) -> int:
    if type(count) is not int or not 0 < count <= MOST_ROWS:
        raise ValueError('wrong number of calls')
    return count


def _check_columns(fields: Any, count: int) -> list[Packed]:
    if not isinstance(fields, list) or len(fields) != len(COLUMNS):
        raise ValueError('wrong columns')
    return [columns.check(column, count) for column in fields]


def _check_states(fields: Any, count: int) -> list[np.ndarray]:
    if not isinstance(fields, list) or len(fields) != len(NO_STATE):
        raise ValueError('wrong states')
    return [columns.unpack([columns.check(column, count)], [count]) for column in fields]


def _by_row(items: Any, count: int) -> dict[int, Any]:
    if not isinstance(items, list):
        raise ValueError('wrong list of rows')
    by_row: dict[int, Any] = {}
    for item in items:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], int) or not 0 <= item[0] < count:
            raise ValueError('wrong row')
        by_row[item[0]] = item[1]
    return by_row
