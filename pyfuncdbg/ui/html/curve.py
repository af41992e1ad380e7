"""A vector as a curve in SVG: index and value on hover, a row of letters for NaN and infinity.

Pure; called by `page` where a view has a `Curve`.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.ui.html.element import Html, element
from pyfuncdbg.ui.html.svg_document import SvgDrawing
from pyfuncdbg.ui.views.pictures.element_table import element as written
from pyfuncdbg.ui.views.pictures.heatmap import plain_numbers, starts
from pyfuncdbg.ui.views.units import value

POINTS = 512
"""Columns at most; of more elements than these, each column shows the least and the greatest of its own."""
_WIDE, _TALL = 640, 120
_LEFT, _BELOW = 64, 30
_EDGE = 6
"""Room for labels, and above and below the curve."""
_LETTER = 9
"""Pixels of a letter."""


def curve_html(array: np.ndarray) -> Html:
    """The finite elements over their index.

    Args:
        array: Numbers or bools, of one axis. Complex elements count by their magnitude.
    """
    numbers = plain_numbers(array)
    if not numbers.size:
        return element('div', 'empty', class_='pf-d')
    legend = element('div', '  '.join(_bad_counts(numbers)), class_='pf-line pf-b pf-red')
    return element('div', element('div', _picture(array, numbers).picture, class_='pf-scroll'), legend)


def curve_drawing(array: np.ndarray) -> SvgDrawing:
    """The curve as SVG.

    Args:
        array: As for `curve_html`, of one element at least.
    """
    numbers = plain_numbers(array)
    return replace(_picture(array, numbers), note='   '.join(_bad_counts(numbers)))


def _picture(array: np.ndarray, numbers: np.ndarray) -> SvgDrawing:
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    columns = _Columns(array, numbers, low, high)
    labels = [element('text', value(number), x=_LEFT - 6, y=y, class_='pf-row')
              for number, y in (((high, _EDGE), (low, _TALL - _EDGE)) if high != low else ((high, _TALL / 2),))] \
        if finite.size else []
    ends = [element('text', str(index), x=_LEFT + at, y=_TALL + _BELOW - 4, class_='pf-column')
            for index, at in ((0, 4), (numbers.size - 1, _WIDE - 8))[:1 if numbers.size == 1 else 2]]
    width, height = _LEFT + _WIDE + 8, _TALL + _BELOW
    picture = element('svg', *labels, *ends, *columns.lines(), *columns.columns(), class_='pf-map', role='img', width=width,
                      height=height, viewBox=f'0 0 {width} {height}', aria_label=f'curve of {numbers.size} elements')
    return SvgDrawing(picture, width, height)


class _Columns:
    """The curve, and an invisible column over each of its points that says what is there."""

    def __init__(self, array: np.ndarray, numbers: np.ndarray, low: float, high: float) -> None:
        plain = as_numbers(array)
        self._elements = array if plain is None else plain
        self._numbers, self._low, self._high = numbers, low, high
        self._starts = starts(numbers.size, POINTS)
        self._wide = _WIDE / len(self._starts)
        good = np.isfinite(numbers)
        self._least = np.minimum.reduceat(np.where(good, numbers, np.inf), self._starts)
        self._most = np.maximum.reduceat(np.where(good, numbers, -np.inf), self._starts)

    def _y(self, number: float) -> float:
        span = self._high / 2 - self._low / 2
        return _TALL / 2 if not span > 0 else _EDGE + (1 - (number / 2 - self._low / 2) / span) * (_TALL - 2 * _EDGE)

    def lines(self) -> Iterator[Html]:
        """A path for each stretch without NaN and infinity: along the top and back along the bottom; a dot for one."""
        xs = [_LEFT + (i + 0.5) * self._wide for i in range(len(self._starts))]
        good = np.flatnonzero(np.isfinite(self._least))
        for part in np.split(good, np.flatnonzero(np.diff(good) > 1) + 1):
            if part.size == 1:
                yield element('circle', cx=xs[part[0]], cy=self._y(self._most[part[0]]), r=2, class_='pf-dot')
            elif part.size:
                ends = [self._most] if np.array_equal(self._least[part], self._most[part]) else [self._most, self._least]
                there = [f'{xs[i]:.1f} {self._y(ends[0][i]):.1f}' for i in part]
                back = [f'{xs[i]:.1f} {self._y(ends[1][i]):.1f}' for i in part[::-1]] if len(ends) > 1 else []
                yield element('path', d='M' + 'L'.join([*there, *back]), class_='pf-curve')

    def columns(self) -> Iterator[Html]:
        free = 0.0                              # where the next letter may begin
        for i, first in enumerate(self._starts):
            end = self._starts[i + 1] if i + 1 < len(self._starts) else self._numbers.size
            part, x = self._numbers[first:end], _LEFT + i * self._wide
            title = element('title', self._title(first, end, part))
            yield element('rect', title, x=f'{x:.2f}', width=f'{self._wide:.2f}', height=_TALL + 14, class_='pf-hover')
            if x >= free and not np.isfinite(part).all():
                free = x + _LETTER
                mark = 'N' if np.isnan(part).any() else '∞'
                yield element('text', mark, x=f'{x + self._wide / 2:.2f}', y=_TALL + 8, class_='pf-mark')

    def _title(self, first: int, end: int, part: np.ndarray) -> str:
        if end - first == 1:
            return f'[{first}] = {written(self._elements[first].item())}'
        good = part[np.isfinite(part)]
        words = [f'{value(float(good.min()), 6)} .. {value(float(good.max()), 6)}'] if good.size else []
        words += [f'{part.size - good.size:,} not finite'] if good.size < part.size else []
        return f'[{first}:{end}] {", ".join(words)}'


def _bad_counts(numbers: np.ndarray) -> list[str]:
    return [f'{name} {many:,}' for name, many in (('N NaN', np.count_nonzero(np.isnan(numbers))),
                                                  ('∞ infinity', np.count_nonzero(np.isinf(numbers)))) if many]
