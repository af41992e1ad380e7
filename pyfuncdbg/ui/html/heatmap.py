"""A matrix as a heat map in SVG: a rectangle per cell, values on hover, NaN and infinity marked.

Pure; called by `page` where a view has a `HeatMap`, so cells, colours and scale are those of the terminal.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from rich.color_triplet import ColorTriplet

from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.svg_document import SvgDrawing
from pyfuncdbg.ui.views.pictures.element_table import element as written
from pyfuncdbg.ui.views.pictures.heatmap import INF, NAN, Grid, blocks, color_at, finite_range, places, plain_numbers
from pyfuncdbg.ui.views.units import value

ROWS, COLUMNS = 40, 64
"""Cells at most; more elements than these, and each cell is a block of them."""
_WIDE, _TALL = 640, 400
"""Pixels that the map takes at most, unless cells would be smaller than the least."""
_LEAST, _WIDEST, _TALLEST = 8, 56, 24
_LETTERED = 40
"""Pixels of a cell that has room for its value."""
_LETTERS = 7
"""Of a value that is put into one."""
_LEFT, _TOP = 36, 16
"""Room for the numbers of rows and columns."""


def heatmap_html(array: np.ndarray, rows: int = ROWS, columns: int = COLUMNS) -> Html:
    """The map under the numbers of its columns, over its scale.

    Args:
        array: Numbers or bools, of two axes. Complex elements count by their magnitude.
        rows, columns: Cells at most.
    """
    numbers = plain_numbers(array)
    if not numbers.size:
        return element('div', 'empty', class_='pf-d')
    grid = blocks(numbers, rows, columns)
    legend = _legend(grid, array.shape, numbers, *finite_range(grid.cells))
    return element('div', element('div', _picture(grid, array, numbers).picture, class_='pf-scroll'), legend)


def heatmap_drawing(array: np.ndarray) -> SvgDrawing:
    """The map and its scale as SVG.

    Args:
        array: As for `heatmap_html`, of one element at least.
    """
    numbers = plain_numbers(array)
    grid = blocks(numbers, ROWS, COLUMNS)
    return replace(_picture(grid, array, numbers), legend=_svg_legend(grid, array.shape, numbers))


def _picture(grid: Grid, array: np.ndarray, numbers: np.ndarray) -> SvgDrawing:
    wide = min(_WIDEST, max(_LEAST, _WIDE // len(grid.columns)))
    tall = min(_TALLEST, max(_LEAST, _TALL // len(grid.rows)))
    low, high = finite_range(grid.cells)
    drawn = _Cells(grid, array, numbers, low, high, wide, tall)
    width, height = _LEFT + wide * len(grid.columns), _TOP + tall * len(grid.rows)
    picture = element('svg', *_numbers(grid, wide, tall), *drawn.all(), class_='pf-map', role='img', width=width,
                      height=height, viewBox=f'0 0 {width} {height}',
                      aria_label=f'heat map of {array.shape[0]} x {array.shape[1]} elements')
    return SvgDrawing(picture, width, height)


class _Cells:
    """Rectangles with their titles."""

    def __init__(self, grid: Grid, array: np.ndarray, numbers: np.ndarray, low: float, high: float, wide: int,
                 tall: int) -> None:
        self._grid, self._numbers = grid, numbers
        plain = as_numbers(array)
        self._elements = array if plain is None else plain
        self._at = places(grid.cells, low, high)
        self._low, self._high = low, high
        self._wide, self._tall = wide, tall

    def all(self) -> list[Html]:
        rows, columns = range(len(self._grid.rows)), range(len(self._grid.columns))
        return [self._cell(row, column) for row in rows for column in columns]

    def _cell(self, row: int, column: int) -> Html:
        x, y, w, h = _LEFT + column * self._wide, _TOP + row * self._tall, self._wide, self._tall
        bad = int(self._grid.bad[row, column])
        title = element('title', self._title(row, column))
        if bad:
            cross = element('path', d=f'M{x} {y}l{w} {h}m0 -{h}l-{w} {h}', class_='pf-cross')
            letter = element('text', 'N' if bad == NAN else '∞', x=x + w / 2, y=y + h / 2, class_='pf-letter')
            return element('g', title, element('rect', x=x, y=y, width=w, height=h, class_='pf-bad'), cross, letter)
        color = color_at(float(self._at[row, column]), self._low, self._high).get_truecolor()
        box = element('rect', title, x=x, y=y, width=w, height=h, fill=color.hex)
        if w < _LETTERED:
            return box
        number = element('text', _short(float(self._grid.cells[row, column])), x=x + w / 2, y=y + h / 2,
                         class_='pf-number', fill=_ink(color))
        return Html(box + number)

    def _title(self, row: int, column: int) -> str:
        """'[1, 2] = 0.5', '[4:8, 0:4] mean 0.5, 2 of 16 not finite'."""
        top, left = self._grid.rows[row], self._grid.columns[column]
        bottom, right = _end(self._grid.rows, row, self._numbers.shape[0]), _end(self._grid.columns, column,
                                                                                self._numbers.shape[1])
        if (bottom - top) * (right - left) == 1:
            return f'[{top}, {left}] = {written(self._elements[top, left].item())}'
        part = self._numbers[top:bottom, left:right]
        bad = int(np.count_nonzero(~np.isfinite(part)))
        words = [] if bad == part.size else [f'mean {value(float(self._grid.cells[row, column]), 6)}']
        words += [f'{bad:,} of {part.size:,} not finite'] if bad else []
        return f'[{top}:{bottom}, {left}:{right}] {", ".join(words)}'


def _short(number: float) -> str:
    """A value with as many digits as a cell has room for."""
    return next((text for digits in (3, 2) if len(text := value(number, digits)) <= _LETTERS), f'{number:.0e}')


def _ink(ground: ColorTriplet) -> str:
    """Black or white, the one with more contrast to a colour (by WCAG 2)."""
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in ground.normalized)
    return '#000000' if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else '#ffffff'


def _end(starts: Sequence[int], at: int, size: int) -> int:
    return starts[at + 1] if at + 1 < len(starts) else size


def _numbers(grid: Grid, wide: int, tall: int) -> list[Html]:
    """Numbers of rows and columns, as many as there is room for."""
    every_row, every_column = -(-14 // tall), -(-(7 * len(str(grid.columns[-1])) + 10) // wide)
    return [*(element('text', str(row), x=_LEFT - 5, y=_TOP + tall * (i + 0.5), class_='pf-row')
              for i, row in enumerate(grid.rows) if i % every_row == 0),
            *(element('text', str(column), x=_LEFT + wide * (i + 0.5), y=_TOP - 5, class_='pf-column')
              for i, column in enumerate(grid.columns) if i % every_column == 0)]


def _svg_legend(grid: Grid, shape: tuple[int, ...], numbers: np.ndarray) -> Html:
    """The scale between its ends, and what the cells are, on one line of text."""
    low, high = finite_range(grid.cells)
    first = value(low) if np.isfinite(grid.cells).any() else 'nothing finite'
    parts, x = [], 6.7 * len(first) + 6
    if low != high:
        parts = [element('rect', x=x + 8 * i, y=3, width=8, height=10, fill=color_at(i / 15, low, high).get_truecolor().hex)
                 for i in range(16)]
        parts.append(element('text', value(high), x=x + 134, y=8))
        x += 134 + 6.7 * (len(value(high)) + 2)
    words = [f'{name} {np.count_nonzero(many):,}' for kind, name, many in (
        (NAN, 'N NaN', np.isnan(numbers)), (INF, '∞ infinity', np.isinf(numbers))) if (grid.bad == kind).any()]
    words += _block_words(grid, shape)
    return joined(element('text', first, x=0, y=8), *parts, element('text', '   '.join(words), x=x, y=8))


def _block_words(grid: Grid, shape: tuple[int, ...]) -> list[str]:
    tall, wide = (-(-size // len(starts)) for size, starts in zip(shape, (grid.rows, grid.columns), strict=True))
    return [f'each cell the mean of {tall} x {wide} elements'] if tall * wide > 1 else []


def _legend(grid: Grid, shape: tuple[int, ...], numbers: np.ndarray, low: float, high: float) -> Html:
    words: list[str] = []
    if not np.isfinite(grid.cells).any():
        words.append('nothing finite')
    elif low == high:
        words.append(f'{value(low)} ' + ('where finite' if grid.bad.any() else 'everywhere'))
    else:
        scale = [element('rect', x=8 * i, width=8, height=10, fill=color_at(i / 15, low, high).get_truecolor().hex)
                 for i in range(16)]
        words += [value(low) + ' ', element('svg', *scale, width=128, height=10, aria_hidden='true'), ' ' + value(high)]
    for kind, name, many in ((NAN, 'N NaN', np.isnan(numbers)), (INF, '∞ infinity', np.isinf(numbers))):
        if (grid.bad == kind).any():
            words.append(element('span', f'  {name} {np.count_nonzero(many):,}', class_='pf-b pf-red'))
    words += [element('span', f'  {sizes}', class_='pf-d') for sizes in _block_words(grid, shape)]
    return element('div', *words, class_='pf-line')
