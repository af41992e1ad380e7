"""Text of the views as HTML: colours and weights as classes that follow the notebook's theme.

Pure; called by `page` and by the pictures.
"""
from __future__ import annotations

import io
from collections.abc import Iterable

from rich.color import ColorType
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from pyfuncdbg.ui.ipython.html.element import Html, element, joined

WIDTH = 160
"""Columns that views get: what is wider scrolls."""
_NAMES = ('black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white')
_WEIGHTS = (('bold', 'pf-b'), ('dim', 'pf-d'), ('italic', 'pf-i'), ('underline', 'pf-u'), ('reverse', 'pf-v'))


def console() -> Console:
    """A console that draws for a page: nothing is printed on it."""
    return Console(file=io.StringIO(), width=WIDTH, color_system='truecolor', force_terminal=True, legacy_windows=False,
                   force_jupyter=False, _environ={})


def text_html(text: Text) -> Html:
    """The text with a span for each style."""
    return spans(Text().append_text(text).render(console()))     # a text without spans would lose its own style


def spans(segments: Iterable[Segment]) -> Html:
    """Pieces of text behind one another; those without a style as they are."""
    return joined(*(_span(segment.text, segment.style) for segment in Segment.simplify(segments)
                    if segment.text and not segment.control))


def classes(style: Style | None) -> str:
    """'pf-b pf-red', '' for a style that is none."""
    if style is None:
        return ''
    found = [name for attribute, name in _WEIGHTS if getattr(style, attribute)]
    color = style.color
    if color is not None and color.type == ColorType.STANDARD and color.number is not None:
        found.append(f'pf-{_NAMES[color.number % 8]}')
    return ' '.join(found)


def _span(text: str, style: Style | None) -> str:
    names, exact = classes(style), _exact(style)
    return element('span', text, class_=names or None, style=exact or None) if names or exact else text


def _exact(style: Style | None) -> str:
    """Colours of a picture are the same in every theme: 'color:#1f77b4;background:#000000'."""
    found = []
    for key, color in (('color', style.color), ('background', style.bgcolor)) if style is not None else ():
        if color is not None and color.type in (ColorType.EIGHT_BIT, ColorType.TRUECOLOR):
            found.append(f'{key}:{color.get_truecolor().hex}')
    return ';'.join(found)
