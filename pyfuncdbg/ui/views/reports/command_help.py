"""The list of commands, or the full help of one (`help`)."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.page import Page, Part


def command_list(rows: Sequence[tuple[str, str, str]]) -> Page:
    """Commands under the headings of their groups.

    Args:
        rows: Group, names, and one line of help of each command, groups together.
    """
    parts: list[Part] = []
    for group, members in groupby(rows, key=lambda row: row[0]):
        grid = Table.grid(padding=(0, 2))
        grid.add_column(min_width=26)
        grid.add_column(overflow='fold')
        for _, names, line in members:
            grid.add_row(label(f'  {names}', 'cyan'), label(line))
        parts += [label(group, 'bold'), grid]
    parts.append(Text("'help COMMAND' for more; every command takes --json, and '>> FILE' at its end (.svg: a picture)",
                      'dim'))
    return Page(*parts)


def command_help(text: str) -> Segments:
    """The help of one command, laid out already."""
    return Segments([Segment(text.rstrip('\n') + '\n')])


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(command_list((('look', 'lt, list_tensors', 'list tensors'), ('keep', 'info', 'what this trace is'))))
