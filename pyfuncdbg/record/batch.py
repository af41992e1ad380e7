"""Many calls as one record, by column: how calls are written and found again.

Encoding a call by itself costs more than making it; a batch of columns costs a tenth of that, because NumPy packs the
numbers. Encoded on the writer thread; decoded by readers, who check everything, for a log may be hostile.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.record.snapshot import SCALARS, Copied, Snapshot

Row = tuple[Any, ...]
"""(id, run, site, ordinal, thread, started, finished, forward, parent, inputs, outputs, output, error, lost, sources,
holding): `holding` is False if there is nothing to give back to the allowance, which need not be looked for then."""

COLUMNS = ('id', 'run', 'site', 'ordinal', 'thread', 'started', 'finished', 'forward', 'parent')
"""The numbers of a call, in the order of a row. `finished` is 0 for a call that has not returned."""

MOST_ROWS = 512
MOST_TENSORS = 4096
"""Tensors on one side of a call; more are not recorded."""

_TYPES = tuple(SCALARS.values())
_WIDTHS = (1, 2, 4, 8)
_SIZES = np.array([0, *(np.dtype(kind).itemsize for kind in _TYPES)], np.int64)
_LARGEST = 1 << 48
_LIMITS: dict[str, Any] = {'unicode_errors': 'surrogatepass', 'max_array_len': 1 << 17, 'max_map_len': 1 << 12,
                           'max_ext_len': 0, 'strict_map_key': True}
_WRONG = (msgpack.UnpackException, TypeError, OverflowError, RecursionError, MemoryError)


class _Codes(dict[type, int]):
    """Code of each scalar type, 0 for everything else; `__missing__` keeps the lookup inside `map`."""

    def __missing__(self, key: type) -> int:
        return 0


_CODES = _Codes({kind: number for number, kind in enumerate(SCALARS, 1)})


def encode(rows: Sequence[Row], tensor: Callable[[Copied | Snapshot], list[Any]]) -> bytes:
    """One record of at most `MOST_ROWS` rows.

    Args:
        rows: Their outputs, errors and losses are plain data or None.
        tensor: Writes one snapshot's bytes where they belong and describes it.
    """
    columns = list(zip(*rows, strict=True))
    inputs, outputs = columns[9], columns[10]
    values = list(itertools.chain.from_iterable(itertools.chain.from_iterable(zip(inputs, outputs, strict=True))))
    codes = bytes(map(_CODES.__getitem__, map(type, values)))
    packed: list[list[Any]] = []
    general: list[Any] = []
    for code in sorted(set(codes)):
        here = values if codes.count(code) == len(values) else [v for v, c in zip(values, codes, strict=True) if c == code]
        if code:
            packed.append([code, np.array(here, _TYPES[code - 1]).tobytes()])
        else:
            general = _described(here, tensor)
    sparse = [[[i, item] for i, item in enumerate(column) if item] if any(column) else [] for column in columns[11:15]]
    body: bytes = msgpack.packb(
        [len(rows), [_pack_column(column) for column in columns[:9]], np.fromiter(map(len, inputs), np.uint16).tobytes(),
         np.fromiter(map(len, outputs), np.uint16).tobytes(), codes, packed, general, *sparse],
        unicode_errors='surrogatepass')
    return body


def _described(values: Sequence[Any], tensor: Callable[[Copied | Snapshot], list[Any]]) -> list[Any]:
    """Descriptions of tensors; of one that calls share, once, and then the place of that: two thirds of a recorded graph."""
    places: dict[int, int] = {}
    described: list[Any] = []
    for value in values:
        entry: Any = tensor(value)
        if type(value) is Snapshot and value.owner:
            first = places.setdefault(id(value), len(described))
            if first < len(described):
                entry = first
        described.append(entry)
    return described


def _pack_column(column: Sequence[int]) -> list[Any]:
    """[least value, width, differences to it]; a constant column has width 0."""
    numbers = np.array(column, np.int64)
    least = int(numbers.min())
    differences = (numbers - least).view(np.uint64)
    most = int(differences.max())
    if not most:
        return [least, 0, b'']
    width = next(w for w in _WIDTHS if most < 1 << 8 * w)
    return [least, width, differences.astype(f'<u{width}').tobytes()]


class Batch:
    """A decoded record of calls. Everything in it has been checked.

    Attributes:
        count: Number of calls.
        columns: One int64 array for each of `COLUMNS`.
        output, error, lost, sources: What some calls printed, raised, could not keep, and continue, by row.
    """

    __slots__ = ('_all', '_bounds', '_codes', '_edges', '_head', '_packed', '_payload', '_ranks', 'columns', 'count',
                 'error', 'inputs', 'lost', 'output', 'sources')

    def __init__(self, payload: bytes) -> None:
        """Decode and check.

        Raises:
            ValueError: It is no batch (msgpack's own exceptions are ValueErrors too).
        """
        # Tensor descriptions stay packed until one is asked for: they are nine tenths of the work, and a thousand lists a
        # batch would keep the garbage collector busy for as long as the batch is remembered.
        before, self._head, self._edges, after = _taken_apart(payload)
        self._payload = payload
        self._all: list[Any] | None = None
        count, columns, ins, outs, codes, packed = before
        output, error, lost, sources = after
        if not isinstance(count, int) or not 0 < count <= MOST_ROWS or not isinstance(columns, list) or len(columns) != 9:
            raise ValueError('wrong number of calls')
        self.count = count
        self.columns = [_unpack_column(column, count) for column in columns]
        self.inputs = _array(ins, np.dtype('<u2'), count).astype(np.int64)
        per_row = self.inputs + _array(outs, np.dtype('<u2'), count)
        self._bounds = np.concatenate(([0], np.cumsum(per_row)))
        self._codes = _array(codes, np.dtype(np.uint8), int(self._bounds[-1]))
        self._ranks = np.zeros(len(self._codes), np.int64)
        counts = np.bincount(self._codes, minlength=len(_TYPES) + 1)
        if len(counts) > len(_TYPES) + 1:
            raise ValueError('unknown scalar type')
        for code in np.flatnonzero(counts):
            self._ranks[self._codes == code] = np.arange(counts[code])
        given = _by_row(packed, len(_TYPES) + 1)
        self._packed = {int(code): _array(given.get(int(code)), _TYPES[code - 1], int(counts[code]))
                        for code in np.flatnonzero(counts) if code}
        if len(self._edges) - 1 != counts[0]:
            raise ValueError('wrong number of tensors')
        self.output, self.error = _by_row(output, count), _by_row(error, count)
        self.lost, self.sources = _by_row(lost, count), _by_row(sources, count)

    def row(self, row: int) -> dict[str, int]:
        """The numbers of one call."""
        return {name: int(column[row]) for name, column in zip(COLUMNS, self.columns, strict=True)}

    def tensors(self, row: int) -> tuple[list[Any], list[Any]]:
        """Inputs and outputs of one call: NumPy scalars, and undecoded tensor descriptions.

        Raises:
            ValueError: A description cannot be read.
        """
        start, end = int(self._bounds[row]), int(self._bounds[row + 1])
        values = [self._packed[code][rank] if code else self._described(rank)
                  for code, rank in zip(self._codes[start:end].tolist(), self._ranks[start:end].tolist(), strict=True)]
        split = int(self.inputs[row])
        return values[:split], values[split:]

    def output_sizes(self) -> np.ndarray:
        """Payload bytes of the outputs of each call, as int64; what a description does not say counts as 0."""
        sizes = _SIZES[self._codes]
        sizes[self._codes == 0] = [_described_size(entry) for entry in self._descriptions()]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        return np.asarray(ends[self._bounds[1:]] - ends[self._bounds[:-1] + self.inputs], np.int64)

    def rows_of_scalars(self, test: Callable[[np.ndarray], np.ndarray]) -> set[int]:
        """Rows that hold a float or complex scalar for which `test` is true."""
        found: set[int] = set()
        for code, numbers in self._packed.items():
            if numbers.dtype.kind in 'fc':
                hits = test(numbers)
                if hits.any():
                    places = np.flatnonzero(self._codes == code)[hits]
                    found.update((np.searchsorted(self._bounds, places, 'right') - 1).tolist())
        return found

    def general_tensors(self) -> list[tuple[int, Any]]:
        """Every undecoded tensor description with its row."""
        places = np.flatnonzero(self._codes == 0)
        rows = (np.searchsorted(self._bounds, places, 'right') - 1).tolist()
        return list(zip(rows, self._descriptions(), strict=True))

    def _described(self, rank: int) -> Any:
        """One description; that of an earlier tensor if this one shares it."""
        entry = unpacked(self._payload[self._edges[rank]:self._edges[rank + 1]])
        if type(entry) is int and 0 <= entry < rank:
            entry = unpacked(self._payload[self._edges[entry]:self._edges[entry + 1]])
        return entry

    def _descriptions(self) -> list[Any]:
        if self._all is None:
            general = unpacked(self._payload[self._head:self._edges[-1]])
            self._all = [general[entry] if type(entry) is int and 0 <= entry < i else entry
                         for i, entry in enumerate(general)]
        return self._all


def _described_size(entry: Any) -> int:
    size = entry[2] if isinstance(entry, list) and len(entry) > 2 else 0
    return size if type(size) is int and 0 <= size < _LARGEST else 0


def columns_of(payload: bytes) -> list[np.ndarray]:
    """The columns of a batch alone: a fraction of the work where nothing else is asked for.

    Raises:
        ValueError: It is no batch.
    """
    reader = msgpack.Unpacker(max_buffer_size=len(payload), max_array_len=1 << 17, max_map_len=1 << 12, max_ext_len=0,
                              strict_map_key=True)
    reader.feed(payload)
    try:
        fields, count, columns = reader.read_array_header(), reader.unpack(), reader.unpack()
    except (msgpack.UnpackException, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error
    if fields != 11 or not isinstance(count, int) or not 0 < count <= MOST_ROWS or not isinstance(columns, list) or len(
            columns) != len(COLUMNS):
        raise ValueError('not a batch of calls')
    return [_unpack_column(column, count) for column in columns]


def unpacked(payload: bytes) -> Any:
    """Decode msgpack without trusting it: no extension types, bounded sizes and depth.

    Raises:
        ValueError: It is not msgpack, too deep or too large.
    """
    try:
        return msgpack.unpackb(payload, **_LIMITS)
    except _WRONG as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error


def _taken_apart(payload: bytes) -> tuple[list[Any], int, list[int], list[Any]]:
    """The six fields before the tensor descriptions, where these begin, where each of them does (and the last ends), and
    the four fields after them."""
    try:
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), **_LIMITS)
        unpacker.feed(payload)
        if unpacker.read_array_header() != 11:
            raise ValueError('not a batch of calls')
        before = [unpacker.unpack() for _ in range(6)]
        head = unpacker.tell()
        descriptions = unpacker.read_array_header()
        edges = [unpacker.tell()]
        if descriptions > len(payload):
            raise ValueError('wrong number of tensors')
        for _ in range(descriptions):
            unpacker.skip()
            edges.append(unpacker.tell())
        after = [unpacker.unpack() for _ in range(4)]
        if unpacker.tell() != len(payload):
            raise ValueError('more than a batch of calls')
    except _WRONG as error:
        raise ValueError(f'cannot be decoded: {type(error).__name__}') from error
    return before, head, edges, after


def _array(data: Any, dtype: np.dtype[Any], count: int) -> np.ndarray:
    if not isinstance(data, bytes) or len(data) != count * dtype.itemsize:
        raise ValueError('a column of the wrong size')
    return np.frombuffer(data, dtype)


def _unpack_column(column: Any, count: int) -> np.ndarray:
    if not isinstance(column, list) or len(column) != 3 or not isinstance(column[0], int) or column[1] not in (0, *_WIDTHS):
        raise ValueError('wrong column')
    least, width, data = column
    if not -(1 << 63) <= least < 1 << 63:
        raise ValueError('number out of range')
    differences = _array(data, np.dtype(f'<u{width}'), count).astype(np.uint64) if width else np.zeros(count, np.uint64)
    return np.add(differences.view(np.int64), least, dtype=np.int64)


def _by_row(items: Any, count: int) -> dict[int, Any]:
    if not isinstance(items, list):
        raise ValueError('wrong list of rows')
    found: dict[int, Any] = {}
    for item in items:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], int) or not 0 <= item[0] < count:
            raise ValueError('wrong row')
        found[item[0]] = item[1]
    return found
