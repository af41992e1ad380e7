"""`tf.compat.v1.ragged.RaggedTensorValue`: ragged tensors of NumPy arrays, as fetches and feeds of sessions."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


class RaggedTensorValue:
    """The value of a `RaggedTensor`.

    Args:
        values: The rows one after the other: an array, or a `RaggedTensorValue` of inner rows.
        row_splits: The start of each row, and the end of the last.

    Raises:
        TypeError: An argument has another type.
        ValueError: The splits of rows and inner rows differ in dtype.
    """

    __slots__ = ('row_splits', 'values')
    values: Any
    row_splits: np.ndarray[Any, Any]

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not (isinstance(row_splits, np.ndarray) and row_splits.dtype in (np.int64, np.int32) and row_splits.ndim == 1):
            raise TypeError('row_splits must be a 1D int32 or int64 numpy array')
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError('values must be a numpy array or a RaggedTensorValue')
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError('row_splits and values.row_splits must have the same dtype')
        self.values = values
        self.row_splits = row_splits

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the elements."""
        return self.values.dtype

    @property
    def flat_values(self) -> Any:
        """The innermost array."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all levels, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of levels."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes, None where rows differ."""
        return (self.row_splits.shape[0] - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """The rows as nested lists."""
        inner = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        return [inner[start:end] for start, end in pairwise(self.row_splits)]

    def __str__(self) -> str:
        return f'<tf.RaggedTensorValue {self.to_list()}>'

    def __repr__(self) -> str:
        return f'tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})'


def nested(flat_values: Any, splits: Any) -> Any:
    """The value of an innermost array and the splits of all levels, outermost first."""
    for row_splits in reversed(splits):
        flat_values = RaggedTensorValue(flat_values, row_splits)
    return flat_values


class RaggedFetch:
    """A ragged tensor among the fetches of a run, whose tensors `nest` replaces by values."""

    __slots__ = ('flat_values', 'splits')

    def __init__(self, flat_values: Any, splits: tuple[Any, ...]) -> None:
        self.flat_values = flat_values
        self.splits = splits

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return (), (self.flat_values, *self.splits)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, parts: Any) -> Any:
        return nested(parts[0], parts[1:])
