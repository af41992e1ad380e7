"""Finds words that are drawn in a style by accident: those appended to a Text that has a style of its own.

Such a style goes for all that is appended too, and no style of a span takes it away: 'none' least of all. A Text that grows
has none; what it begins with is a span. The views' and the inspector's tests run under this check.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.style import Style
from rich.text import Text

import pyfuncdbg

FOLDER = str(Path(pyfuncdbg.__file__).parent)


def has_style(text: Text) -> bool:
    """Whether what is appended to it inherits something."""
    return text.style != 'none' and bool(Style.parse(text.style) if isinstance(text.style, str) else text.style)


@pytest.fixture(autouse=True)
def no_style_is_inherited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test fails where the package appends to a Text with a style of its own."""
    found: list[str] = []
    for name in ('append', 'append_text', 'join'):
        monkeypatch.setattr(Text, name, _checked(getattr(Text, name), found))
    yield
    assert not found


def _checked(method: Callable[..., Text], found: list[str]) -> Callable[..., Text]:
    def checked(self: Text, more: Any, *args: Any, **options: Any) -> Text:
        caller = sys._getframe(1)
        place = caller.f_code.co_filename
        if place.startswith(FOLDER) and has_style(self) and more:
            found.append(f'{place}:{caller.f_lineno}: {str(more)!r} is {self.style}, as {self.plain!r} is')
        return method(self, more, *args, **options)
    return checked
