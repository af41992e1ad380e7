"""What a pane or screen shows: renderables of the views, drawn to lines; each line knows its command.

Drawn on worker threads; a sheet puts the lines on the screen.
"""
from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

MOST = 20_000
"""Lines that are drawn of one picture."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a picture.

    Attributes:
        shown: What a view drew.
        command: What Enter or a click on one of its lines types; '' where the words of a line say it.
        chosen: Whether the pane scrolls so that this is seen.
        whole: Whether a filter shows all of its lines or none.
    """

    shown: RenderableType
    command: str = ''
    chosen: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Parts under one another, and what stands in the frame."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a screen: its cells, its text, the command it stands for; the number of its part, if that is `whole`."""

    strip: Strip
    text: str
    command: str = ''
    piece: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture at a width. `chosen` is the line to be seen, -1 for none; `last` the last line that belongs to it."""

    title: str
    lines: tuple[Line, ...]
    chosen: int = -1
    last: int = -1


def drawing(picture: Picture, width: int) -> Drawing:
    """Draw a picture; what is beyond the first lines is counted."""
    console = Console(file=io.StringIO(), width=max(width, 10), force_terminal=True, color_system='truecolor',
                      legacy_windows=False, markup=False, emoji=False, highlight=False, _environ={})
    lines: list[Line] = []
    chosen = last = -1
    for index, part in enumerate(picture.parts):
        if len(lines) >= MOST:
            shown = Text(f'... {len(picture.parts) - index:,} further rows: ask for fewer', 'yellow')
            lines += [_line(cells, '') for cells in console.render_lines(shown, pad=False)]
            break
        first = len(lines)
        piece = index + 1 if part.whole else 0
        lines += [_line(cells, part.command, piece) for cells in console.render_lines(part.shown, pad=False)[:MOST]]
        if part.chosen:
            chosen, last = first, len(lines) - 1
    return Drawing(picture.title, tuple(lines), chosen, last)


def _line(cells: list[Segment], command: str, piece: int = 0) -> Line:
    strip = Strip([Segment(text, _on_pane(style)) for text, style, control in cells if not control]).simplify()
    return Line(strip, strip.text.rstrip(), command, piece)


@lru_cache(1_000)
def _on_pane(style: Style | None) -> Style | None:
    """A style whose default colours are the pane's: those of the terminal would make patches on it."""
    if style is None or not any(color is not None and color.is_default for color in (style.color, style.bgcolor)):
        return style
    color, bgcolor = (None if color is None or color.is_default else color for color in (style.color, style.bgcolor))
    return Style(color=color, bgcolor=bgcolor, bold=style.bold, dim=style.dim, italic=style.italic,
                 underline=style.underline, strike=style.strike, reverse=style.reverse, link=style.link)
