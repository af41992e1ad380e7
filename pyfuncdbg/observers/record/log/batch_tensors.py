"""Layout of the tensors in a batch of calls: the call of each, and the scalars, which are columns.

Used by the encoder on the writer thread, and by readers.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS

TYPES = tuple(SCALARS.values())
"""Types of the scalars; their codes begin at 1."""
COLUMNED = 255
"""Code of a tensor whose value is in columns."""
_SIZES = np.array([0, *(np.dtype(kind).itemsize for kind in TYPES)], np.int64)
_LARGEST = 1 << 48


class BatchTensors:
    """The tensors of a batch of calls: scalars by type, and descriptions, in the order of the calls.

    Args:
        inputs, outputs: Their numbers by call.
        codes: A code for each tensor, 0 for a description.
        packed: Scalars by code.
    """

    __slots__ = ('bounds', 'codes', 'inputs', 'packed')

    def __init__(self, inputs: np.ndarray, outputs: np.ndarray, codes: np.ndarray, packed: dict[int, np.ndarray]) -> None:
        self.inputs = inputs.astype(np.int64)
        self.bounds = np.concatenate(([0], np.cumsum(self.inputs + outputs)))
        self.codes = codes
        self.packed = packed

    def output_sizes(self, descriptions: list[Any]) -> np.ndarray:
        """Add up the payload bytes of the outputs of each call.

        Args:
            descriptions: All of the batch.

        Returns:
            int64 sums; what a description does not say counts as 0.
        """
        sizes = _SIZES[self.codes]
        sizes[self.codes == 0] = [_size_of_entry(entry) for entry in descriptions]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        return np.asarray(ends[self.bounds[1:]] - ends[self.bounds[:-1] + self.inputs], np.int64)

    def rows_of_bad_scalars(self) -> set[int]:
        """Find NaN and infinite scalars.

        Returns:
            Rows of the calls that hold one.
        """
        rows: set[int] = set()
        for code, numbers in self.packed.items():
            if numbers.dtype.kind in 'fc':
                hits = ~np.isfinite(numbers)
                if hits.any():
                    places = np.flatnonzero(self.codes == code)[hits]
                    rows.update(self._rows(places))
        return rows

    def rows_of_descriptions(self, marks: Sequence[bool]) -> set[int]:
        """Find the calls of marked descriptions.

        Args:
            marks: A mark for each description.

        Returns:
            Rows of the calls that hold one.
        """
        if not any(marks):
            return set()
        return set(self._rows(np.flatnonzero(self.codes == 0)[np.array(marks, bool)]))

    def _rows(self, places: np.ndarray) -> list[int]:
        rows: list[int] = (np.searchsorted(self.bounds, places, 'right') - 1).tolist()
        return rows


def _size_of_entry(entry: Any) -> int:
    size = entry[2] if isinstance(entry, list) and len(entry) > 2 else 0
    return size if type(size) is int and 0 <= size < _LARGEST else 0
