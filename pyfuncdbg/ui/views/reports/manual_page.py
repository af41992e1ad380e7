"""Pages of the manual and the list of them: Markdown fitted to the width (`help TOPIC`). Pure."""
from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.page import Page

_WIDEST = 100
"""Columns: longer lines of prose are hard to read."""
_COLUMNS = 60
"""Columns of a terminal that has room for tables."""
_LINK = re.compile(r'\[(help \w+)\]\(\w+\.md\)')
_FILE = re.compile(r'\[[^\]]+\]\((?:\.\./)+([^)]+)\)')
_FENCED = re.compile(r'(^```.*?^```$)', re.MULTILINE | re.DOTALL)
_CODE = re.compile(r'`([^`]+)`')
_THEME = Theme({
    'markdown.h1': 'bold', 'markdown.h2': 'bold cyan', 'markdown.h3': 'cyan', 'markdown.code': 'cyan',
    'markdown.code_block': 'none', 'markdown.item.bullet': 'dim', 'markdown.table.header': 'bold',
    'markdown.table.border': 'dim'})
"""Without backgrounds: a terminal may be light or dark."""


class _Heading(Heading):
    """Underlined: without colour it would pass for a line of text."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text
        line = ('-' if options.ascii_only else '─') * min(self.text.cell_len, options.max_width)
        yield Text(line, console.get_style(self.style_name))


class _Table(TableElement):
    """A table of a manual page. Where the width is too small for columns, the cells of a row stand under one another."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < _COLUMNS and self.body is not None:
            for row in self.body.rows:
                first, *others = (cell.content for cell in row.cells)
                yield first
                yield from (Padding(cell, (0, 0, 0, 2)) for cell in others)
            return
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                table.show_edge = False         # it is drawn as an empty line
                for column in table.columns:
                    column.overflow = 'fold'
            yield table


class _Example(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(Text(str(self.text).rstrip(), overflow='fold'), (0, 0, 0, 2), expand=False)


class ManualPage(Markdown):
    """One page of the manual.

    Args:
        text: Markdown. A link to another page is written `[help NAME](NAME.md)`, and shown as what to type; of one to a
            file of the repository the path is shown.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements, 'heading_open': _Heading, 'fence': _Example, 'table_open': _Table}

    def __init__(self, text: str) -> None:
        text = _FILE.sub(r'`\1`', _LINK.sub(r'`\1`', text))
        super().__init__(text, hyperlinks=False)
        parts = _FENCED.split(text)
        parts[::2] = [_CODE.sub(r'`` `\1` ``', prose) for prose in parts[::2]]
        self._colourless = Markdown(''.join(parts)).parsed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        page = copy(self)
        if console.color_system is None or console.no_color:        # code and prose would look alike
            page.parsed = self._colourless
        with console.use_theme(_THEME):
            drawn = list(Markdown.__rich_console__(page, console, options.update(width=min(options.max_width, _WIDEST))))
        for each in drawn:
            if isinstance(each, Segment):
                yield each
            else:
                yield from console.render(each, options)


def topic_list(topics: Sequence[tuple[str, str]], hint: str) -> Page:
    """Topics with what each is about.

    Args:
        topics: Name and title of each.
        hint: The last line: what to type.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow='fold')
    for name, title in topics:
        grid.add_row(label(f'  {name}', 'cyan'), label(title))
    return Page(label('manual', 'bold'), grid, label(hint, 'dim'))


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(ManualPage('# Stops: where a program waits\n\nSee [help conditions](conditions.md).\n\n```console\n(pfd) p x\n```'),
         topic_list([('stops', 'where a program waits')], "'help TOPIC' shows one"))
