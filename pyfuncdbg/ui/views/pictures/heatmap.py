"""A matrix as a heat map of half blocks, two rows to a line; NaN and infinity are letters.

Where a console has no colour the shades are characters, one row of elements to a line.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.ui.views.units import value

HEIGHT = 16
"""Lines of the map itself."""
LARGEST = 1 << 24
"""Elements of the largest array that gets a picture."""
SHADES = ' .:-=+*#%@'
"""From the least to the greatest value, on consoles without colour."""

_SEQUENTIAL = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_DIVERGING = ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43))
_BAD = Style(color='bright_white', bgcolor='dark_magenta', bold=True)
NAN, INF = 1, 2
_LETTERS = {(NAN, 0): 'ⁿ', (0, NAN): 'ₙ', (INF, 0): 'ⁱ', (0, INF): 'ᵢ'}
"""Where one of the two elements of a cell is bad."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of a heat map: one for each block of elements.

    Attributes:
        cells: Mean of the finite elements of each block; NaN where there are none.
        bad: 0, or what else is in the block: NaN or infinity.
        rows, columns: Index of the first element of each block.
    """

    cells: np.ndarray
    bad: np.ndarray
    rows: list[int]
    columns: list[int]


class HeatMap:
    """A renderable for a matrix of numbers or bools.

    Args:
        array: Of two axes. Complex elements count by their magnitude.
        height: Lines at most.
    """

    __slots__ = ('_height', 'array')

    def __init__(self, array: np.ndarray, *, height: int = HEIGHT) -> None:
        self.array = array
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        numbers = plain_numbers(self.array)
        colors = has_colors(console, options)
        labels = len(str(max(0, numbers.shape[0] - 1)))
        room = options.max_width - labels - 1
        if room < 4 or not numbers.size:
            yield Text('no room for a picture' if numbers.size else 'empty', 'dim')
            return
        # Few rows have room for a line of their own, which shows a letter where it belongs.
        rows, columns = numbers.shape
        wide = 2 * columns <= room and rows <= self._height // 2
        paired = colors and rows > self._height // 2
        grid = blocks(numbers, self._height * (2 if paired else 1), room // 2 if wide else room)
        yield _ticks(grid.columns, labels, 2 if wide else 1)
        low, high = finite_range(grid.cells)
        yield from _lines(grid, labels, low, high, colors=colors, paired=paired, wide=wide)
        yield _legend(grid, numbers.shape, low, high, colors=colors, paired=paired)


def plain_numbers(array: np.ndarray) -> np.ndarray:
    """Elements as float64, complex ones by magnitude; an infinity stays one, and a finite number finite."""
    numbers = array.astype(np.float64) if array.dtype.kind == 'b' else as_numbers(array)
    assert numbers is not None, 'the caller has looked at the type'
    with np.errstate(all='ignore'):
        if numbers.dtype.kind == 'c':
            finite, sizes = np.isfinite(numbers), np.abs(numbers.astype(np.complex128))
            sizes = np.where(np.isnan(numbers), np.nan, sizes)
        else:
            finite, sizes = np.isfinite(numbers), numbers.astype(np.float64)
    most = np.finfo(np.float64).max
    return np.where(finite, np.clip(sizes, -most, most), sizes)


def has_colors(console: Console, options: ConsoleOptions) -> bool:
    """Whether shades can be told apart by colour: sixteen colours are too few."""
    return not (options.ascii_only or console.no_color) and console.color_system in ('256', 'truecolor')


def blocks(numbers: np.ndarray, rows: int, columns: int) -> Grid:
    """A matrix as at most so many rows and columns of cells; what is not finite is never averaged away."""
    tops, lefts = starts(numbers.shape[0], rows), starts(numbers.shape[1], columns)
    with np.errstate(all='ignore'):
        finite = np.isfinite(numbers)
        scale = max(float(np.abs(numbers, where=finite, out=np.zeros(numbers.shape)).max()), 1.0)
        # Scaled, so that the sum of a block does not overflow.
        total = _sums(np.where(finite, numbers / scale, 0.0), tops, lefts)
        count = _sums(finite.astype(np.float64), tops, lefts)
        cells = np.where(count > 0, total / np.maximum(count, 1), np.nan) * scale
    bad = np.where(_sums(np.isinf(numbers).astype(np.float64), tops, lefts) > 0, INF, 0)
    bad[_sums(np.isnan(numbers).astype(np.float64), tops, lefts) > 0] = NAN
    return Grid(cells, bad, tops, lefts)


def starts(size: int, most: int) -> list[int]:
    """First indices of at most so many blocks of equal size."""
    return list(range(0, size, -(-size // max(1, most))))


def _sums(values: np.ndarray, tops: Sequence[int], lefts: Sequence[int]) -> np.ndarray:
    if len(tops) == values.shape[0] and len(lefts) == values.shape[1]:
        return values
    return np.asarray(np.add.reduceat(np.add.reduceat(values, tops, axis=0), lefts, axis=1))


def finite_range(cells: np.ndarray) -> tuple[float, float]:
    """Least and greatest finite cell; zeros where there is none."""
    finite = cells[np.isfinite(cells)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _lines(grid: Grid, labels: int, low: float, high: float, *, colors: bool, paired: bool, wide: bool) -> RenderResult:
    at = places(grid.cells, low, high)
    for top in range(0, len(grid.rows), 2 if paired else 1):
        line = Text.assemble((f'{grid.rows[top]:>{labels}} ', 'dim'), no_wrap=True)
        for column in range(len(grid.columns)):
            upper, bad = at[top, column], int(grid.bad[top, column])
            if not colors:
                mark = 'NI'[bad - 1] if bad else SHADES[round(upper * (len(SHADES) - 1))]
                line.append(mark * (2 if wide else 1))
            elif not paired:
                style = _BAD if bad else Style(bgcolor=color_at(upper, low, high))
                line.append(('NI'[bad - 1] if bad else ' ') * (2 if wide else 1), style)
            else:
                below = top + 1 < len(grid.rows)
                lower = at[top + 1, column] if below else None
                line.append(*_pair(upper, lower, bad, int(grid.bad[top + 1, column]) if below else 0, low, high))
        yield line


def _pair(upper: float, lower: float | None, bad: int, below: int, low: float, high: float) -> tuple[str, Style]:
    """A cell of two elements, one over the other."""
    if bad and (below or lower is None):
        return 'NI'[min(bad, below or bad) - 1], _BAD
    if bad or below:
        rest = upper if below else lower
        assert rest is not None
        ground = color_at(rest, low, high)
        return _LETTERS[bad, below], Style(color='dark_magenta', bgcolor=ground, bold=True)
    under = None if lower is None else color_at(lower, low, high)
    return '▀', Style(color=color_at(upper, low, high), bgcolor=under)


def places(cells: np.ndarray, low: float, high: float) -> np.ndarray:
    """Each cell between the least (0) and the greatest (1); the middle where all are the same or nothing is there."""
    width = high / 2 - low / 2
    if not width > 0:
        return np.full(cells.shape, 0.5)
    with np.errstate(all='ignore'):
        found = (cells / 2 - low / 2) / width
    return np.clip(np.where(np.isfinite(found), found, 0.5), 0, 1)


def color_at(place: float, low: float, high: float) -> Color:
    """With both signs blue is below zero, white zero and red above; otherwise from dark to light."""
    stops = _SEQUENTIAL
    if low < 0 < high:
        stops = _DIVERGING
        number, most = low + place * high - place * low, max(-low, high)
        place = 0.5 + number / most / 2
    at = min(max(place, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    one, two = stops[first], stops[first + 1]
    red, green, blue = (round(a + (b - a) * (at - first)) for a, b in zip(one, two, strict=True))
    return Color.from_rgb(red, green, blue)


def _ticks(columns: Sequence[int], labels: int, cell: int) -> Text:
    """The column numbers above the map."""
    line = ' ' * (labels + 1)
    total = labels + 1 + cell * len(columns)
    for i, column in enumerate(columns):
        at, word = labels + 1 + cell * i, str(column)
        if at >= len(line) + (2 if i else 0) and at + len(word) <= max(total, labels + 1 + len(word)) and (
                len(columns) < 12 or i % 10 == 0):
            line = line.ljust(at) + word
    return Text(line, 'dim', no_wrap=True)


def _legend(grid: Grid, shape: tuple[int, ...], low: float, high: float, *, colors: bool, paired: bool) -> Text:
    line = Text('  ', overflow='fold')
    if not np.isfinite(grid.cells).any():
        line.append('nothing finite')
    elif low == high:
        line.append(f'{value(low)} everywhere' if not grid.bad.any() else f'{value(low)} where finite')
    else:
        line.append(f'{value(low)} ')
        if colors:
            for i in range(16):
                line.append(' ', Style(bgcolor=color_at(i / 15, low, high)))
        else:
            line.append(f'|{SHADES}|')
        line.append(f' {value(high)}')
    names = {NAN: 'N NaN' + ' (ⁿ upper, ₙ lower row)' * paired, INF: 'I infinity' + ' (ⁱ upper, ᵢ lower row)' * paired}
    for kind, name in names.items():
        if (grid.bad == kind).any():
            line.append(f'   {name}', 'bold red')
    high_block = -(-shape[0] // len(grid.rows)) if len(grid.rows) < shape[0] else 1
    wide_block = -(-shape[1] // len(grid.columns)) if len(grid.columns) < shape[1] else 1
    if high_block * wide_block > 1:
        line.append(f'   each cell the mean of {high_block} x {wide_block} elements', 'dim')
    return line


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    angles = np.add.outer(np.linspace(0, 6, 24), np.linspace(0, 9, 60))
    waves = np.sin(angles)
    waves[10, 20:40], waves[3, 5] = np.nan, np.inf
    demo(HeatMap(waves), HeatMap(np.arange(12.0).reshape(3, 4)), HeatMap(np.abs(np.sin(angles.repeat(20, 0)))))
