"""Contrast without colours (NO_COLOR): red on black would become dark grey on black.

Main thread of the apps, which ask for it when they are made.
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color as Shade
from textual.filter import LineFilter

_APART = 0.35
"""Least difference in brightness, of 1, between a text and its ground."""


def readable(app: App[Any]) -> None:
    """Keep text and ground of an app apart, if it has no colours: Textual turns both to grey before."""
    if app.no_color:
        app._filters.append(_Contrast())        # Textual has no public place for one


class _Contrast(LineFilter):
    """A filter that makes text white or black if it is too near to its background."""

    def apply(self, segments: list[Segment], background: Shade) -> list[Segment]:
        """The segments, readable."""
        return [Segment(text, style and _apart(style), None) for text, style, _ in segments]


@lru_cache(4096)
def _apart(style: Style) -> Style:
    if style.color is None or style.bgcolor is None:
        return style
    ink, ground = (Shade.from_rich_color(color).brightness for color in (style.color, style.bgcolor))
    if abs(ink - ground) >= _APART:
        return style
    level = 255 if ground < 0.5 else 0
    return style + Style(color=Color.from_rgb(level, level, level))
