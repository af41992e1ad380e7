"""Drawn lines of a pane or screen: renderables of the views as lines that know their commands.

Drawn on worker threads; a sheet puts the lines on the screen. Panes and answers whose command has no filter can be filtered
here: the first line says how many rows are left and by what; the head of a table stays above its rows.
"""
from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from pyfuncdbg.ui.inspector.lists.links import first_link, link_at
from pyfuncdbg.ui.views.escape import one_line

MOST = 20_000
"""Lines that are drawn of one picture."""
_SHOWN = 60
"""Characters of a proposed command that cards show."""
_CELL = re.compile(r'[^\s│|]+(?: [^\s│|]+)*')
"""Text between two or more blanks, or between those and a frame."""


@dataclass(frozen=True, slots=True)
class PicturePart:
    """A piece of a picture.

    Attributes:
        shown: What a view drew.
        command: What Enter or a click on one of its lines types; '' where the words of a line say it.
        chosen: Whether the pane scrolls so that this is seen.
        whole: Whether a filter shows all of its lines or none.
        offers: Commands that it proposes: where one stands, with blanks around it, a click or Enter types it. The line of
            the first command is chosen.
    """

    shown: RenderableType
    command: str = ''
    chosen: bool = False
    whole: bool = False
    offers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """Parts under one another, and the title in the frame."""

    title: str
    parts: Sequence[PicturePart]


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One line of a screen.

    Attributes:
        strip: Its cells.
        text: The same.
        command: The command that it types, '' for none.
        piece: The number of its part, if that is `whole`.
        offers: (first column, end, command) of those that its part proposes here; what Enter types comes first.
    """

    strip: Strip
    text: str
    command: str = ''
    piece: int = 0
    offers: tuple[tuple[int, int, str], ...] = ()

    def command_at(self, index: int) -> str:
        """The command of the word at a place: one that is proposed there, or a link."""
        offered = next((command for start, end, command in self.offers if start <= index < end), '')
        return offered or link_at(self.text, index)

    @property
    def chosen(self) -> str:
        """The command that Enter types."""
        return self.offers[0][2] if self.offers else self.command or first_link(self.text)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture at a width. `chosen` is the line to be seen, -1 for none; `last` the last line that belongs to it."""

    title: str
    lines: tuple[DrawnLine, ...]
    chosen: int = -1
    last: int = -1


def drawing(picture: DrawnPicture, width: int) -> Drawing:
    """Draw a picture; what is beyond the first lines is counted."""
    console = Console(file=io.StringIO(), width=max(width, 10), force_terminal=True, color_system='truecolor',
                      legacy_windows=False, markup=False, emoji=False, highlight=False, _environ={})
    lines: list[DrawnLine] = []
    first_chosen = last = -1
    for index, part in enumerate(picture.parts):
        if len(lines) >= MOST:
            shown = Text(f'... {len(picture.parts) - index:,} more rows: list fewer', 'yellow')
            lines += [_line(cells, '') for cells in console.render_lines(shown, pad=False)]
            break
        first = len(lines)
        piece = index + 1 if part.whole else 0
        lines += [_line(cells, part.command, piece, part.offers)
                  for cells in console.render_lines(part.shown, pad=False)[:MOST]]
        if part.offers:
            first_chosen = last = next((at for at in range(first, len(lines)) if lines[at].chosen == part.offers[0]), -1)
        elif part.chosen:
            first_chosen, last = first, len(lines) - 1
    return Drawing(picture.title, tuple(lines), first_chosen, last)


def _line(cells: list[Segment], command: str, piece: int = 0, offers: Sequence[str] = ()) -> DrawnLine:
    strip = Strip([Segment(text, _on_pane(style)) for text, style, control in cells if not control]).simplify()
    text = strip.text.rstrip()
    return DrawnLine(strip, text, command, piece, _offers_in(text, offers) if offers else ())


def _offers_in(text: str, commands: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    """Columns of the commands that a line proposes: in its first cell, or in several with three blanks between them."""
    known = {one_line(command, _SHOWN): command for command in commands}
    found = [(cell.start(), cell.end(), known[cell.group()]) for cell in _CELL.finditer(text) if cell.group() in known]
    first = _CELL.search(text)
    if not found or first is None or found[0][0] != first.start():
        return ()
    return tuple(sorted(found, key=lambda offer: offer[2] != commands[0]))


@lru_cache(1_000)
def _on_pane(style: Style | None) -> Style | None:
    """A style whose default colours are the pane's: those of the terminal would make patches on it."""
    if style is None or not any(color is not None and color.is_default for color in (style.color, style.bgcolor)):
        return style
    color, bgcolor = (None if color is None or color.is_default else color for color in (style.color, style.bgcolor))
    return Style(color=color, bgcolor=bgcolor, bold=style.bold, dim=style.dim, italic=style.italic,
                 underline=style.underline, strike=style.strike, reverse=style.reverse, link=style.link)


def filter_rows(drawing: Drawing, pattern: str) -> Drawing:
    """The rows that hold a text, under a line that tells their number.

    Args:
        drawing: All of it.
        pattern: Capitals or not; with `*`, `?` or `[...]` a pattern that a part of the row fits. '' asks for all rows.
    """
    if not pattern:
        return drawing
    fits = re.compile(translate(f'*{pattern.lower()}*') if re.search(r'[*?[]', pattern) else
                      f'.*{re.escape(pattern.lower())}', re.DOTALL).match
    head = head_of(drawing)
    rows = [row for row in _rows(drawing.lines[head:]) if any(line.text for line in row)]
    kept = [row for row in rows if any(fits(line.text.lower()) for line in row)]
    lines = [_first(len(kept), len(rows), pattern), *drawing.lines[:head], *(line for row in kept for line in row)]
    chosen = last = -1
    if drawing.chosen >= 0:
        seen = drawing.lines[drawing.chosen:drawing.last + 1]
        places = [index for index, line in enumerate(lines) if any(line is one for one in seen)]
        chosen, last = (places[0], places[-1]) if places else (-1, -1)
    return replace(drawing, lines=tuple(lines), chosen=chosen, last=last)


_HEAD = 8
"""Lines that are searched for the rule under headers."""


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


def _first(count: int, total: int, pattern: str) -> DrawnLine:
    text = f'{count:,} of {total:,} rows   filter: {one_line(pattern, 60)}   Esc shows all'
    return DrawnLine(Strip([Segment(text, Style(color='yellow', bold=True))]), text)
