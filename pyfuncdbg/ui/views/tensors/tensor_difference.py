"""Differences of a tensor from the one of an earlier call (`pt --diff`)."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference, difference, distances
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import element
from pyfuncdbg.ui.views.pictures.picture import Picture, has_picture
from pyfuncdbg.ui.views.units import value

SHOWN = 10
"""Elements that are listed before and after."""


@dataclass(frozen=True, slots=True)
class TensorChange:
    """A tensor and the same of an earlier call.

    Attributes:
        title, before_title: Where each was, such as 'output 0 of call #17 norm[3]'.
        difference: In numbers.
        values, before: Their elements.
    """

    title: str
    before_title: str
    difference: Difference
    values: np.ndarray
    before: np.ndarray


def change_view(change: TensorChange, *, limit: int = SHOWN) -> Page:
    """The number of changed elements, the greatest difference and the first, a picture of the differences, elements."""
    difference = change.difference
    name = Text(one_line(difference.tensor, 100), 'bold')
    titles = label(f'{change.title}, since {change.before_title}', 'dim')
    if difference.elements < 0:
        sides = [f'{dtype} {list(shape)}' for dtype, shape in zip(difference.dtypes, difference.shapes, strict=True)]
        return Page(Text.assemble(name, f'  another {"shape" if difference.shapes[0] != difference.shapes[1] else "dtype"}: '
                                  f'{one_line(" -> ".join(sides))}', overflow='fold'), titles, _bad(difference))
    size = change.values.size
    if difference.same:
        words = 'as before' if size == 1 else f'each of {size:,} elements as before'
        return Page(Text.assemble(name, f'  {words}', overflow='fold'), titles,
                    *([_bad(difference)] if difference.bad[1] else []))
    parts: list[Part] = [
        Text.assemble(name, (f'  {difference.elements:,} of {size:,} elements changed', 'bold'), overflow='fold'), titles]
    if difference.greatest is not None and difference.at is not None and difference.greatest > 0:
        parts.append(Text(f'max |difference| {value(difference.greatest)} at {list(difference.at)}', overflow='fold'))
    parts.append(_bad(difference))
    before, after = as_numbers(change.before), as_numbers(change.values)
    if before is not None and after is not None:
        apart = distances(before, after)
        if has_picture(apart):
            parts += [Text('|difference|', 'dim'), Picture(apart, difference.first)]
    parts.append(_table(change, limit))
    return Page(*parts)


def _bad(difference: Difference) -> Text:
    before, after = difference.bad
    if not before and not after:
        return Text('every element is finite, before and after' if difference.greatest is not None else '', 'dim')
    return Text(f'not finite: {before:,} before, {after:,} after', 'bold red' if after > before else '')


def _table(change: TensorChange, limit: int) -> Page:
    before, after = (_plain(one) for one in (change.before, change.values))
    with np.errstate(all='ignore'):
        other = np.asarray(before != after, bool).reshape(after.shape)
        if before.dtype.kind in 'fc':
            other &= ~(np.isnan(before) & np.isnan(after))
    rows: list[tuple[Text, Text, Text, Text]] = []
    for row in _worst(before, after, other, limit):
        one, two = (part[tuple(row)] for part in (before, after))
        one, two = (part.item() if isinstance(part, np.generic) else part for part in (one, two))
        bad = isinstance(two, float | complex) and not np.isfinite(two)
        rows.append((Text(str(row) if row else '()'), Text(element(one)), Text(element(two), 'bold red' if bad else ''),
                     Text(_apart(one, two))))
    rest = int(np.count_nonzero(other)) - limit
    index, *others = zip(*rows, strict=True)
    columns = [Column('index', index, 0)]
    for rank, (name, cells) in enumerate(zip(('before', 'after', 'difference'), others, strict=True), 1):
        columns.append(Column(name, cells, rank, right=True, least=8, folds=True))
    more = [Text(f'... {rest:,} more', 'dim')] if rest > 0 else []
    return Page(lambda options: fitted_table(columns, options), *more)


def _worst(before: np.ndarray, after: np.ndarray, other: np.ndarray, limit: int) -> list[list[int]]:
    """Indices to list: a few that are not finite any more, then the greatest differences; in C order each."""
    indices = np.argwhere(other)
    if len(indices) <= limit or before.dtype.kind not in 'biufc':
        return [list(map(int, row)) for row in indices[:limit].tolist()]
    apart = distances(before, after)[other]
    broken = np.flatnonzero(np.isfinite(before[other]) & ~np.isfinite(after[other]))[:limit // 2]
    order = np.argsort(np.where(np.isfinite(apart), -apart, 0.0), kind='stable')[:limit - len(broken)]
    return [list(map(int, indices[i].tolist())) for i in (*broken.tolist(), *order.tolist())]


def _plain(array: np.ndarray) -> np.ndarray:
    numbers = as_numbers(array)
    return numbers if numbers is not None else array


def _apart(one: object, two: object) -> str:
    if isinstance(one, bool) or not isinstance(one, int | float | complex) or not isinstance(two, int | float | complex):
        return ''
    try:
        return element(two - one, 4)
    except OverflowError:
        return ''


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    old = np.linspace(0, 1, 48).reshape(6, 8)
    new = old.copy()
    new[2, 3:6], new[4, 1] = np.nan, 7
    demo(change_view(TensorChange('output 0 of call #3 norm[1]', 'output 0 of call #1 norm[0]',
                                  difference('norm:0', old, new),
                                  new, old)))
