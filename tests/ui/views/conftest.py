"""Consoles that write into memory: every view is drawn at a chosen width, with or without colour."""
from __future__ import annotations

import io

import pytest
from growing_texts import no_style_is_inherited
from rich.console import Console

__all__ = ['drawn', 'no_style_is_inherited']


class ASCIIFile(io.StringIO):
    """A text stream that says it can encode ASCII only."""

    encoding = 'ascii'


def drawn(view, width=80, color=False, ascii_only=False):
    """The view as text; with colour, as a terminal would get it."""
    file = ASCIIFile() if ascii_only else io.StringIO()
    console = Console(width=width, file=file, force_terminal=color, color_system='truecolor' if color else None,
                      legacy_windows=False, _environ={})
    console.print(view)
    return file.getvalue()


@pytest.fixture(scope='session')
def draw():
    return drawn
