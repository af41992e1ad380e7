"""Difference of two recorded tensors: bit for bit, or within tolerances. Pure."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.observers.debug.inspecting.tensor_differences import distances
from pyfuncdbg.observers.record.dtypes import as_numbers, dtype_name

_UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The deviation that counts as equal: an element passes if one of the two limits holds.

    Attributes:
        rtol, atol: |a - b| <= atol + rtol * |b|.
        ulp: At most this many representable numbers apart; floats only.
    """

    rtol: float = 0.0
    atol: float = 0.0
    ulp: int = 0

    @property
    def exact(self) -> bool:
        """Whether only equal bits are equal."""
        return not (self.rtol or self.atol or self.ulp)


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """The difference of two arrays of one dtype and shape.

    Attributes:
        elements: How many elements differ by more than the tolerance.
        size: How many elements there are.
        first: Index of the first of these in C order.
        values: That element on both sides, as text.
        ulp: Greatest distance of differing elements in units in the last place; None of integers, text, NaN and infinity.
        relative: Greatest relative difference of elements that are finite on both sides; None without such elements.
    """

    elements: int
    size: int
    first: tuple[int, ...]
    values: tuple[str, str]
    ulp: int | None = None
    relative: float | None = None


def value_difference(one: np.ndarray, two: np.ndarray, tolerance: Tolerance) -> ValueDifference | None:
    """Compare two arrays.

    Args:
        one, two: Of the same dtype and shape; any rank.
        tolerance: What counts as equal. NaN equals NaN; 0.0 and -0.0 differ, by 0 ULP.

    Returns:
        The difference; None if all elements are equal.

    Raises:
        ValueError: Dtypes or shapes differ.
    """
    if dtype_name(one.dtype) != dtype_name(two.dtype) or one.shape != two.shape:
        raise ValueError(f'expected arrays of one dtype and shape, got {one.dtype}{list(one.shape)} and '
                         f'{two.dtype}{list(two.shape)}')
    numbers = as_numbers(one), as_numbers(two)
    if numbers[0] is None or numbers[1] is None:
        unequal = np.asarray(one != two, bool).reshape(one.shape)
        return _described(one, two, unequal, None, None) if unequal.any() else None
    unequal = _unequal(numbers[0], numbers[1])
    if not unequal.any():
        return None
    ulps = _ulps(numbers[0], numbers[1])
    apart = distances(numbers[0], numbers[1])
    with np.errstate(all='ignore'):
        size = np.abs(numbers[1].astype(np.complex128 if numbers[1].dtype.kind == 'c' else np.float64))
        if not tolerance.exact:
            near = apart <= tolerance.atol + tolerance.rtol * size
            if ulps is not None and tolerance.ulp:
                near |= ulps <= tolerance.ulp
            unequal &= ~(near & np.isfinite(apart))
            if not unequal.any():
                return None
        relative = apart / size
    finite = unequal & np.isfinite(apart)
    known = finite & np.isfinite(relative)
    return _described(one, two, unequal, int(ulps[finite].max()) if ulps is not None and finite.any() else None,
                      float(relative[known].max()) if known.any() else None)


def _unequal(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Where elements are not the same number, or zeros of another sign."""
    unequal = (one != two) & ~((one != one) & (two != two))
    if one.dtype.kind == 'f':
        unequal |= (one == 0) & (two == 0) & (np.signbit(one) != np.signbit(two))
    return np.asarray(unequal)


def _ulps(one: np.ndarray, two: np.ndarray) -> np.ndarray | None:
    """Distances in representable numbers: floats in the order of their bits, negative ones reversed; both zeros are one."""
    kind = _UNSIGNED.get(one.dtype.itemsize) if one.dtype.kind == 'f' else None
    if kind is None:
        return None
    sign = kind(1 << (one.dtype.itemsize * 8 - 1))
    ranks = []
    for array in (one, two):
        bits = np.ascontiguousarray(array).reshape(array.shape).view(kind)
        ranks.append(np.where(bits & sign, sign - (bits & ~sign), bits | sign))
    return np.asarray(np.where(ranks[0] > ranks[1], ranks[0] - ranks[1], ranks[1] - ranks[0]))


def _described(one: np.ndarray, two: np.ndarray, unequal: np.ndarray, ulp: int | None,
               relative: float | None) -> ValueDifference:
    first = tuple(int(place) for place in np.unravel_index(int(np.argmax(unequal)), unequal.shape))
    return ValueDifference(int(np.count_nonzero(unequal)), one.size, first, (_text(one[first]), _text(two[first])), ulp,
                           relative)


def _text(element: object) -> str:
    return (repr(element.item()) if isinstance(element, np.generic) and element.dtype.kind not in 'fc'
            else str(element) if isinstance(element, np.generic) else repr(element))[:200]
