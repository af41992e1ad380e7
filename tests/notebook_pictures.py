"""The pictures of a display as images of their own: a code host that takes styles out of HTML shows those.

Called by `notebook_maker` for what it keeps of an output.
"""
from __future__ import annotations

import re

from pyfuncdbg.ui.html.element import Html
from pyfuncdbg.ui.html.theme import display_html

_CLOSED = re.compile(r'<details><summary>.*?</details>', re.DOTALL)
_PICTURE = re.compile(r'<svg class="pf-(?:tape|map)"[^>]*? width="(\d+)" height="(\d+)".*?</svg>', re.DOTALL)
_ON_HOVER = re.compile(r'<title>.*?</title>', re.DOTALL)
_STYLE = re.compile(r'<style>(.*?)</style>', re.DOTALL)
_EDGE = 8


def pictures(page: str) -> list[str]:
    """The tapes, heat maps and curves that the HTML of an output shows at once, as SVG documents."""
    return [_image(found[0], int(found[1]), int(found[2])) for found in _PICTURE.finditer(_CLOSED.sub('', page))]


def _image(picture: str, width: int, height: int) -> str:
    """A document with the rules of displays; without what is there on hover, which an image has not."""
    drawn = _ON_HOVER.sub('', picture).replace('<svg ', f'<svg x="{_EDGE}" y="{_EDGE}" ', 1)
    wide, tall = width + 2 * _EDGE, height + 2 * _EDGE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="pyfuncdbg" width="{wide}" height="{tall}" '
            f'viewBox="0 0 {wide} {tall}"><style>{_rules()}</style>{drawn}</svg>')


def _rules() -> str:
    """Of those that go with every display: the colours, and what is about pictures."""
    style = _STYLE.search(display_html('', Html()))
    assert style is not None
    colors, *rules = style[1].split('\n')
    return '\n'.join([colors, *(rule for rule in rules if rule.startswith(('.pyfuncdbg{', '.pyfuncdbg svg')))])
