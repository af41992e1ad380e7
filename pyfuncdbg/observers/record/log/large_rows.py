"""Statistics of large arrays in the queue.

What one batch of ops has made is an input of the next, in a record of its own. Kept and found by the writer's thread.
"""
from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np


class LargeRows:
    """Statistics of large arrays, by their identity."""

    __slots__ = ('_rows',)

    def __init__(self) -> None:
        self._rows: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    def find(self, array: np.ndarray) -> np.ndarray | None:
        """Find the row of an array.

        Args:
            array: In the queue.

        Returns:
            The row; None if it is not known.
        """
        entry = self._rows.get(id(array))
        return entry[1] if entry is not None and entry[0]() is array else None

    def keep(self, array: np.ndarray, row: np.ndarray) -> None:
        """Keep the row of an array until it is freed, or nothing in the queue has it.

        Args:
            array: In the queue.
            row: Its statistics.
        """
        key = id(array)
        self._rows[key] = weakref.ref(array, lambda _: self._rows.pop(key, None)), row.copy()

    def forget(self, values: list[Any]) -> None:
        """Forget those of arrays that nothing but this list refers to: the host will write into them.

        Args:
            values: Of a batch that leaves the queue.
        """
        for value in values if self._rows else ():
            if type(value) is np.ndarray and sys.getrefcount(value) <= _SOLE:
                self._rows.pop(id(value), None)


large_rows = LargeRows()


def _references(values: list[Any]) -> int:
    for value in values:
        return sys.getrefcount(value)
    return 0


_SOLE = _references([object()])
"""What `sys.getrefcount` gives for an element that only its list and the loop over it refer to."""
