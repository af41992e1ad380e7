"""Summary statistics of one array: tfdbg's categories, and statistics of the finite elements only.

Called by the recorder's writer thread for tensors whose bytes are not kept, and by readers for all others. Warns never.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyfuncdbg.record.dtypes import as_numbers
from pyfuncdbg.record.records import Stats

BINS = 20
"""Bins of a histogram."""

# Its temporaries stay in the cache and in memory that malloc hands out warm: three times faster than a million at once.
_CHUNK = 1 << 14
# Beyond this, and below its inverse, squares of finite doubles may overflow or vanish.
_SAFE = 1e150


def stats_of(array: np.ndarray) -> Stats | None:
    """Summarise an array of any shape; None for types that are neither numbers, bool nor text.

    Counts are exact. Mean and standard deviation (of the population) are computed in float64 after a shift by the mean;
    values near the end of the float64 range are scaled first, so that they do not overflow.
    """
    if array.dtype.kind in 'bSUTO':
        return Stats(array.size)
    with np.errstate(all='ignore'):
        numbers = as_numbers(array)
        if numbers is None:
            return None
        return _single(numbers) if numbers.size == 1 else _summary(numbers)


def all_finite(array: np.ndarray) -> bool:
    """Whether no element is NaN or infinite. A finite sum proves it and costs a third of looking at each element."""
    if array.dtype.kind in 'iubSUTOmM':
        return True
    with np.errstate(all='ignore'):
        numbers = as_numbers(array)
        return numbers is None or bool(np.isfinite(numbers.sum())) or bool(np.isfinite(numbers).all())


def _single(array: np.ndarray) -> Stats:
    """One element, in plain Python: most recorded tensors are scalars, and array functions cost 1 µs each."""
    value: Any = array.item()
    index = (0,) * array.ndim
    if isinstance(value, complex):
        value = math.nan if value != value else _magnitude(value)
    if value != value:
        return Stats(1, nan=1, first_bad=index)
    if value in (math.inf, -math.inf):
        return Stats(1, pos_inf=1, first_bad=index) if value > 0 else Stats(1, neg_inf=1, first_bad=index)
    number = value if isinstance(value, int) else float(value)
    bins = (0,) * (BINS // 2) + (1,) + (0,) * (BINS - BINS // 2 - 1)
    return Stats(1, neg=int(number < 0), zero=int(number == 0), pos=int(number > 0), min=number, max=number,
                 mean=float(number), std=0.0, histogram=bins)


def _magnitude(value: complex) -> float:
    try:
        return abs(value)
    except OverflowError:
        return np.finfo(np.float64).max.item()


def _summary(array: np.ndarray) -> Stats:
    flat = array.reshape(-1)
    is_complex = array.dtype.kind == 'c'
    nan = neg_inf = neg = zero = pos_inf = count = 0
    low: Any = None
    high: Any = None
    first_bad: tuple[int, ...] | None = None
    for start in range(0, flat.size, _CHUNK):
        raw = flat[start:start + _CHUNK]
        finite = raw
        if raw.dtype.kind in 'fc' and not np.isfinite(raw.sum()):
            good = np.isfinite(raw)
            if not good.all():
                bad = raw[~good]
                here = int(np.isnan(bad).sum())
                negative = 0 if is_complex else int((bad == -np.inf).sum())
                nan, neg_inf, pos_inf = nan + here, neg_inf + negative, pos_inf + len(bad) - here - negative
                if first_bad is None:
                    first_bad = tuple(int(i) for i in np.unravel_index(start + int(np.argmin(good)), array.shape))
                finite = raw[good]
        if finite.size:
            finite = _magnitudes(finite)
            least, most = finite.min().item(), finite.max().item()
            low = least if low is None or least < low else low
            high = most if high is None or most > high else high
            neg += int(np.count_nonzero(finite < 0)) if least < 0 else 0
            zero += int(np.count_nonzero(finite == 0)) if least <= 0 <= most else 0
            count += finite.size
    if not count:
        return Stats(flat.size, nan, neg_inf, 0, 0, 0, pos_inf, first_bad=first_bad)
    mean, std, histogram = _moments(flat, first_bad is not None, count, low, high)
    return Stats(flat.size, nan, neg_inf, neg, zero, count - neg - zero, pos_inf, low, high, mean, std, histogram, first_bad)


def _magnitudes(finite: np.ndarray) -> np.ndarray:
    if finite.dtype.kind != 'c':
        return finite
    return np.minimum(np.abs(finite.astype(np.complex128)), np.finfo(np.float64).max)


def _moments(flat: np.ndarray, has_bad: bool, count: int, low: Any, high: Any) -> tuple[float, float, tuple[int, ...]]:
    """Mean, standard deviation and histogram of the finite elements, given their number and range."""
    largest = max(abs(float(low)), abs(float(high)))
    scale = largest if largest > _SAFE or 0 < largest < 1 / _SAFE else 1.0
    total = 0.0
    pieces = range(0, flat.size, _CHUNK)
    one_piece = _doubles(flat, has_bad, scale) if len(pieces) == 1 else None
    for start in pieces:
        total += float((_doubles(flat[start:start + _CHUNK], has_bad, scale) if one_piece is None else one_piece).sum())
    mean = total / count
    bottom, width = float(low) / scale, float(high) / scale - float(low) / scale
    squares = 0.0
    bins = np.zeros(BINS, np.int64)
    for start in pieces:
        values = _doubles(flat[start:start + _CHUNK], has_bad, scale) if one_piece is None else one_piece
        shifted = values - mean
        squares += float((shifted * shifted).sum())
        if width > 0:
            place = ((values - bottom) / width * BINS).astype(np.int64)
            bins += np.bincount(np.minimum(place, BINS - 1), minlength=BINS)
    if width <= 0:
        bins[BINS // 2] = count
    # Rounding must not put the mean outside of the range it is the mean of.
    mean = min(max(mean * scale, float(low)), float(high))
    return mean, math.sqrt(squares / count) * scale if width > 0 else 0.0, tuple(bins.tolist())


def _doubles(piece: np.ndarray, has_bad: bool, scale: float) -> np.ndarray:
    if has_bad:
        piece = piece[np.isfinite(piece)]
    doubles = _magnitudes(piece).astype(np.float64, copy=False)
    return doubles if scale == 1.0 else doubles / scale
