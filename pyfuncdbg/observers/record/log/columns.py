"""Columns of integers in a record: the minimum, and differences to it of the smallest sufficient width.

Packed on the writer thread; unpacked by readers, who check everything, for a log may be hostile, and then take the columns
of many records together: NumPy costs as much for a column of 512 numbers as for one of 32,768.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_pack_list: Callable[[Sequence[int]], list[Any]] | None
_pack_array: Callable[[np.ndarray], list[Any]] | None
try:
    if sys.byteorder != 'little':
        raise ImportError
    from pyfuncdbg.observers.record.log import packed_column  # type: ignore[attr-defined,unused-ignore]
except ImportError:                             # no C compiler
    _pack_list = _pack_array = None
else:
    _pack_list, _pack_array = packed_column.pack_list, packed_column.pack_array

Packed = list[Any]
"""[least, width, differences]: as many little-endian unsigned integers of so many bytes as there are numbers; a constant
column has width 0 and none."""

MOST_ROWS = 512
"""Numbers of a column of one record: calls, or runs."""

_WIDTHS = (1, 2, 4, 8)
_UNSIGNED = {width: np.dtype(f'<u{width}') for width in _WIDTHS}


def pack(column: Sequence[int] | np.ndarray) -> Packed:
    """Pack a column.

    Args:
        column: At least one number; each fits in 64 bits with a sign.

    Returns:
        The packed column.
    """
    if _pack_array is not None and isinstance(column, np.ndarray):
        return _pack_array(column if column.dtype == np.int64 else column.astype(np.int64))
    if _pack_list is not None and not isinstance(column, np.ndarray):
        return _pack_list(column)
    numbers = np.array(column, np.int64)
    least = int(numbers.min())
    differences = (numbers - least).view(np.uint64)
    most = int(differences.max())
    if not most:
        return [least, 0, b'']
    width = next(w for w in _WIDTHS if most < 1 << 8 * w)
    return [least, width, differences.astype(f'<u{width}').tobytes()]


def check(column: Any, count: int) -> Packed:
    """Check a column that was read.

    Args:
        column: Decoded from msgpack.
        count: How many numbers it must have.

    Returns:
        The packed column.

    Raises:
        ValueError: It is no column of so many numbers.
    """
    if not isinstance(column, list) or len(column) != 3:
        raise ValueError('wrong column')
    least, width, data = column
    if type(least) is not int or type(width) is not int or width not in (0, *_WIDTHS):
        raise ValueError('wrong column')
    if not -(1 << 63) <= least < 1 << 63:
        raise ValueError('number out of range')
    if width and (type(data) is not bytes or len(data) != count * width):
        raise ValueError('a column of the wrong size')
    return column


def unpack(columns: Sequence[Packed], counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Unpack one column of several records together.

    Args:
        columns: Checked.
        counts: How many numbers each has.

    Returns:
        The numbers, one record after the other, as int64; read-only and of stride 0 if they are all the same. In a hostile
        log sums wrap round.
    """
    widths = [width for _, width, _ in columns]
    if not any(widths) and len({least for least, _, _ in columns}) == 1:
        return np.broadcast_to(np.int64(columns[0][0]), int(np.sum(counts)))
    numbers = np.repeat(np.array([least for least, _, _ in columns], np.int64), counts)
    for width in set(widths) - {0}:
        parts = [data for _, its, data in columns if its == width]
        differences = np.frombuffer(b''.join(parts), _UNSIGNED[width])
        if width == 8:
            differences = differences.view('<i8')
        if len(parts) == len(columns):
            numbers += differences
        else:
            numbers[np.repeat([its == width for its in widths], counts)] += differences
    return numbers
