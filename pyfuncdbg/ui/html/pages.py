"""A long list as a paged table without a kernel or a script: page numbers are radio buttons.

Pure; called by `page` and `tensors`.
"""
from __future__ import annotations

from collections.abc import Sequence

from pyfuncdbg.ui.html.element import Html, element, joined

ROWS = 25
"""Rows on a page."""
_FEWEST = 6
"""Fewer rows than these are not worth a page of their own: they go to the one before."""
MOST = 1_000
"""Rows in all: an output is a part of the notebook's file."""


def paged_table(header: Html, rows: Sequence[Html]) -> Html:
    """The rows under their header, on pages if there are many."""
    size = min(len(rows), MOST)
    starts = [first for first in range(0, size, ROWS) if not first or size - first >= _FEWEST] or [0]
    ends = [*starts[1:], size]
    parts = [element('table', header, element('tbody', *rows[first:end]), class_='pf-t')
             for first, end in zip(starts, ends, strict=True)]
    names = [f'{first + 1}–{end}' for first, end in zip(starts, ends, strict=True)]
    more = [element('div', f'... {len(rows) - MOST:,} further rows not shown', class_='pf-d')] if len(rows) > MOST else []
    return joined(paged(parts, names, 'rows'), *more)


def paged(parts: Sequence[Html], names: Sequence[str], noun: str, first: int = 0) -> Html:
    """One of the parts at a time, the first one until the user chooses; a single one as it is.

    A form keeps the buttons of two outputs apart; `dialog` is the method of one that is sent nowhere.

    Args:
        parts: What can be chosen.
        names: What is written on their buttons.
        noun: What they are, for readers of the screen.
        first: The one that is shown at first.
    """
    if len(parts) == 1:
        return parts[0]
    pages: list[Html] = []
    for i, (part, name) in enumerate(zip(parts, names, strict=True)):
        pages.append(element('label', element('input', type='radio', name_='page', checked=i == first,
                                              aria_label=f'{noun} {name}'), name))
        pages.append(element('section', part))
    return element('form', element('span', noun, class_='pf-d'), *pages, class_='pf-pages', method='dialog')
