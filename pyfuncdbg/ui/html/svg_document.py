"""A drawing as an SVG document of its own, with light colours, a title and its style sheet.

Pure; called by commands that write pictures.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.theme import svg_rules

_EDGE = 12
_LINE = 20
"""Pixels around the drawing, and of a line of text."""
_LETTER = 6.7
"""Pixels of a letter of 11 pixels: a picture is as wide as its title."""
_NONE = Html()


@dataclass(frozen=True, slots=True)
class SvgDrawing:
    """One SVG element.

    Attributes:
        picture: The element.
        width, height: Its size in pixels.
        note: A line of text below it, '' for none.
        legend: Markup below it instead, within 640 x 20 pixels.
    """

    picture: Html
    width: float
    height: float
    note: str = ''
    legend: Html = _NONE


def svg_document(drawing: SvgDrawing, title: str) -> str:
    """The document.

    Args:
        drawing: What it shows.
        title: Line above it.
    """
    legend = element('text', drawing.note, x=0, y=8) if drawing.note else drawing.legend
    below = _LINE if legend else 0
    width = max(drawing.width, 640 if legend else 0, _LETTER * len(title)) + 2 * _EDGE
    height = drawing.height + _LINE + below + 2 * _EDGE
    parts = [element('style', Html(svg_rules())), element('rect', width='100%', height='100%', fill='#ffffff'),
             element('text', title, x=_EDGE, y=_EDGE + 6, class_='pf-name', style='text-anchor:start'),
             element('g', drawing.picture, transform=f'translate({_EDGE} {_EDGE + _LINE})')]
    if legend:
        parts.append(element('g', legend, transform=f'translate({_EDGE} {_EDGE + _LINE + drawing.height + 4:g})'))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + element(
        'svg', joined(*parts), xmlns='http://www.w3.org/2000/svg', width=width, height=height,
        viewBox=f'0 0 {width:g} {height:g}') + '\n'
