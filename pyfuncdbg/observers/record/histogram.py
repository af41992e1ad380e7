"""Histogram of the statistics of a tensor: how many elements there are by sign and power of two.

Bins that do not depend on the range of the elements are counted in the pass that finds it. Stored are the counts alone;
views draw them as bars, from the least element to the greatest. Traces of version 8 and before have equal bins.
"""
from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from pyfuncdbg.hooks.value_placeholders import OCTAVES

BINS = 2 * OCTAVES
"""Bins of a histogram: of the negative elements from the largest magnitude on, then of the positive up to the largest."""
EQUAL_BINS = 20
"""Bins of a histogram of version 8 and before."""
_LARGEST = sys.float_info.max


class Bar(NamedTuple):
    """One bar of a histogram: so many elements from `low` to `high`; that of zeros has no width."""

    low: float
    high: float
    elements: int


def bars(counts: Sequence[int], low: float | None, high: float | None, zeros: int) -> list[Bar]:
    """The bars of a histogram, from the least element to the greatest.

    Args:
        counts: In bins, as they are stored.
        low, high: The least and the greatest finite element; None if there is none.
        zeros: How many elements are 0.

    Returns:
        The bars, whose edges are powers of two, the two outer ones `low` and `high`. Empty if there are none.
    """
    if low is None or high is None or not counts:
        return []
    if len(counts) != BINS:
        return _equal_bars(counts, low, high)
    if not -_LARGEST <= low <= high <= _LARGEST:            # of a damaged trace
        return []
    least, most = float(low), float(high)       # integers of many digits are in the bin of the double next to them
    largest = math.frexp(max(abs(least), abs(most)))[1]
    # Around 0 there is no bar for what neither sign has.
    last = max([k for k in range(OCTAVES) if counts[k] or counts[BINS - 1 - k]], default=0)
    edges = [*(_power(largest - k) for k in range(OCTAVES)), 0.0]
    negative = [Bar(-edges[k], -edges[k + 1], counts[k]) for k in range(last + 1)]
    positive = [Bar(edges[k + 1], edges[k], counts[BINS - 1 - k]) for k in reversed(range(last + 1))]
    inside = [bar for bar in negative if bar.low < most and bar.high >= least and least < 0]
    if least <= 0 <= most:
        inside.append(Bar(0.0, 0.0, zeros))
    inside += [bar for bar in positive if bar.low <= most and bar.high > least and most > 0]
    inside[0] = inside[0]._replace(low=low)
    inside[-1] = inside[-1]._replace(high=high)
    return inside


def _power(exponent: int) -> float:
    return math.ldexp(1.0, exponent) if exponent < 1024 else math.inf


def _equal_bars(counts: Sequence[int], low: float, high: float) -> list[Bar]:
    edges = [low + (high - low) * (at / len(counts)) for at in range(len(counts) + 1)]
    return [Bar(left, right, count) for (left, right), count in zip(itertools.pairwise(edges), counts, strict=True)]
