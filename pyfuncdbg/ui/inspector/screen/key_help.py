"""The help page of the inspector's keys, grouped by task, above the list of commands of `help`. Pure."""
from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pyfuncdbg.ui.inspector.screen.keys import COMMANDS, GROUPS, LISTS, STEP, WRONG, keys
from pyfuncdbg.ui.views.page import Page

_COLUMN = 38
"""Characters that a column of the page needs."""
_OF_LISTS = (('j k', 'line by line, as Up and Down'), ('Enter', 'open it; a click does so too'),
             ('o O', 'sort: next column, reversed'), ('+ - 0', 'timeline: closer, farther, all'))
"""Keys of the panes themselves."""


def key_help(*, live: bool) -> Page:
    """Every key and what it does, in as many columns as there is room for.

    Args:
        live: With the keys that act on a program that runs.
    """
    groups = _groups(live=live)

    def draw(options: ConsoleOptions) -> RenderableType:
        columns = _columns(groups, max(1, options.max_width // _COLUMN))
        page = Table.grid(padding=(0, 1), expand=True)
        for _ in columns:
            page.add_column(ratio=1)
        page.add_row(*(_drawn(column) for column in columns))
        return page
    return Page(draw, Text(), Text('commands: type their letters, or ":" first', 'bold'))


_Group = tuple[str, tuple[tuple[str, str], ...]]


def _groups(*, live: bool) -> list[_Group]:
    """(heading, (key, what it does) ...) of every group that has keys here."""
    rows: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
    lines: set[str] = set()                     # the first binding of a key wins: the one that acts on the program
    for key in keys():
        if key.help and (live or not key.stopped) and not (key.key in lines and not key.stopped):
            rows[key.group].append((key.row or key.shown, key.help))
            lines.add(key.key)
    rows[LISTS][:0] = _OF_LISTS
    page, colon, *others = rows[COMMANDS]
    rows[COMMANDS] = [colon, ('Tab', 'completes it; Up: earlier ones'), *others, page]
    if live:
        rows[STEP].append(('Enter', "on a run's card: run it"))
        rows[WRONG].append(('report', 'the word: what happened'))
    return [(group, tuple(rows[group])) for group in GROUPS if rows[group]]


def _columns(groups: Sequence[_Group], count: int) -> list[list[_Group]]:
    """Groups in order, in columns of about the same height."""
    heights = [1 + len(rows) for _, rows in groups]
    limit = max(-(-sum(heights) // count), *heights)
    while True:
        columns: list[list[_Group]] = [[]]
        filled = 0
        for group, height in zip(groups, heights, strict=True):
            if columns[-1] and filled + height > limit:
                columns.append([])
                filled = 0
            columns[-1].append(group)
            filled += height
        if len(columns) <= count:
            return columns
        limit += 1


def _drawn(groups: Sequence[_Group]) -> Group:
    parts: list[RenderableType] = []
    for heading, rows in groups:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(style='bold cyan', no_wrap=True, width=7)
        grid.add_column(overflow='fold')
        for shown, text in rows:
            grid.add_row(f' {shown}', Text(text))
        parts += [Text(heading, 'bold underline'), grid]
    return Group(*parts)
