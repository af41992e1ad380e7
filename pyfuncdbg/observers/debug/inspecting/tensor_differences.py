"""Differences between two moments of a run, tensor by tensor, after `swap` and `retry`. On the stopped thread."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import Host, RunView
from pyfuncdbg.observers.record.dtypes import as_numbers, dtype_name


@dataclass(frozen=True, slots=True)
class Difference:
    """A tensor before and after.

    Attributes:
        tensor: Its name.
        dtypes, shapes: Before and after.
        elements: How many elements differ; -1 if dtype or shape do.
        greatest: Greatest absolute difference among elements that are finite in both; None if there are none.
        bad: How many were not finite before, and are after.
        first: Index of the first element that differs, in C order.
        at: Index of the greatest difference.
    """

    tensor: str
    dtypes: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    elements: int
    greatest: float | None
    bad: tuple[int, int]
    first: tuple[int, ...] | None = None
    at: tuple[int, ...] | None = None

    @property
    def same(self) -> bool:
        """Whether nothing is different."""
        return self.elements == 0


def copied_values(view: RunView, host: Host, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The values of those tensors that are there, copied."""
    return {name: np.array(host.to_numpy(view.value(name))) for name in names if name and view.holds(name)}


def copied_outputs(host: Host, names: Sequence[str], values: Sequence[Any]) -> dict[str, np.ndarray]:
    """Outputs of a call by name, copied."""
    return {names[i] if i < len(names) else f'out{i}': np.array(host.to_numpy(value)) for i, value in enumerate(values)}


def differences(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> tuple[Difference, ...]:
    """Tensor by tensor, those that are in both."""
    return tuple(difference(name, one, after[name]) for name, one in before.items() if name in after)


def difference(name: str, one: np.ndarray, two: np.ndarray) -> Difference:
    """One tensor, before and after; NaN is the same as NaN."""
    dtypes, shapes = (dtype_name(one.dtype), dtype_name(two.dtype)), (one.shape, two.shape)
    bad = (_bad(one), _bad(two))
    if dtypes[0] != dtypes[1] or one.shape != two.shape:
        return Difference(name, dtypes, shapes, -1, None, bad)
    numbers = as_numbers(one), as_numbers(two)
    if numbers[0] is None or numbers[1] is None:
        other = np.asarray(one != two, bool).reshape(one.shape)
        return Difference(name, dtypes, shapes, int(other.sum()), None, bad, _first(other))
    before, after = numbers[0], numbers[1]
    other = ~((before == after) | ((before != before) & (after != after)))
    gaps = distances(before, after)
    finite = np.isfinite(gaps)
    at = tuple(map(int, np.unravel_index(np.argmax(np.where(finite, gaps, -1)), gaps.shape))) if finite.any() else None
    return Difference(name, dtypes, shapes, int(np.count_nonzero(other)), float(gaps[at]) if at is not None else None,
                      bad, _first(other), at)


def distances(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Absolute differences of numbers of one shape, as float64; what is infinite on both sides has none."""
    wide = np.complex128 if before.dtype.kind == 'c' else np.float64
    with np.errstate(all='ignore'):
        return np.asarray(np.abs(after.astype(wide) - before.astype(wide)))


def _first(other: np.ndarray) -> tuple[int, ...] | None:
    return tuple(map(int, np.unravel_index(int(np.argmax(other)), other.shape))) if other.any() else None


def _bad(array: np.ndarray) -> int:
    numbers = as_numbers(array)
    return int(array.size - np.count_nonzero(np.isfinite(numbers))) if numbers is not None else 0
