"""Distances of tensors and of printed numbers, and tolerances for differences in the last bits.

Asked by `result_list` and `verify` for what TensorFlow computes node by node instead of in one go. Pure.
"""
from __future__ import annotations

import math
import re
from typing import Any

import ml_dtypes
import numpy as np

_NUMBER = re.compile(r'(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?(?![\w])')
"""A number with a point or an exponent: whole numbers have no last bits."""
_NUMBER_IN_SPACE = re.compile(rf'\s*{_NUMBER.pattern}\s*')


def tolerance(dtype: np.dtype) -> float:
    """The distance up to which values are the same but for their last bits.

    Returns:
        The square root of the dtype's epsilon, below which the first half of the significand is the same; 0.0 for what is no
        floating-point type.
    """
    try:
        return math.sqrt(_limits(dtype).eps)
    except ValueError:
        return 0.0


def _limits(dtype: np.dtype) -> Any:
    return ml_dtypes.finfo(dtype)                       # type: ignore[no-untyped-call]


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two elements, as a share of the largest magnitude in both arrays.

    Returns:
        0.0 for equal ones; infinity where an element is NaN or infinite in only one of them, or the dtype has no last bits.

    Args:
        one, other: Of one dtype and shape.
    """
    if np.array_equal(one, other):
        return 0.0
    if not tolerance(one.dtype):
        return math.inf
    wide = np.complex128 if one.dtype.kind == 'c' else np.float64
    a, b = one.astype(wide), other.astype(wide)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return math.inf
    a, b = a[finite], b[finite]
    if not a.size:
        return 0.0
    with np.errstate(all='ignore'):
        scale = max(float(np.abs(a).max()), float(np.abs(b).max()), float(_limits(one.dtype).tiny))
        return float(np.abs(a / scale - b / scale).max())


def text_distance(one: str, other: str) -> float:
    """The distance of the numbers of two texts, as a share of their size; infinity where anything else differs.

    A number that is printed with few digits may be rounded the other way: one unit of its last place is no distance.
    """
    if _around_numbers(one) != _around_numbers(other):
        return math.inf
    return max((_between(a, b) for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)), default=0.0)


def _around_numbers(text: str) -> str:
    """A text without its numbers and the space that aligns them, which is more where one has fewer digits."""
    return _NUMBER_IN_SPACE.sub('#', text)


def _between(one: str, other: str) -> float:
    a, b = float(one), float(other)
    gap, scale = abs(a - b), max(abs(a), abs(b))
    if a == b or gap <= 1.01 * min(_unit(one), _unit(other)):
        return 0.0
    return gap / scale if math.isfinite(gap) else math.inf


def _unit(text: str) -> float:
    """The value of one unit in the last printed place: 0.001 of '1.250'."""
    digits, _, exponent = text.lower().partition('e')
    try:
        return 10.0 ** (int(exponent or 0) - len(digits.partition('.')[2]))
    except OverflowError:
        return 0.0
