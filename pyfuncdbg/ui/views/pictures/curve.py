"""A vector as a curve in braille dots, with a row of letters below where it is NaN or infinite."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from pyfuncdbg.ui.views.pictures.heatmap import plain_numbers
from pyfuncdbg.ui.views.units import value

HEIGHT = 6
"""Lines of the curve."""
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot of a braille character, by row and column."""
_BRAILLE = 0x2800
_STRETCH = 6
"""Cells for an element, where there are few."""
_APART = 10
"""Cells between two index numbers, at least."""


class Curve:
    """A renderable for a vector: its finite elements over their index. Where it is longer than the width, a column shows the
    least and the greatest of its elements.

    Args:
        array: Numbers or bools, of one axis. Complex elements count by their magnitude.
        height: Lines.
    """

    __slots__ = ('_height', 'array')

    def __init__(self, array: np.ndarray, *, height: int = HEIGHT) -> None:
        self.array = array
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _drawn(plain_numbers(self.array), self._height, options.max_width, ascii_only=options.ascii_only)


def _drawn(numbers: np.ndarray, height: int, width: int, *, ascii_only: bool) -> Text:
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    words = [value(high), value(low) if high != low else ''] if finite.size else []
    labels = max([*map(len, words), 3])
    room, size = width - labels - 2, numbers.size
    if room < 4 or not size:
        return Text('no room for a picture' if size else 'empty', 'dim')
    cells = min(room, size * min(_STRETCH, max(1, room // size)))
    lines: list[Text] = []
    if finite.size:
        wide, tall = (1, 1) if ascii_only else (2, 4)
        dots = _dots(numbers, cells * wide, (height if high != low else 1) * tall, low, high)
        rows = list(_ascii(dots) if ascii_only else _braille(dots))
        for i, row in enumerate(rows):
            word = words[0] if i == 0 else words[1] if i == len(rows) - 1 else ''
            lines.append(Text.assemble((f'{word:>{labels}} ', 'dim'), row, no_wrap=True))
    marks = _marks(numbers, cells)
    if marks.strip():
        lines.append(Text.assemble((f'{"bad":>{labels}} ', 'dim'), (marks, 'bold red'), no_wrap=True))
    lines.append(Text(_ticks(size, cells, labels), 'dim', no_wrap=True))
    if marks.strip():
        lines.append(Text('    N NaN' * ('N' in marks) + '    I infinity' * ('I' in marks), 'bold red'))
    return Text('\n').join(lines)


def _place(index: int, size: int, cells: int) -> int:
    """The cell of an element: the first is in the first cell, the last in the last."""
    return round(index * (cells - 1) / max(1, size - 1))


def _marks(numbers: np.ndarray, cells: int) -> str:
    """A letter in each cell that holds an element that is not finite."""
    marks = [' '] * cells
    for kind, letter in ((np.isinf(numbers), 'I'), (np.isnan(numbers), 'N')):
        for index in np.flatnonzero(kind).tolist():
            marks[_place(index, numbers.size, cells)] = letter
    return ''.join(marks)


def _dots(numbers: np.ndarray, wide: int, tall: int, low: float, high: float) -> np.ndarray:
    """The dots that are set; row 0 is the top."""
    dots = np.zeros((tall, wide), bool)
    lows, highs = _columns(numbers, wide)
    span = high / 2 - low / 2
    last: tuple[int, int] | None = None
    for column, (least, most) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        if least != least:
            last = None
            continue
        top, bottom = (round((1 - (one / 2 - low / 2) / span) * (tall - 1)) if span > 0 else tall // 2
                       for one in (most, least))
        first, end = top, bottom
        if last is not None:                    # the curve goes on from its neighbour
            first, end = min(first, last[1] + 1), max(end, last[0] - 1)
        dots[first:end + 1, column] = True
        last = top, bottom
    return dots


def _columns(numbers: np.ndarray, wide: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value in each column of dots; NaN in one that has none."""
    if numbers.size <= wide:                    # a line between neighbours; it ends where an element is bad
        at = np.linspace(0, numbers.size - 1, wide)
        with np.errstate(all='ignore'):
            left, right = np.floor(at).astype(int), np.ceil(at).astype(int)
            part = at - left
            ends = np.where(np.isinf(numbers), np.nan, numbers)
            values = ends[left] * (1 - part) + np.where(part > 0, ends[right] * part, 0.0)
            values = np.where(np.isfinite(values), values, np.where(part < 0.5, ends[left], ends[right]))
        return values, values
    edges = (np.arange(wide) * numbers.size) // wide
    good = np.isfinite(numbers)
    lows = np.minimum.reduceat(np.where(good, numbers, np.inf), edges)
    highs = np.maximum.reduceat(np.where(good, numbers, -np.inf), edges)
    none = lows > highs
    return np.where(none, np.nan, lows), np.where(none, np.nan, highs)


def _braille(dots: np.ndarray) -> Iterator[str]:
    for top in range(0, dots.shape[0], 4):
        line = ''
        for left in range(0, dots.shape[1], 2):
            code = sum(_DOTS[row][column] for row in range(4) for column in range(2) if dots[top + row, left + column])
            line += chr(_BRAILLE + code) if code else ' '
        yield line


def _ascii(dots: np.ndarray) -> Iterator[str]:
    for row in dots:
        yield ''.join('*' if dot else ' ' for dot in row)


def _ticks(size: int, cells: int, labels: int) -> str:
    """Index numbers below the curve, each at the place of its element."""
    line = ' ' * (labels + 1)
    for index in range(0, size, max(1, -(-size * _APART // cells))):
        at, word = labels + 1 + _place(index, size, cells), str(index)
        if not index or (at >= len(line) + 2 and at + len(word) <= labels + 1 + cells):
            line = line.ljust(at) + word
    return line


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    waves = np.sin(np.linspace(0, 20, 300)) * np.linspace(1, 3, 300)
    waves[120:126], waves[250] = np.nan, np.inf
    demo(Curve(waves), Curve(np.array([1.0, 4, 9, 16, 25])), Curve(np.full(9, np.nan)))
