"""Columns of integers in memory, in compressed blocks: ten million calls take 200 MB, as arrays four times that.

Filled by `tables.Table`. A `TableColumn` does not change: it needs no lock and may be used on any thread.
"""
from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import overload

import numpy as np

BITS = 15
BLOCK = 1 << BITS
"""Rows of a block."""

_ROWS_A_CHANGE = 16
"""Rows to each change of the number in a block that is kept as runs of equal numbers."""
_WIDTHS = (1, 2, 4, 8)


class _Block:
    """The least number of a block, and the differences to it in the smallest sufficient width.

    Of equal numbers that follow each other one is kept, where they are many.
    """

    __slots__ = ('_differences', '_starts', 'least', 'most')

    def __init__(self, numbers: np.ndarray) -> None:
        changes = np.flatnonzero(numbers[1:] != numbers[:-1])
        self._starts: np.ndarray | None = None
        if len(changes) * _ROWS_A_CHANGE <= BLOCK:
            starts = np.concatenate(([0], changes + 1))
            self._starts, numbers = starts.astype(np.uint16), numbers[starts]
        self.least, self.most = int(numbers.min()), int(numbers.max())
        differences = (numbers - self.least).view(np.uint64)
        most = self.most - self.least
        self._differences = differences.astype(f'u{next(width for width in _WIDTHS if most < 1 << 8 * width)}')

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The numbers in some rows."""
        if self._starts is not None:
            rows = np.searchsorted(self._starts, rows, 'right') - 1
        numbers: np.ndarray = self._differences[rows].astype(np.int64)
        numbers += self.least
        return numbers

    def read_into(self, room: np.ndarray) -> None:
        """All of the numbers."""
        if self._starts is None:
            room[:] = self._differences
        else:
            room[:] = np.repeat(self._differences, np.diff(self._starts, append=BLOCK)).view(self._differences.dtype)
        room += room.dtype.type(self.least)


class TableColumn:
    """A column as it was when the view of its table was made.

    Args:
        blocks: Those that are full.
        tail: The numbers behind them.
        dtype: Of the arrays that it gives.
    """

    __slots__ = ('_blocks', '_tail', 'dtype')

    def __init__(self, blocks: tuple[_Block, ...], tail: np.ndarray, dtype: np.dtype[np.generic]) -> None:
        self._blocks, self._tail, self.dtype = blocks, tail, dtype

    def __len__(self) -> int:
        return (len(self._blocks) << BITS) + len(self._tail)

    @overload
    def __getitem__(self, rows: int) -> int: ...
    @overload
    def __getitem__(self, rows: np.ndarray) -> np.ndarray: ...

    def __getitem__(self, rows: int | np.ndarray) -> int | np.ndarray:
        """The number in a row, or the numbers in many; none below 0."""
        if not isinstance(rows, np.ndarray):
            block = rows >> BITS
            if block < len(self._blocks):
                return int(self._blocks[block].take(np.array([rows & BLOCK - 1]))[0])
            return int(self._tail[rows - (len(self._blocks) << BITS)])
        if 2 * len(rows) > len(self):
            found: np.ndarray = self.to_numpy()[rows]
            return found
        return self._take(rows)

    def _take(self, rows: np.ndarray) -> np.ndarray:
        blocks = rows >> BITS
        order = None
        if (blocks[1:] < blocks[:-1]).any():
            order = np.argsort(blocks, kind='stable')
            rows, blocks = rows[order], blocks[order]
        values = np.empty(len(rows), self.dtype)
        edges = [0, *(np.flatnonzero(blocks[1:] != blocks[:-1]) + 1).tolist(), len(rows)] if len(rows) else [0]
        for start, end in pairwise(edges):
            block, inside = int(blocks[start]), rows[start:end] & BLOCK - 1
            values[start:end] = self._blocks[block].take(inside) if block < len(self._blocks) else self._tail[inside]
        if order is None:
            return values
        numbers = np.empty_like(values)
        numbers[order] = values
        return numbers

    def to_numpy(self) -> np.ndarray:
        """Read all of it.

        Returns:
            A new array.
        """
        numbers = np.empty(len(self), self.dtype)
        for number, block in enumerate(self._blocks):
            block.read_into(numbers[number << BITS:(number + 1) << BITS])
        numbers[len(self._blocks) << BITS:] = self._tail
        return numbers

    def __array__(self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None) -> np.ndarray:
        return self.to_numpy().astype(dtype or self.dtype, copy=False)

    def least(self) -> int:
        """The least number, from what is known of blocks.

        Returns:
            0 where there is none.
        """
        return min([least for _, _, least in self.stretches()], default=0)

    def is_constant(self) -> bool:
        """Whether all of the numbers are the same."""
        leasts = [least for _, _, least in self.stretches()]
        return all(block.most == leasts[0] for block in self._blocks) and len({*leasts, *self._tail.tolist()}) < 2

    def stretches(self) -> Iterator[tuple[int, int, int]]:
        """The blocks and what is behind them.

        Yields:
            First row, row behind the last, least number.
        """
        for number, block in enumerate(self._blocks):
            yield number << BITS, (number + 1) << BITS, block.least
        if len(self._tail):
            yield len(self._blocks) << BITS, len(self), int(self._tail.min())


class GrowingColumn:
    """A column that is appended to. One thread at a time.

    Args:
        dtype: Of the arrays that it gives.
    """

    __slots__ = ('_blocks', '_count', '_dtype', '_tail')

    def __init__(self, dtype: type[np.generic]) -> None:
        self._dtype = np.dtype(dtype)
        self._blocks: list[_Block] = []
        self._tail = np.empty(BLOCK, np.int64)
        self._count = 0

    def append(self, count: int, numbers: np.ndarray | int) -> None:
        """Append numbers.

        Args:
            count: How many.
            numbers: They, or one that all of them are.
        """
        numbers = np.broadcast_to(numbers, count)
        while len(numbers):
            part = numbers[:BLOCK - self._count]
            self._tail[self._count:self._count + len(part)] = part
            self._count += len(part)
            numbers = numbers[len(part):]
            if self._count == BLOCK:
                self._blocks.append(_Block(self._tail))
                # Views that were given out keep the memory that they have.
                self._tail, self._count = np.empty(BLOCK, np.int64), 0

    def view(self) -> TableColumn:
        """The column as it is now.

        Returns:
            A column that does not change.
        """
        return TableColumn(tuple(self._blocks), self._tail[:self._count], self._dtype)
