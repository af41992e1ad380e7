"""Elements of an array that are to be shown, with their indices, as plain data."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LIMIT = 64
"""Elements of a tensor that a card shows."""
FEW = 6
"""Elements of the largest tensor that a line of a list writes out."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of an array, with their indices.

    Attributes:
        shape: Of the array.
        axes: By axis the indices whose elements are here, ascending.
        values: Those elements, one axis for each of `axes`.
        missing: Why there are none, '' if they are here.
    """

    shape: tuple[int, ...] = ()
    axes: tuple[np.ndarray, ...] = ()
    values: np.ndarray | None = None
    missing: str = ''

    @property
    def whole(self) -> bool:
        """Whether all of the array is here."""
        return self.values is not None and self.values.shape == self.shape


def elements_of(array: np.ndarray, limit: int = LIMIT, near: tuple[int, ...] | None = None) -> Elements:
    """Choose the elements of an array to show: both ends of long axes.

    Args:
        array: Of any shape.
        limit: About how many elements at most.
        near: An index whose element is shown too, if it exists.

    Returns:
        The elements, with their indices.
    """
    axes = edge_indices(array.shape, max(1, limit))
    if near is not None and has_index(near, array.shape):
        axes = [np.union1d(axis, [index]) for axis, index in zip(axes, near, strict=True)]
    whole = math.prod(len(indices) for indices in axes) == array.size
    return Elements(array.shape, tuple(axes), array if whole else array[np.ix_(*axes)])


def has_index(index: tuple[int, ...], sizes: Sequence[int]) -> bool:
    """Whether an element of that index exists: one that a trace names need not.

    Args:
        index: One number for each axis.
        sizes: Of the axes.

    Returns:
        False also where the number of axes differs.
    """
    return len(index) == len(sizes) and all(0 <= i < size for i, size in zip(index, sizes, strict=True))


def edge_indices(sizes: Sequence[int], limit: int) -> list[np.ndarray]:
    """Choose indices on each axis: all of them, or both ends of long axes.

    Args:
        sizes: Of the axes.
        limit: About how many elements at most, over all axes.

    Returns:
        For each axis its indices, ascending.
    """
    if math.prod(sizes) <= limit:
        return [np.arange(n) for n in sizes]
    counts = list(sizes)
    while math.prod(counts) > limit and max(counts) > 2:
        axis = max(range(len(counts)), key=counts.__getitem__)
        rest = math.prod(counts) // counts[axis]
        counts[axis] = max(6, limit // rest) if counts[axis] > 6 else 2
    if math.prod(counts) > limit:                 # many axes: only the first element of the outer ones
        for axis in range(len(counts)):
            if math.prod(counts) > limit:
                counts[axis] = 1
    return [np.arange(n) if n == k else np.r_[0:-(-k // 2), n - k // 2:n] for n, k in zip(sizes, counts, strict=True)]
