"""Escaping of program text: control characters and invisible ones become visible escapes.

Every name, print and message of a trace goes through here, and only ever into `rich.text.Text`, which reads no markup.
"""
from __future__ import annotations

import re

from rich.cells import get_character_cell_size
from rich.text import Text

_STACKED = 10
"""Characters without a width of their own that may follow one another: more than the accents of any script."""
_LONG = 1_000
"""Characters from which on only the ends that are shown are escaped: of megabytes that takes seconds."""
_STYLE = re.compile(r'\x1b\[(?:(?:[0-79]|3[0-79]|4[0-79]|9[0-7]|10[0-7]|[34]8;5;\d{1,3})(?:;(?=\d)|(?=m)))*m')
"""Colours and weights, as rich writes them; what conceals is not among them."""


def visible(text: str) -> str:
    """The text with every non-printable character as its Python escape, newlines and blanks kept.

    Escape sequences, carriage returns, direction overrides, lone surrogates and piles of accents can neither act on the
    terminal nor hide anything; tabs become blanks.
    """
    return '\n'.join(map(_visible_line, text.split('\n')))


def _visible_line(text: str) -> str:
    if not text.isprintable():
        text = ''.join(c if c.isprintable() else _escape(c) for c in text.expandtabs(4))
    return text if text.isascii() or len(text) <= _STACKED else _unstack_accents(text)


def _unstack_accents(text: str) -> str:
    """The text with accents as escapes where too many are piled up."""
    parts, pile = [], 0
    for char in text:
        pile = 0 if get_character_cell_size(char) else pile + 1
        parts.append(char if pile <= _STACKED else _escape(char))
    return ''.join(parts)


def keep_styles(text: str) -> str:
    """Text that another process drew for a terminal: its colours stay, all other control characters become escapes."""
    parts: list[str] = []
    end = 0
    for style in _STYLE.finditer(text):
        parts += visible(text[end:style.start()]), style[0]
        end = style.end()
    parts.append(visible(text[end:]))
    return ''.join([*parts, *(['\x1b[0m'] if end else [])])


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, newlines as '\\n', cut in the middle to `limit` characters (0: not cut)."""
    if limit > 0 and len(text) > 2 * limit + _LONG:
        text = f'{text[:limit]}{text[-limit:]}'         # no escape is shorter than its character: both ends stay as they are
    return shorten(visible(text).replace('\n', '\\n'), limit)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters (0: all), both ends kept around '...': names differ most at their ends."""
    if limit <= 0 or len(text) <= limit:
        return text
    if limit <= 5:
        return text[:limit]
    tail = (limit - 3) // 2
    return f'{text[:limit - 3 - tail]}...{text[-tail:]}'


def label(text: str, style: str = '', limit: int = 0) -> Text:
    """`one_line` as a Text: what tables and titles hold."""
    return Text(one_line(text, limit), style=style, overflow='fold')


def _escape(char: str) -> str:
    return char.encode('unicode_escape', 'surrogatepass').decode('ascii')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(*(label(text, limit=60) for text in ('[bold]norm[/]', 'a\x1b[31mred\rover\tb', '\ud800 \u202e right', 'n' * 500)))
