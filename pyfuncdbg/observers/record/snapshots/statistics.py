"""Summary statistics of one array: tfdbg's categories, and statistics of the finite elements only.

Called by the recorder's writer thread for tensors whose bytes are not kept, and by readers for all others. Warns never.
Computed by `array_pass` where that was compiled, else by NumPy: a fifth of the time.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.value_placeholders import OCTAVES, LaterSummary, ValueSummary
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.histogram import BINS
from pyfuncdbg.observers.record.records import Stats

_fill_rows: Callable[..., list[int]] | None
_find_bad: Callable[..., list[int]] | None
try:
    from pyfuncdbg.observers.record.snapshots import array_pass  # type: ignore[attr-defined,unused-ignore]
except ImportError:                             # no C compiler
    _fill_rows = _find_bad = None
else:
    _fill_rows, _find_bad = array_pass.fill_rows, array_pass.find_bad

COUNTS = ('size', 'nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf')


def row_type(bins: int) -> np.dtype[Any]:
    """The type of a row of statistics.

    Args:
        bins: Of its histogram.

    Returns:
        As `ROW`.
    """
    return np.dtype([*((name, '<i8') for name in (*COUNTS, 'first_bad', 'min', 'max')), ('mean', '<f8'), ('std', '<f8'),
                     ('bins', '<u4', bins)])


ROW = row_type(BINS)
"""Statistics of an array as numbers: `first_bad` is flat, -1 for none; `min` and `max` are bits of a double, for arrays of
integers of an integer. Where no element is finite, those and what follows them are 0."""

_END_TYPES = {'i': '<i8', 'u': '<u8', 'b': '<i8'}
IN_ROWS = '?bhilqBHILQefdFD' if sys.byteorder == 'little' else ''
"""Characters of the types whose numbers fit into 64 bits, and that a log holds as they are."""
# Its temporaries stay in the cache and in memory that malloc hands out warm: three times faster than a million at once.
_CHUNK = 1 << 14
# Beyond this, and below its inverse, squares of finite doubles may overflow or vanish.
_SAFE = 1e150


def stats_of(array: np.ndarray) -> Stats | None:
    """Summarise an array.

    Counts are exact. Mean and standard deviation (of the population) are computed in float64 after a shift by the first
    element; values near the end of the float64 range are scaled first, so that they do not overflow.

    Args:
        array: Of any shape and type.

    Returns:
        The summary; None for types that are neither numbers, bool nor text, and where another thread is writing to it.
    """
    if array.dtype.kind in 'bSUTO':
        return Stats(array.size)
    with np.errstate(all='ignore'):
        numbers = as_numbers(array)
        if numbers is None:
            return None
        try:
            if numbers.size == 1:
                return _single(numbers)
            if _fill_rows is not None:
                rows = np.zeros(1, ROW)
                if not _fill_rows([numbers], rows):
                    return stats_of_row(rows[0], numbers.dtype.kind, numbers.shape)
            return _summary(numbers)
        except ValueError:                      # a number outside of the range of all of them: another thread writes to it
            return None


def stats_of_summary(value: ValueSummary) -> Stats:
    """The statistics of a value that its host has counted.

    Args:
        value: The counts.
    """
    return Stats(value.size, value.nan, value.neg_inf, value.neg, value.zero, value.pos, value.pos_inf, value.min, value.max,
                 value.mean, value.std, value.histogram, value.first_bad)


def stats_of_later(later: LaterSummary) -> Stats | None:
    """The statistics of a value on a device, which are waited for.

    Args:
        later: Gives its counts, or its elements.

    Returns:
        The statistics; None where the device has failed to make them.
    """
    counted = later.counted()
    return stats_of(counted) if isinstance(counted, np.ndarray) else None if counted is None else stats_of_summary(counted)


def rows_of(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Summarise many arrays together: for those of the usual types a tenth of the work of as many calls of `stats_of`.

    Args:
        arrays: Of types whose statistics `has_row` says are numbers.

    Returns:
        As many of `ROW`; the row of an array that another thread is writing to may have a size of -1: it has no statistics.
    """
    rows = np.zeros(len(arrays), ROW)
    left = range(len(arrays)) if _fill_rows is None else _fill_rows(list(arrays), rows)
    for place in left:
        stats = stats_of(arrays[place])
        rows[place] = _row_of(stats, arrays[place]) if stats is not None else (-1, *[0] * 11, [0] * BINS)
    return rows


def have_bad(arrays: Sequence[np.ndarray]) -> list[bool]:
    """Whether each of many arrays has a NaN or infinity.

    Args:
        arrays: Of types that have a row.

    Returns:
        In their order.
    """
    marks = [-1] * len(arrays) if _find_bad is None else _find_bad(list(arrays))
    return [mark > 0 if mark >= 0 else not all_finite(array) for mark, array in zip(marks, arrays, strict=True)]


def has_row(dtype: np.dtype[Any]) -> bool:
    """Whether the statistics of arrays of a type fit into a `ROW`.

    Args:
        dtype: Of arrays.

    Returns:
        False for text, dates, and types of extensions.
    """
    return dtype.char in IN_ROWS and dtype.isnative


def _row_of(stats: Stats, array: np.ndarray) -> tuple[Any, ...]:
    bad = -1 if stats.first_bad is None else int(np.ravel_multi_index(stats.first_bad, array.shape)) if array.ndim else 0
    counts = [getattr(stats, name) for name in COUNTS]
    if stats.min is None or stats.max is None:
        return (*counts, bad, 0, 0, 0.0, 0.0, [0] * BINS)
    ends = np.array([stats.min, stats.max], _END_TYPES.get(array.dtype.kind, '<f8')).view('<i8').tolist()
    return (*counts, bad, *ends, stats.mean, stats.std, stats.histogram)


def stats_of_row(row: Any, kind: str, shape: tuple[int, ...]) -> Stats:
    """The statistics of one row.

    Args:
        row: An element of an array of `ROW`.
        kind: `dtype.kind` of the array.
        shape: Of the array.

    Returns:
        The statistics.
    """
    size, nan, neg_inf, neg, zero, pos, pos_inf, bad, low, high, mean, std, bins = row.item()
    first_bad = None if bad < 0 else tuple(int(i) for i in np.unravel_index(bad, shape))
    if not neg + zero + pos:
        return Stats(size, nan, neg_inf, pos_inf=pos_inf, first_bad=first_bad)
    low, high = np.array([low, high], '<i8').view(_END_TYPES.get(kind, '<f8')).tolist()
    histogram = tuple(np.asarray(bins).tolist())
    return Stats(size, nan, neg_inf, neg, zero, pos, pos_inf, low, high, mean, std, histogram, first_bad)


def all_finite(array: np.ndarray) -> bool:
    """Whether no element is NaN or infinite.

    For NumPy a finite sum proves it, and costs a third of looking at each element.

    Args:
        array: Of any shape and type.

    Returns:
        True also for types without such values.
    """
    if array.dtype.kind in 'iubSUTOmM':
        return True
    if _find_bad is not None:
        (mark,) = _find_bad([array])
        if mark >= 0:
            return not mark
    with np.errstate(all='ignore'):
        numbers = as_numbers(array)
        return numbers is None or _has_finite_sum(numbers.reshape(-1)) or bool(np.isfinite(numbers).all())


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
    bins = (int(number < 0),) + (0,) * (BINS - 2) + (int(number > 0),)
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
        piece = flat[start:start + _CHUNK]
        finite = _magnitudes(piece) if is_complex else piece
        # Both are NaN if one element is, and show an infinity: rare values need no pass of their own.
        least, most = np.minimum.reduce(finite).item(), np.maximum.reduce(finite).item()
        if not (math.isfinite(least) and math.isfinite(most)):
            good = np.isfinite(piece)
            bad = piece[~good]
            here = int(np.isnan(bad).sum())
            negative = 0 if is_complex else int((bad == -np.inf).sum())
            nan, neg_inf, pos_inf = nan + here, neg_inf + negative, pos_inf + len(bad) - here - negative
            if first_bad is None:
                first_bad = tuple(int(i) for i in np.unravel_index(start + int(np.argmin(good)), array.shape))
            finite = finite[good]
            if not finite.size:
                continue
            least, most = np.minimum.reduce(finite).item(), np.maximum.reduce(finite).item()
        low = least if low is None or least < low else low
        high = most if high is None or most > high else high
        neg += int(np.count_nonzero(finite < 0)) if least < 0 else 0
        zero += int(np.count_nonzero(finite == 0)) if least <= 0 <= most else 0
        count += finite.size
    if not count:
        return Stats(flat.size, nan, neg_inf, 0, 0, 0, pos_inf, first_bad=first_bad)
    pos = count - neg - zero
    mean, std, histogram = _moments(flat, first_bad is not None, count, low, high, (neg, pos))
    return Stats(flat.size, nan, neg_inf, neg, zero, pos, pos_inf, low, high, mean, std, histogram, first_bad)


def _has_finite_sum(piece: np.ndarray) -> bool:
    """Proves that no element is NaN or infinite; false may also mean that the sum overflows."""
    total: Any = np.add.reduce(piece).item()
    return bool(total - total == 0)


def _magnitudes(piece: np.ndarray) -> np.ndarray:
    """The magnitudes of complex numbers; one beyond the range of a double counts as the largest, bad elements stay bad."""
    if piece.dtype.kind != 'c':
        return piece
    doubles = piece.astype(np.complex128)
    if piece.dtype == np.complex64:             # no square of theirs overflows; the compiled pass rounds like this
        magnitudes: np.ndarray = np.sqrt(doubles.real * doubles.real + doubles.imag * doubles.imag)
    else:
        magnitudes = np.minimum(np.abs(doubles), np.finfo(np.float64).max)
    magnitudes[~np.isfinite(doubles)] = np.nan
    return magnitudes


def _moments(flat: np.ndarray, has_bad: bool, count: int, low: Any, high: Any,
             signs: tuple[int, int]) -> tuple[float, float, tuple[int, ...]]:
    """Mean, standard deviation and histogram of the finite elements, given their number, range, and number by sign.

    Moments are those about the first element. That shift loses no digits that matter: no element is further from the mean
    than sqrt(count - 1) standard deviations.
    """
    bottom, top = float(low), float(high)
    largest = max(abs(bottom), abs(top))
    scale = -math.frexp(largest)[1] if largest > _SAFE or 0 < largest < 1 / _SAFE else 0
    exponent = math.frexp(largest)[1] + scale
    total = squares = shift = 0.0
    is_first = True
    table: Any = 0
    for start in range(0, flat.size, _CHUNK):
        doubles = _doubles(flat[start:start + _CHUNK], has_bad, scale)
        if not doubles.size:
            continue
        # The sign and the biased exponent.
        table = table + np.bincount((doubles.view(np.uint64) >> 52).astype(np.intp), minlength=1 << 12)
        if is_first:
            shift, is_first = doubles[0].item(), False
        doubles -= shift
        total += np.add.reduce(doubles).item()
        squares += np.dot(doubles, doubles).item()
    offset = total / count
    # Rounding must not put the mean outside of the range it is the mean of.
    mean = min(max(math.ldexp(shift + offset, -scale), bottom), top)
    std = math.ldexp(math.sqrt(max(squares / count - offset * offset, 0.0)), -scale)
    return mean, std, _bins(table, exponent + _BIAS if largest else 0, *signs)


_BIAS = 1022
"""Of the exponent of a double, as `frexp` has it."""


def _bins(table: np.ndarray, top: int, negative: int, positive: int) -> tuple[int, ...]:
    """The histogram, given the elements by sign and biased exponent, the largest of these, and how many are < 0 and > 0."""
    sides = []
    for first, number in ((1 << 11, negative), (0, positive)):
        counts = table[first + max(top - OCTAVES + 2, 1):first + top + 1][::-1].tolist()
        counts += [0] * (OCTAVES - 1 - len(counts))
        sides.append([*counts, number - sum(counts)])
        if sides[-1][-1] < 0:
            raise ValueError('more elements than there were')
    return (*sides[0], *reversed(sides[1]))


def _doubles(piece: np.ndarray, has_bad: bool, scale: int) -> np.ndarray:
    """A new array of the finite elements (complex: magnitudes), times two to the power of `scale`."""
    if has_bad:
        piece = piece[np.isfinite(piece)]
    doubles = _magnitudes(piece).astype(np.float64)
    return np.ldexp(doubles, scale) if scale else doubles
