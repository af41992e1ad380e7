"""Layout of the screen for its size: all panes, one at a time, or only the reason why neither fits. Main thread of the
app."""
from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

WIDE = (110, 34)
"""Columns and rows from which on all panes are seen at once."""
SMALLEST = (40, 12)


def arrange(screen: Screen[object], size: Size) -> None:
    """Arrange the screen; where nothing can be shown, its widget `too_small` says so."""
    width, height = size
    small = width < SMALLEST[0] or height < SMALLEST[1]
    screen.set_class(small, '-small')
    screen.set_class(width < WIDE[0] or height < WIDE[1], '-tabs')
    if small:
        screen.query_one('#too_small', Static).update(
            Content(f'{width}x{height} is too small:\n{SMALLEST[0]}x{SMALLEST[1]} is needed'))
