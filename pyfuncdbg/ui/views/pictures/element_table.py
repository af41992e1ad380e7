"""The elements of an array with index labels, sliced before anything is formatted.

NumPy's own repr takes 8 ms at 1,000 elements and fails on damaged objects; this formats what is shown and no more.
"""
from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.elements import LIMIT, Elements, elements_of
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page

Ranges = tuple[tuple[float, float], ...]
"""Closed intervals whose elements are marked."""


@dataclass(frozen=True, slots=True)
class _Row:
    """Elements along the last axis: the index before it, the indices on it, and the values."""

    prefix: tuple[int, ...]
    indices: tuple[int, ...]
    values: list[Any]


def preview(array: np.ndarray, limit: int = LIMIT, *, ranges: Ranges = (), precision: int = 6,
            near: tuple[int, ...] | None = None) -> Page:
    """The elements, each line labelled with the index of its first one.

    Args:
        array: Any dtype and rank; only what is shown is read.
        limit: At most about this many elements: more, and each axis shows its two ends.
        ranges: Elements inside one of these are marked with '*'.
        precision: Significant digits of floats.
        near: Index of an element that must be among those shown, such as the first NaN.
    """
    return element_table(elements_of(array, limit, near), ranges=ranges, precision=precision)


def element_table(found: Elements, *, ranges: Ranges = (), precision: int = 4) -> Page:
    """The elements, as `preview` shows those of an array; or why there are none."""
    if found.values is None:
        return Page(Text(visible(found.missing), 'dim'))
    size = math.prod(found.shape)
    if size == 0:
        return Page(Text(f'empty, shape {list(found.shape)}', 'dim'))
    rows = _rows(found, found.values)
    cells = [[_cell(value, ranges, precision) for value in row.values] for row in rows]

    def draw(options: ConsoleOptions) -> Text:
        lines, elements = _lines(rows, cells, options.max_width, fold=found.whole)
        if elements < size:
            lines.append(Text(f'... {size - elements:,} of {size:,} elements not shown', 'dim'))
        return Text('\n').join(lines)
    return Page(draw)


def element(value: Any, precision: int = 6) -> str:
    """One element as text."""
    if isinstance(value, bytes):
        return one_line("b'" + value[:40].decode('utf-8', 'backslashreplace') + ("'" if len(value) <= 40 else '...'), 50)
    if isinstance(value, str):
        return one_line(f"'{value[:40]}" + ("'" if len(value) <= 40 else '...'), 50)
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float | complex):
        return f'{value:.{precision}g}'
    return f'<{type(value).__name__}>'          # an object of the user's: its repr may be huge, or may raise


def _rows(elements: Elements, values: np.ndarray) -> list[_Row]:
    if not elements.axes:
        return [_Row((), (), [_plain(values.reshape(1)).tolist()[0]])]
    *axes, last = (indices.tolist() for indices in elements.axes)
    rows = _plain(values).reshape(-1, len(last)).tolist()
    return [_Row(prefix, tuple(last), row) for prefix, row in zip(itertools.product(*axes), rows, strict=True)]


def _plain(array: np.ndarray) -> np.ndarray:
    """An array whose `tolist()` gives Python values: extension floats such as bfloat16 as float32."""
    numbers = as_numbers(array)
    if numbers is not None:
        return numbers
    return array.astype(str if array.dtype.kind in 'mM' else object, copy=False)


def _cell(value: Any, ranges: Ranges, precision: int) -> Text:
    text = element(value, precision)
    bad = isinstance(value, float | complex) and not np.isfinite(value)
    if ranges and isinstance(value, float | int) and any(low <= value <= high for low, high in ranges):
        return Text(text + '*', 'bold reverse')
    return Text(text, 'bold red' if bad else '')


def _lines(rows: list[_Row], cells: list[list[Text]], width: int, *, fold: bool) -> tuple[list[Text], int]:
    """Lines, and the number of elements on them.

    Columns are of one width. Of a row that does not fit both ends are shown, or with `fold` it goes on in a new line
    with its own label.
    """
    labels = max(len(_label(row.prefix, row.indices[-1:])) for row in rows)
    widest = max(cell.cell_len for row in cells for cell in row)
    column = min((widest if fold else max(widest, len('...'))) + 2, max(6, width - labels))
    fit = max(1, (width - labels) // column)
    lines: list[Text] = []
    elements = 0
    for last, row, texts in zip([None, *rows], rows, cells, strict=False):
        if last is not None and row.prefix and row.prefix[-1] - last.prefix[-1] > 1:
            lines.append(Text('...'.rjust(labels), 'dim'))
        indexed = _with_gap(*(row.indices, texts) if fold else _ends(row.indices, texts, fit))
        elements += sum(1 for index, _ in indexed if index or not row.indices)
        for chunk in _chunks(indexed, fit):
            line = Text(overflow='fold').append(_label(row.prefix, chunk[0][0]).rjust(labels), 'dim')
            for _, cell in chunk:
                line.append(' ' * max(1, column - cell.cell_len)).append_text(cell)
            lines.append(line)
    return lines, elements


def _ends(indices: tuple[int, ...], texts: list[Text], fit: int) -> tuple[tuple[int, ...], list[Text]]:
    """As many elements of both ends of a row as fit on a line together with the gap between them."""
    if len(indices) < fit:
        return indices, texts
    tail = max(0, (fit - 1) // 2)
    head = max(1, fit - 1 - tail)
    at = [*range(head), *range(len(indices) - tail, len(indices))]
    return tuple(indices[i] for i in at), [texts[i] for i in at]


_Cell = tuple[tuple[int, ...], Text]
"""Index on the last axis (none for a gap or a scalar) and text."""


def _with_gap(indices: tuple[int, ...], texts: list[Text]) -> list[_Cell]:
    if not indices:
        return [((), texts[0])]
    cells: list[_Cell] = []
    for index, text in zip(indices, texts, strict=True):
        if cells and index - cells[-1][0][0] > 1:
            cells.append(((), Text('...', 'dim')))
        cells.append(((index,), text))
    return cells


def _chunks(cells: list[_Cell], fit: int) -> list[list[_Cell]]:
    """Lines of at most `fit` cells; none begins with a gap, which the label shows."""
    chunks: list[list[_Cell]] = [[]]
    for cell in cells:
        gap = not cell[0] and len(cells) > 1
        if len(chunks[-1]) == fit:
            chunks.append([])
        if not (gap and not chunks[-1]):
            chunks[-1].append(cell)
    return [chunk for chunk in chunks if chunk]


def _label(prefix: tuple[int, ...], last: tuple[int, ...]) -> str:
    return '[' + ', '.join(map(str, (*prefix, *last))) + ']' if prefix or last else '()'


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(preview(np.array([[0.5, np.nan, 1e-9], [np.inf, 0, -3]]), ranges=((-5, -1),)),
         preview(np.arange(10_000.0).reshape(100, 100)), preview(np.array([b'a\x1b', b'\xff' * 50], object)),
         preview(np.zeros((0, 3))), preview(np.array(3.5)))
