"""A view as HTML: tables, panels as boxes, pictures as SVG, all else as printed text.

So every command has a display, and says the same in a notebook as in a terminal. Colours and weights are classes that follow
the notebook's theme. Pure; called by `displays`.
"""
from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from rich.color import ColorType
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.heatmap import heatmap_html
from pyfuncdbg.ui.html.pages import paged_table
from pyfuncdbg.ui.html.picture import picture_html
from pyfuncdbg.ui.views.page import Fitted, Page
from pyfuncdbg.ui.views.pictures.heatmap import HeatMap
from pyfuncdbg.ui.views.pictures.picture import Picture

_LINE = 110
"""Columns of lines of text."""
WIDTH = 160
"""Columns that views get: what is wider scrolls."""


def page_html(view: Any) -> Html:
    """A view, or one part of it.

    Args:
        view: A renderable of rich, or a function from the console's options to one.
    """
    return _part(view, console())


def _part(view: Any, drawing: Console) -> Html:
    if isinstance(view, Page):
        return joined(*(_part(part, drawing) for part in view.parts))
    if isinstance(view, Text):
        if view.no_wrap or '\n' in view.plain:  # columns: nbconvert closes the gaps of what is not in a `pre`
            return element('pre', text_html(view), class_='pf-pre')
        return element('div', text_html(view) if view.plain else Html('&nbsp;'), class_='pf-line')
    if isinstance(view, Table):
        return _table(view, drawing)
    if isinstance(view, Padding):
        return element('div', _part(view.renderable, drawing), class_='pf-pad')
    if isinstance(view, Panel):
        title = [element('div', _inline(view.title, drawing), class_='pf-title')] if view.title else []
        return element('div', *title, _part(view.renderable, drawing), class_='pf-panel')
    if isinstance(view, Group):
        return joined(*(_part(part, drawing) for part in view.renderables))
    if isinstance(view, Picture):
        return picture_html(view.array, view.near)
    if isinstance(view, HeatMap):
        return heatmap_html(view.array)
    if callable(view):
        return _part(_fitted(view, drawing), drawing)
    return element('pre', _printed(view, drawing), class_='pf-pre')


def _fitted(view: Fitted, drawing: Console) -> Any:
    """Tables get all the room there is; lines of text, which cannot scroll by the column, what most notebooks have."""
    drawn = view(drawing.options)
    if isinstance(drawn, Text) and max(map(len, drawn.plain.split('\n'))) > _LINE:
        return view(drawing.options.update(width=_LINE))
    return drawn


def _inline(view: Any, drawing: Console) -> Html:
    """The content of a cell: text without a line of its own."""
    if isinstance(view, str):
        return joined(view)                     # never read as rich's markup
    return text_html(view) if isinstance(view, Text) else _part(view, drawing)


def _printed(view: Any, drawing: Console) -> Html:
    lines = drawing.render_lines(view, drawing.options, pad=False)
    found = [segment for line in lines for segment in (*line, Segment.line())]
    return spans(found[:-1])


def _table(table: Table, drawing: Console) -> Html:
    columns = table.columns
    cells = zip(*(column.cells for column in columns), strict=True)
    rows = [element('tr', *(_cell('td', _inline(cell, drawing), column, drawing)
                            for cell, column in zip(row, columns, strict=True))) for row in cells]
    if not table.show_header:
        return element('table', element('tbody', *rows), class_='pf-g')
    titles = element('tr', *(_cell('th', _inline(column.header, drawing), column, drawing, scope='col')
                             for column in columns))
    return paged_table(element('thead', titles), rows)


def _cell(name: str, content: Html, column: Column, drawing: Console, **more: str) -> Html:
    style = column.style if isinstance(column.style, Style) else drawing.get_style(column.style)
    words = [*(['pf-r'] if column.justify == 'right' else []), *classes(style).split(),
             *([] if column.no_wrap else ['pf-f'])]
    return element(name, content, class_=' '.join(words) or None, **more)


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


_NAMES = ('black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white')
_WEIGHTS = (('bold', 'pf-b'), ('dim', 'pf-d'), ('italic', 'pf-i'), ('underline', 'pf-u'), ('reverse', 'pf-v'))


def classes(style: Style | None) -> str:
    """'pf-b pf-red', '' for a style that is none."""
    if style is None:
        return ''
    names = [name for attribute, name in _WEIGHTS if getattr(style, attribute)]
    color = style.color
    if color is not None and color.type == ColorType.STANDARD and color.number is not None:
        names.append(f'pf-{_NAMES[color.number % 8]}')
    return ' '.join(names)


def _span(text: str, style: Style | None) -> str:
    names, exact = classes(style), _exact(style)
    return element('span', text, class_=names or None, style=exact or None) if names or exact else text


def _exact(style: Style | None) -> str:
    """Colours of a picture are the same in every theme: 'color:#1f77b4;background:#000000'."""
    styles = []
    for key, color in (('color', style.color), ('background', style.bgcolor)) if style is not None else ():
        if color is not None and color.type in (ColorType.EIGHT_BIT, ColorType.TRUECOLOR):
            styles.append(f'{key}:{color.get_truecolor().hex}')
    return ';'.join(styles)
