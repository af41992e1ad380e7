"""Source lines with numbers: the one that runs next marked with '>', one that raised with '>>', breakpoints with 'B'."""
from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache

from rich.console import ConsoleOptions
from rich.syntax import Syntax
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
from pyfuncdbg.ui.views.escape import shorten, visible
from pyfuncdbg.ui.views.page import Page

WIDEST = 400
"""Characters of a line that are shown."""


def listing_view(listing: Listing, *, dedent: bool = False) -> Page:
    """The lines of a listing, highlighted as Python.

    Args:
        listing: What to show.
        dedent: Take the indentation off that all lines share.
    """
    def draw(options: ConsoleOptions) -> Text:
        return Text('\n').join(cut_line(row, options.max_width) for row in rows(listing, dedent=dedent))
    return Page(draw)


def cut_line(line: Text, width: int) -> Text:
    """A line that is no longer than the width; '...' replaces the rest."""
    if line.cell_len > width:
        line = line.copy()
        line.truncate(max(0, width - 3), overflow='crop')
        return Text.assemble(line, ('...', 'dim'), no_wrap=line.no_wrap, overflow=line.overflow)
    return line


def rows(listing: Listing, *, dedent: bool = False) -> list[Text]:
    """Every line with its marks and number."""
    width = len(str(listing.last))
    texts = []
    for number, code in enumerate(highlight(listing.lines, dedent=dedent), listing.first):
        mark = '>' if number == listing.current else '>>' if number == listing.raised else ''
        broken = 'B' if number in listing.breakpoints else ' '
        style = 'bold red' if mark else 'dim'
        row = Text.assemble((f'{mark:>2}', style), (broken, 'bold red'), (f'{number:>{width}} ', style), overflow='fold')
        row.append_text(code)
        if number == listing.current:
            row.stylize('bold')
        texts.append(row)
    return texts


def highlight(lines: Sequence[str], *, dedent: bool = False) -> list[Text]:
    """Lines of Python in colour; control characters as escapes."""
    safe_lines = [shorten(visible(line), WIDEST) for line in lines]
    if dedent:
        safe_lines = textwrap.dedent('\n'.join(line or ' ' for line in safe_lines)).split('\n')
    text = _syntax().highlight('\n'.join(safe_lines))
    highlighted = list(text.split('\n', allow_blank=True))[:len(safe_lines)]
    for line in highlighted:
        line.rstrip()
    return highlighted + [Text()] * (len(safe_lines) - len(highlighted))


@lru_cache(1)
def _syntax() -> Syntax:
    return Syntax('', 'python', theme='ansi_dark', background_color='default')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    lines = tuple(sample().call(1).site.source.splitlines())
    demo(listing_view(Listing('model.py', 'normalize', 39, lines, current=41, breakpoints=(42,))))
