# cython: annotation_typing=False, auto_pickle=False
"""Values of one record on their way into it: scalars by type, arrays in columns, descriptions of all others.

A description of each value, as a `Snapshot` has it, costs the writer more than the statistics in it. Used on the writer's
thread, by the encoders of calls and of ops; `value_columns` reads what this writes. Compiled by `record_values.pxd`.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy import ndarray

from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.histogram import BINS
from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.batch_tensors import COLUMNED, TYPES
from pyfuncdbg.observers.record.log.large_rows import large_rows
from pyfuncdbg.observers.record.log.value_columns import INLINE, KEY, MOST_VALUES, NOTHING, RAW, WHOLE
from pyfuncdbg.observers.record.snapshots.snapshot import OVER_BUDGET, SCALARS, Copied, Snapshot
from pyfuncdbg.observers.record.snapshots.statistics import ROW, all_finite, has_row, have_bad, rows_of

_CODES = {kind: number for number, kind in enumerate(SCALARS, 1)}
_LARGE = 64 << 10
"""Bytes from which on a value that is kept has its statistics beside it, as in `blob_store`."""


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

    def place_bytes(self, data: Any) -> Any:
        """Store bytes.

        Args:
            data: The bytes.

        Returns:
            As `place_array`.
        """

    def miss(self, nbytes: int) -> None:
        """Count a tensor that had no room.

        Args:
            nbytes: Of its elements.
        """


class RecordValues:
    """Values of one record, in the order in which they are put; `finish` ends that.

    Args:
        store: Takes the bytes that are kept.

    Attributes:
        codes, ranks: Of each value its code, and its number among the scalars, descriptions or columns.
        sizes, bad, changed: Of each value its bytes, and 1 where it has a NaN or infinity, or a function wrote to it.
    """

    __slots__ = ('_array_places', '_arrays', '_codes', '_descriptions', '_dtype', '_dtype_column', '_dtypes', '_has_row',
                 '_inline', '_keys', '_kinds', '_last', '_last_rank', '_levels', '_notes', '_number', '_places', '_ranks',
                 '_scalars', '_shape', '_shape_column', '_shape_number', '_shapes', '_sizes', '_stat_rows', '_store',
                 '_summarized', '_tested', 'bad', 'changed', 'codes', 'ranks', 'sizes')

    def __init__(self, store: ValueStore) -> None:
        self._store = store
        self._codes = bytearray()
        self._ranks: list[int] = []
        self._scalars: dict[int, list[Any]] = {}
        self._descriptions: list[list[Any]] = []
        self._places: dict[int, int] = {}
        """Ranks of copies and of shared snapshots, by id."""
        self._array_places: dict[int, dict[int, int]] = {}
        """Those of arrays, by what is kept of them."""
        self._last: Any = None
        self._last_rank = 0
        # Columns of arrays and copies:
        self._arrays: list[np.ndarray | Copied] = []
        self._sizes: list[int] = []
        self._dtypes: dict[str, int] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._dtype_column: list[int] = []
        self._shape_column: list[int] = []
        self._levels: list[int] = []
        self._kinds: list[int] = []
        self._keys: list[bytes] = []
        self._inline: list[bytes] = []
        self._notes: dict[int, str] = {}
        self._tested: list[int] = []
        self._summarized: list[int] = []
        self._stat_rows = np.zeros(0, ROW)
        # Most are as the one before:
        self._dtype: Any = None
        self._shape: Any = None
        self._has_row = False
        self._number = self._shape_number = 0
        self.codes = self.ranks = self.sizes = self.bad = self.changed = np.zeros(0, np.int64)

    def put_copies(self, values: Sequence[Any]) -> None:
        """Put the values of a call: what `Snapshots` has taken.

        Args:
            values: Scalars, copies, and snapshots.
        """
        for value in values:
            if type(value) is tuple:
                rank = self._rank_of_copy(value)
                if rank >= 0:
                    self._codes.append(COLUMNED)
                    self._ranks.append(rank)
                    continue
            self._put_other(value)

    def put_arrays(self, values: Sequence[Any], limit: int) -> None:
        """Put the values of ops: arrays that nothing writes to.

        Args:
            values: Arrays, scalars, and snapshots.
            limit: Bytes up to which an array is kept whole; -1 where nothing is kept of any.
        """
        places = self._array_places.setdefault(limit, {})       # a constant is a value of every run
        for value in values:
            if type(value) is not ndarray:
                self._put_other(value)
                continue
            rank = places.get(id(value), -1)
            if rank < 0:
                rank = places[id(value)] = self._put_array(value, limit)
            self._codes.append(COLUMNED)
            self._ranks.append(rank)

    def _put_other(self, value: Any) -> None:
        """Put a scalar, or what only a description can hold."""
        code = _CODES.get(type(value), 0)
        if code:
            same = self._scalars.get(code)
            if same is None:
                same = self._scalars[code] = []
            self._ranks.append(len(same))
            same.append(value)
        elif type(value) is Snapshot and (data := self._data_to_summarize(value)) is not None:
            code = COLUMNED
            self._ranks.append(self._put_snapshot(value, data))
        else:
            entry = self._store.describe(value)
            rank = len(self._descriptions)
            if type(value) is Snapshot and value.owner:     # calls share it: two thirds of a recorded graph
                rank = self._places.setdefault(id(value), rank)
            if rank == len(self._descriptions):
                self._descriptions.append(entry)
            self._ranks.append(rank)
        self._codes.append(code)

    def _rank_of_copy(self, copied: Copied) -> int:
        """The rank of a copy, which many calls may have; -1 where a column cannot hold it."""
        if copied is self._last:                # what goes in often comes out
            rank = self._last_rank
        else:
            rank = self._places.get(id(copied), -1)
            if rank < 0:
                return self._put_copy(copied)
            self._last, self._last_rank = copied, rank
        if self._kinds[rank] == NOTHING:
            self._store.miss(len(copied[2]))
        return rank

    def _put_copy(self, copied: Copied) -> int:
        dtype, shape, data, changed = copied
        if dtype is not self._dtype:
            self._note_dtype(dtype)
        if changed or not self._has_row or len(self._levels) >= MOST_VALUES:
            return -1
        rank = self._put_column(copied, shape, len(data))
        where = self._store.place_bytes(data)
        self._place(where)
        if where is None:
            self._notes[rank] = OVER_BUDGET
            self._store.miss(len(data))
        self._levels.append(0 if where is None else 2)
        self._tested.append(rank)
        self._places[id(copied)] = self._last_rank = rank
        self._last = copied
        return rank

    def _data_to_summarize(self, snapshot: Snapshot) -> Any:
        """The bytes of an array of which only statistics are to be kept, else None: a large one may be known by its hash."""
        data = snapshot.data                    # once: the thread of a call that is dropped releases it
        if data is None or type(data) is list or snapshot.keep or snapshot.owner or snapshot.changed or \
                snapshot.after is not None or not 0 < len(data) <= _LARGE:
            return None
        if snapshot.dtype is not self._dtype:
            self._note_dtype(snapshot.dtype)
        return data if self._has_row and len(self._levels) < MOST_VALUES else None

    def _put_snapshot(self, snapshot: Snapshot, data: Any) -> int:
        """Put an array of which only statistics are to be kept."""
        rank = self._put_column((snapshot.dtype, snapshot.shape, data, False), snapshot.shape, snapshot.nbytes)
        if snapshot.note:
            self._notes[rank] = snapshot.note
        self._place(None)
        self._levels.append(1)
        self._summarized.append(rank)
        return rank

    def _put_array(self, array: np.ndarray, limit: int) -> int:
        nbytes, where, note = array.nbytes, None, ''
        dtype = array.dtype
        if dtype is not self._dtype:
            self._note_dtype(dtype)
        rank = self._put_column(array, array.shape, nbytes)
        if limit >= nbytes:
            where = self._store.place_array(array)
            if where is None:
                note = OVER_BUDGET
                self._store.miss(nbytes)
        elif 0 < limit < nbytes:
            note = f'more than {limit} bytes'
        if note:
            self._notes[rank] = note
        self._place(where)
        level = 2 if where is not None else 0 if note == OVER_BUDGET or limit < 0 else 1
        self._levels.append(level)
        if limit >= 0:                          # of what goes over budget only a NaN or infinity is worth statistics
            if level == 1 or (where is not None and nbytes > _LARGE):
                self._summarized.append(rank)
            else:
                self._tested.append(rank)
        return rank

    def _note_dtype(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._has_row = has_row(dtype)
        self._number = self._dtypes.setdefault(dtype_name(dtype), len(self._dtypes))

    def _put_column(self, array: np.ndarray | Copied, shape: tuple[int, ...], nbytes: int) -> int:
        rank = len(self._arrays)
        self._arrays.append(array)
        self._sizes.append(nbytes)
        if shape is not self._shape and shape != self._shape:
            self._shape = shape
            self._shape_number = self._shapes.setdefault(shape, len(self._shapes))
        self._dtype_column.append(self._number)
        self._shape_column.append(self._shape_number)
        return rank

    def _place(self, where: Any) -> None:
        if where is None:
            self._kinds.append(NOTHING)
        elif type(where) is list:
            self._kinds.append(INLINE)
            self._inline.append(where[0])
        else:
            self._kinds.append(KEY)
            self._keys.append(where)

    def finish(self) -> None:
        """Compute the statistics, and what is asked of all values together."""
        self.codes, self.ranks = np.frombuffer(bytes(self._codes), np.uint8), np.array(self._ranks, np.int64)
        bad = self._find_bad()
        self.sizes, self.bad, self.changed = (np.zeros(len(self.codes), np.int64) for _ in range(3))
        if self._arrays:
            here = self.codes == COLUMNED
            self.bad[here] = np.array(bad)[self.ranks[here]]
            self.sizes[here] = np.array(self._sizes)[self.ranks[here]]
        if self._descriptions:
            here = self.codes == 0
            for column, fields in ((self.bad, [entry[8] is not False for entry in self._descriptions]),
                                   (self.sizes, [entry[2] for entry in self._descriptions]),
                                   (self.changed, [bool(entry[5]) for entry in self._descriptions])):
                column[here] = np.array(fields)[self.ranks[here]]
        for code, same in self._scalars.items():
            numbers, here = np.array(same, TYPES[code - 1]), self.codes == code
            self.sizes[here] = numbers.itemsize
            if numbers.dtype.kind in 'fc':
                self.bad[here] = ~np.isfinite(numbers)

    def _find_bad(self) -> list[bool]:
        """Which arrays and copies have a NaN or infinity; takes the statistics."""
        arrays, summarized = self._arrays, self._summarized
        bad = [False] * len(arrays)
        for rank in self._bad_ones():
            bad[rank] = True
            if self._levels[rank] == 0:
                self._levels[rank] = 1
                summarized.append(rank)
        rows = _rows_of([_array_of(arrays[rank]) for rank in summarized])
        for rank, count in zip(summarized, (rows['nan'] + rows['neg_inf'] + rows['pos_inf']).tolist(), strict=True):
            bad[rank] = count > 0
        # An array that another thread was writing to has no statistics.
        if summarized != sorted(summarized) or (rows['size'] < 0).any():
            order = np.argsort(summarized)
            order = order[rows['size'][order] >= 0]
            self._summarized, rows = [summarized[place] for place in order.tolist()], rows[order]
        self._stat_rows = rows
        return bad

    def _bad_ones(self) -> list[int]:
        """Ranks of those among the tested that have a NaN or infinity. Copies of one type are tested together: a tenth."""
        places: list[int] = []
        arrays: list[np.ndarray] = []
        copies: dict[Any, list[int]] = {}
        for rank in self._tested:
            array = self._arrays[rank]
            if not isinstance(array, tuple):
                places.append(rank)
                arrays.append(array)
            elif array[0].kind in 'fc' and array[2]:
                copies.setdefault(array[0], []).append(rank)
        ranks = [rank for rank, is_bad in zip(places, have_bad(arrays), strict=True) if is_bad]
        for dtype, same in copies.items():
            if not all_finite(np.frombuffer(b''.join([self._arrays[rank][2] for rank in same]), dtype)):
                ranks += [rank for rank in same if not all_finite(_array_of(self._arrays[rank]))]
        return ranks

    def scalars(self, codes: np.ndarray, ranks: np.ndarray) -> list[Any]:
        """The scalars of tensors, by code.

        Args:
            codes, ranks: Of the tensors.

        Returns:
            What msgpack can write.
        """
        return [[code, np.array(same, TYPES[code - 1])[ranks[codes == code]].tobytes()]
                for code, same in sorted(self._scalars.items())]

    def descriptions(self, ranks: list[int]) -> list[Any]:
        """The descriptions of tensors.

        Args:
            ranks: Of the tensors.

        Returns:
            What msgpack can write: instead of one that is there already, its place.
        """
        places: dict[int, int] = {}
        return [self._descriptions[rank] if (place := places.setdefault(rank, here)) == here else place
                for here, rank in enumerate(ranks)]

    def columns(self) -> list[Any]:
        """The columns of arrays and copies, of which there is one.

        Returns:
            What msgpack can write.
        """
        marks = np.zeros(len(self._levels), np.int64)
        marks[self._summarized] = 1
        rows = self._stat_rows
        stats = [columns.pack(rows[name]) for name in WHOLE] if self._summarized else []
        return [len(self._levels), list(self._dtypes), columns.pack(self._dtype_column),
                [list(map(int, shape)) for shape in self._shapes], columns.pack(self._shape_column),
                columns.pack(self._levels), columns.pack(self._kinds), [b''.join(self._keys), self._inline],
                list(self._notes.items()), [columns.pack(marks), stats],
                [*(rows[name].astype(kind).tobytes() for name, kind in RAW),
                 columns.pack(rows['bins'].reshape(-1)), BINS] if self._summarized else []]


def _array_of(array: np.ndarray | Copied) -> np.ndarray:
    return np.frombuffer(array[2], array[0]).reshape(array[1]) if isinstance(array, tuple) else array


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
