"""Rows of a list as lines of cells: the columns that fit into a width, the cells of each row.

Pure; drawn on worker threads, so that the screen only puts finished lines in place.
"""
from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from pyfuncdbg.ui.inspector.lists.rows import ListColumn, Row
from pyfuncdbg.ui.views.lists import shorten_text

_GAP = 2


@dataclass(frozen=True, slots=True)
class ColumnSlot:
    """The cells of a column on a line, from `start` on; `index` is its place in a row."""

    column: ListColumn
    index: int
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class RowLine:
    """A drawn row; a strip is made of it when it is seen, for strips keep a dozen objects each."""

    key: str
    segments: tuple[Segment, ...]
    text: str

    @property
    def strip(self) -> Strip:
        """Its cells."""
        return Strip(self.segments)


def slots(columns: Sequence[ListColumn], width: int) -> tuple[ColumnSlot, ...]:
    """The columns that fit into a width."""
    visible = [(index, column) for index, column in enumerate(columns) if width >= column.beyond]
    taken = sum(column.width for _, column in visible) + _GAP * (len(visible) - 1)
    filling = [index for index, column in visible if column.fills]
    left = max(0, width - taken)
    column_slots: list[ColumnSlot] = []
    start = 0
    for index, column in visible:
        more = left // len(filling) if index in filling else 0
        if index in filling[:1]:
            more += left % len(filling)
        size = min(column.width + more, max(0, width - start))
        if size:
            column_slots.append(ColumnSlot(column, index, start, size))
        start += size + _GAP
    return tuple(column_slots)


def lines(rows: Sequence[Row], places: Sequence[ColumnSlot]) -> list[RowLine]:
    """The rows, drawn."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system='truecolor', legacy_windows=False, markup=False,
                      emoji=False, highlight=False, _environ={})
    return [_line(row, places, console) for row in rows]


def _line(row: Row, places: Sequence[ColumnSlot], console: Console) -> RowLine:
    segments: list[Segment] = []
    for place in places:
        segments += _cell(row.cells[place.index], place, console)
        segments.append(Segment(' ' * _GAP))
    strip = Strip(segments).simplify()
    return RowLine(row.key, tuple(strip), strip.text.rstrip())


def _cell(text: Text, place: ColumnSlot, console: Console) -> list[Segment]:
    cell = text.copy()
    cell.end = ''
    if cell.cell_len > place.width and not cell.spans:
        cell = shorten_text(cell, place.width)           # a label ends with the number of its call
        cell.end = ''
    elif cell.cell_len > place.width:
        cell.truncate(place.width, overflow='ellipsis')
    space = Segment(' ' * (place.width - cell.cell_len))
    drawn = [segment for segment in cell.render(console) if segment.text]
    return [space, *drawn] if place.column.right else [*drawn, space]


def header(places: Sequence[ColumnSlot], sort: str, down: bool) -> Strip:
    """The titles; an arrow marks the one that the rows are sorted by."""
    segments: list[Segment] = []
    for place in places:
        title = place.column.title
        sorted_by = place.column.key == sort
        if sorted_by:
            title = title[:max(0, place.width - 2)] + (' v' if down else ' ^')
        title = title[:place.width]
        title = title.rjust(place.width) if place.column.right else title.ljust(place.width)
        segments += [Segment(title, Style(bold=sorted_by, underline=True, dim=not sorted_by)), Segment(' ' * _GAP)]
    return Strip(segments)


def mark_text(line: RowLine, sought: str, style: Style) -> Strip:
    """The line with every occurrence of a text in a style."""
    text = line.text.lower()
    cuts: list[int] = []
    start = text.find(sought)
    while start >= 0:
        cuts += [Text(line.text[:start]).cell_len, Text(line.text[:start + len(sought)]).cell_len]
        start = text.find(sought, start + len(sought))
    if not cuts:
        return line.strip
    pieces = line.strip.divide([*cuts, line.strip.cell_length])
    return Strip.join([Strip([Segment(segment.text, (segment.style or Style()) + style) for segment in piece])
                       if index % 2 else piece for index, piece in enumerate(pieces)])
