"""A histogram on one line: '0 |#_______##| 1.43', one bar for each power of two."""
from __future__ import annotations

from collections.abc import Sequence

from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.ui.views.units import value

BLOCKS = '▁▂▃▄▅▆▇█'
ASCII = '_.:-=+*#'


def bar(counts: Sequence[int], width: int = 0, *, ascii_only: bool = False) -> str:
    """One character a bin: a blank for an empty bin, otherwise the higher the more.

    Args:
        counts: Elements in each bin.
        width: At most so many bins; neighbours are added up. 0: one character for each.
        ascii_only: For consoles without block characters.
    """
    bins = _merge([max(0, c) for c in counts], width)
    top = max(bins, default=0)
    marks = ASCII if ascii_only else BLOCKS
    return ''.join(marks[(c * len(marks) - 1) // top] if c else ' ' for c in bins)


def histogram_bar(stats: Stats, width: int = 0, *, ascii_only: bool = False) -> str:
    """The bars of a tensor's histogram, as `bar` draws them; '' if there is none."""
    return bar([each.elements for each in stats.bars()], width, ascii_only=ascii_only)


def bar_with_range(counts: Sequence[int], low: float | None, high: float | None, width: int = 0, *,
                   ascii_only: bool = False, digits: int = 4) -> str:
    """The bar between its least and greatest value, '' if there is none."""
    if low is None or high is None:
        return ''
    middle = f'|{bar(counts, width, ascii_only=ascii_only)}|' if counts else '..'
    return f'{value(low, digits)} {middle} {value(high, digits)}'


def _merge(counts: list[int], width: int) -> list[int]:
    if width <= 0 or len(counts) <= width:
        return counts
    step = -(-len(counts) // width)
    return [sum(counts[i:i + step]) for i in range(0, len(counts), step)]


if __name__ == '__main__':
    for ascii_only in (False, True):
        print(bar_with_range((1, 0, 2, 9, 30, 12, 3, 0, 1, 1), 0.0, 1.43, ascii_only=ascii_only))
