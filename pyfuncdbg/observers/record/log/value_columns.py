"""Many values as columns of a record: types, shapes, statistics and bytes.

Encoded by `record_values`, on the writer thread; decoded by readers, who check everything, for a log may be hostile.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.dtypes import dtype_of
from pyfuncdbg.observers.record.histogram import BINS, EQUAL_BINS
from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots.statistics import COUNTS, ROW, row_type, stats_of_row

NOTHING, INLINE, KEY = range(3)
"""Where the bytes of a value are: not kept, in the record, in a blob of that key."""

WHOLE = (*COUNTS, 'first_bad')
"""Fields of `ROW` that are columns of integers."""
RAW = (('min', '<i8'), ('max', '<i8'), ('mean', '<f8'), ('std', '<f8'))
_FIELDS = 11
_KEY_SIZE = 16
_MOST_DIMENSIONS = 64
MOST_VALUES = 1 << 16
"""Values of one record."""


class ValueColumns:
    """Decoded values of a record. Counts and columns have been checked; what a description holds has not.

    Attributes:
        count: Number of values.
    """

    __slots__ = ('_dtypes', '_inline', '_keys', '_kinds', '_levels', '_notes', '_ranks', '_rows', '_shapes', '_stat_ranks',
                 'count')

    def __init__(self, fields: Any) -> None:
        """Decode and check.

        Args:
            fields: Decoded from msgpack.

        Raises:
            ValueError: They are no values.
        """
        count, dtypes, dtype_column, shapes, shape_column, levels, kinds, payloads, notes, stats, raw = _list(
            fields, _FIELDS)
        if type(count) is not int or not 0 < count <= MOST_VALUES:
            raise ValueError('wrong number of values')
        self.count = count
        self._dtypes = _looked_up(dtypes, dtype_column, count)
        self._shapes = _looked_up(shapes, shape_column, count)
        self._levels = _column(levels, count)
        self._kinds = _column(kinds, count)
        keys, self._inline = _list(payloads, 2)
        key_count, inline_count = int((self._kinds == KEY).sum()), int((self._kinds == INLINE).sum())
        if not isinstance(keys, bytes) or len(keys) != _KEY_SIZE * key_count or len(_list(self._inline)) != inline_count:
            raise ValueError('wrong bytes of values')
        self._keys = keys
        self._ranks = _ranks(self._kinds)
        self._notes = {place: note for place, note in (_list(pair, 2) for pair in _list(notes)) if type(place) is int}
        marks, whole = _list(stats, 2)
        marked = _column(marks, count)
        self._stat_ranks = np.where(marked == 1, np.cumsum(marked == 1) - 1, -1)
        self._rows = _rows(whole, raw, int((marked == 1).sum()))

    def description(self, place: int) -> list[Any]:
        """Describe one value.

        Args:
            place: Of the value.

        Returns:
            As `BlobStore.describe`, its fields unchecked.

        Raises:
            ValueError: It is of a type that there is none of, or of no shape.
        """
        name, shape = self._dtypes[place], self._shapes[place]
        dtype = dtype_of(name if isinstance(name, str) else '')
        if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS or not all(
                type(size) is int and 0 <= size < 1 << 48 for size in shape):
            raise ValueError('wrong shape')
        kind, rank = int(self._kinds[place]), int(self._ranks[place])
        where = [self._inline[rank]] if kind == INLINE else (
            self._keys[_KEY_SIZE * rank:_KEY_SIZE * (rank + 1)] if kind == KEY else None)
        stat_rank = int(self._stat_ranks[place])
        stats = None if stat_rank < 0 else stats_of_row(self._rows[stat_rank], dtype.kind, tuple(shape))
        return [name, shape, math.prod(shape) * dtype.itemsize, int(self._levels[place]), where, False,
                self._notes.get(place, ''), None if stats is None else packed_stats(stats),
                stats is not None and stats.bad > 0]


def packed_stats(stats: Stats) -> list[Any]:
    """Statistics as a description holds them.

    Args:
        stats: Of a value.

    Returns:
        Its fields, lists instead of tuples.
    """
    fields = [getattr(stats, slot) for slot in Stats.__slots__]
    return [list(field) if isinstance(field, tuple) else field for field in fields]


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError('wrong columns of values')
    return value


def _column(packed: Any, count: int) -> np.ndarray:
    return columns.unpack([columns.check(packed, count)], [count])


def _looked_up(table: Any, packed: Any, count: int) -> list[Any]:
    items, numbers = _list(table), _column(packed, count)
    if not (numbers.min() >= 0 and numbers.max() < len(items)):
        raise ValueError('wrong type or shape of a value')
    return [items[number] for number in numbers.tolist()]


def _ranks(kinds: np.ndarray) -> np.ndarray:
    """For each value how many before it have their bytes in the same place."""
    ranks = np.zeros(len(kinds), np.int64)
    for kind in (INLINE, KEY):
        here = kinds == kind
        ranks[here] = np.arange(here.sum())
    return ranks


def _rows(whole: Any, raw: Any, count: int) -> np.ndarray:
    if not count:
        return np.zeros(0, ROW)
    *fields, packed_bins, bins = _list(raw, len(RAW) + 2) if len(_list(raw)) != len(RAW) + 1 else [*raw, EQUAL_BINS]
    if bins not in (BINS, EQUAL_BINS):
        raise ValueError('wrong bins of a histogram')
    rows = np.zeros(count, row_type(bins))
    for name, packed in zip(WHOLE, _list(whole, len(WHOLE)), strict=True):
        rows[name] = _column(packed, count)
    for (name, kind), data in zip(RAW, fields, strict=True):
        if not isinstance(data, bytes) or len(data) != 8 * count:
            raise ValueError('a column of the wrong size')
        rows[name] = np.frombuffer(data, kind)
    rows['bins'] = _column(packed_bins, bins * count).reshape(count, bins)
    return rows
