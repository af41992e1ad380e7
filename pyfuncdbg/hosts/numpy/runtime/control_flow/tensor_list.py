"""Immutable list of values as one value of a graph, for TensorArrays and loops.

Kernels make and read it, on the thread of the run. Lists are immutable: a write returns a new list, and the old one
stays. The newest version owns the cells, so that a chain of writes costs one cell each (Baker, "Shallow binding
makes functional arrays fast", 1991).
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError


class TensorList:
    """An immutable list; a cell without a value is None, which counts as zero.

    Attributes:
        size: The number of cells.
    """

    __slots__ = ('_cells', '_newer', 'size')
    shape = ()
    ndim = 0
    dtype = np.dtype(object)

    def __init__(self, cells: list[Any]) -> None:
        self._cells = cells
        self._newer: tuple[int, Any, TensorList] | None = None     # (cell, its value here, the version that wrote it)
        self.size = len(cells)

    def get(self, index: int) -> Any:
        """One cell."""
        version = self
        while version._newer is not None:
            cell, value, newer = version._newer
            if cell == index:
                return value
            version = newer
        return version._cells[index]

    def items(self) -> list[Any]:
        """All cells."""
        version, versions = self, []
        while version._newer is not None:
            versions.append(version._newer)
            version = version._newer[2]
        cells = version._cells[:version.size]
        for cell, value, _ in reversed(versions):
            if cell >= 0:
                cells[cell] = value
        return cells[:self.size]

    def replaced(self, index: int, value: Any) -> TensorList:
        """The list with another value in one cell."""
        if self._newer is not None:                 # an old version: a write to it copies the cells
            cells = self.items()
            cells[index] = value
            return TensorList(cells)
        newer = self._passed_on(index, self._cells[index])
        newer._cells[index] = value
        return newer

    def pushed(self, values: Iterable[Any]) -> TensorList:
        """The list with more cells at its end."""
        if self._newer is not None:
            return TensorList([*self.items(), *values])
        newer = self._passed_on(-1, None)
        newer._cells.extend(values)
        newer.size = len(newer._cells)
        return newer

    def _passed_on(self, cell: int, value: Any) -> TensorList:
        """Create a new version that owns the cells."""
        newer = TensorList(self._cells)
        self._newer = cell, value, newer
        self._cells = []
        return newer

    def zeros(self) -> TensorList:
        """A list of zeros like its cells; empty cells stay empty."""
        return TensorList([zero_of(value) for value in self.items()])

    def __add__(self, other: TensorList) -> TensorList:
        """Cellwise sum.

        Raises:
            InvalidArgumentError: Their lengths differ.
        """
        if self.size != other.size:
            raise InvalidArgumentError(None, None, f'Trying to add two lists of tensors with different lengths, one is '
                                                   f'{self.size} and the other is {other.size}')
        return TensorList([b if a is None else a if b is None else a + b
                           for a, b in zip(self.items(), other.items(), strict=True)])

    def __repr__(self) -> str:
        return f'<list of {self.size} values>'


def zero_of(value: Any) -> Any:
    """A gradient of zero: zeros of a value's shape and dtype; for a variable those of its content."""
    if value is None:
        return None
    if isinstance(value, TensorList):
        return value.zeros()
    if not hasattr(value, 'dtype'):
        value = value.value
    if value.dtype.hasobject:
        return np.full(value.shape, b'', object)
    return np.zeros(value.shape, value.dtype) if value.ndim else value.dtype.type(0)
