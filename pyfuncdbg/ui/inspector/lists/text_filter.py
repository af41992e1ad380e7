"""A drawing with only the rows that hold a text: the filter of panes and answers whose command has none. Pure.

The first line says how many rows are left and by what; the head of a table stays above its rows.
"""
from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import translate

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing, DrawnLine
from pyfuncdbg.ui.views.escape import one_line

_HEAD = 8
"""A rule under headers is looked for among so many lines."""


def narrowed(drawing: Drawing, wanted: str) -> Drawing:
    """The rows that hold a text, under a line that tells their number.

    Args:
        drawing: All of it.
        wanted: Capitals or not; with `*`, `?` or `[...]` a pattern that a part of the row fits. '' asks for all rows.
    """
    if not wanted:
        return drawing
    fits = re.compile(translate(f'*{wanted.lower()}*') if re.search(r'[*?[]', wanted) else
                      f'.*{re.escape(wanted.lower())}', re.DOTALL).match
    head = head_of(drawing)
    rows = [row for row in _rows(drawing.lines[head:]) if any(line.text for line in row)]
    kept = [row for row in rows if any(fits(line.text.lower()) for line in row)]
    lines = [_first(len(kept), len(rows), wanted), *drawing.lines[:head], *(line for row in kept for line in row)]
    chosen = last = -1
    if drawing.chosen >= 0:
        seen = drawing.lines[drawing.chosen:drawing.last + 1]
        places = [index for index, line in enumerate(lines) if any(line is one for one in seen)]
        chosen, last = (places[0], places[-1]) if places else (-1, -1)
    return replace(drawing, lines=tuple(lines), chosen=chosen, last=last)


def head_of(drawing: Drawing) -> int:
    """Lines above the rows of a table: to the rule under its headers; 0 without one."""
    return next((index + 1 for index, line in enumerate(drawing.lines[:_HEAD]) if line.text and not line.text.strip('─- ')),
                0)


def _rows(lines: tuple[DrawnLine, ...]) -> list[list[DrawnLine]]:
    """Lines of one piece, such as a card, are one row; other lines are a row each."""
    rows: list[list[DrawnLine]] = []
    for line in lines:
        if rows and line.piece and rows[-1][0].piece == line.piece:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _first(shown: int, total: int, wanted: str) -> DrawnLine:
    text = f'{shown:,} of {total:,} rows   filter: {one_line(wanted, 60)}   Esc shows all'
    return DrawnLine(Strip([Segment(text, Style(color='yellow', bold=True))]), text)
