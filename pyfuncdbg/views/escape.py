"""Text that came out of a program, made safe to show: control characters and invisible ones as escapes.

Every name, print and message of a trace goes through here, and only ever into `rich.text.Text`, which reads no markup.
"""
from __future__ import annotations

from rich.text import Text


def visible(text: str) -> str:
    """The text with every non-printable character as its Python escape, newlines and blanks kept.

    Escape sequences, carriage returns, direction overrides and lone surrogates can neither act on the terminal nor
    hide anything; tabs become blanks.
    """
    if text.isprintable():
        return text
    return ''.join(c if c == '\n' or c.isprintable() else _escaped(c) for c in text.expandtabs(4))


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, newlines as '\\n', cut in the middle to `limit` characters (0: not cut)."""
    return shortened(visible(text).replace('\n', '\\n'), limit)


def shortened(text: str, limit: int) -> str:
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


def _escaped(char: str) -> str:
    return char.encode('unicode_escape', 'surrogatepass').decode('ascii')


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    demo(*(label(text, limit=60) for text in ('[bold]norm[/]', 'a\x1b[31mred\rover\tb', '\ud800 \u202e right', 'n' * 500)))
