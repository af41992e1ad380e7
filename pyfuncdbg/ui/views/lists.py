"""Lists fitted to the width: a first line with count, order and active filters, and a table.

The dispensable columns are left out first. A row is one line wherever possible: names are cut in the middle, and only
remarks go on in a second line. What room there is goes to the cells that it makes whole.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count

_GAP = 2
"""Blanks between two columns: one of rich's padding, one of its box."""
_WORD = 24
"""Characters of a word that is kept whole where a cell goes on in the next line."""
USUAL = 'time'
"""The order that lists have by themselves: its column is no more needed than others."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list.

    Attributes:
        title: The header. Its first word is the key that sorts by it, if there is one.
        cells: One for each row.
        rank: The column of the lowest rank stays longest.
        right: Whether it is set to the right.
        least: Width to which it may shrink; 0 for none.
        folds: A cell that is too wide goes on in the next line; otherwise it is cut in the middle.
    """

    title: str
    cells: Sequence[Text]
    rank: int
    right: bool = False
    least: int = 0
    folds: bool = False


def fitted_table(columns: Sequence[Column], options: ConsoleOptions, *, sort: str = '') -> Table:
    """A table as wide as the console at most.

    Args:
        columns: From left to right. One whose cells are all empty is left out.
        options: Of the console.
        sort: Key that the list is sorted by: its column is marked with 'v', or '^' for 'key, reversed'; unless this is the
            usual order, it is shown if any is.
    """
    key, turned, _ = sort.partition(',')
    mark = '^' if turned else 'v'
    columns = [replace(column, cells=_unit_aligned(column)) for column in columns]
    titled = [(column, f'{column.title} {mark}' if key and column.title.split()[0] == key else column.title)
              for column in columns if any(cell.plain for cell in column.cells)]
    widths = _widths(titled, options.max_width, '' if key == USUAL else key)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style='dim')
    visible = [(column, title, width) for (column, title), width in zip(titled, widths, strict=True) if width]
    for column, title, width in visible:
        table.add_column(Text(title if len(title) <= width else title[:width]), justify='right' if column.right else 'left',
                         width=width, overflow='fold' if column.folds else 'crop', no_wrap=not column.folds)
    for row in zip(*(column.cells for column, _, _ in visible), strict=True):
        table.add_row(*(cell if column.folds else shorten_text(cell, width)
                        for cell, (column, _, width) in zip(row, visible, strict=True)))
    return table


_NUMBER_AND_UNIT = re.compile(r'[\d.,]+ (?P<unit>[A-Za-z]{1,2})')


def _unit_aligned(column: Column) -> Sequence[Text]:
    """The cells of a column of numbers with their units below one another: '1.2 s ' and '340 ms'."""
    if not column.right:
        return column.cells
    lengths = [len(match['unit']) if (match := _NUMBER_AND_UNIT.fullmatch(cell.plain)) else 0 for cell in column.cells]
    longest = max(lengths, default=0)
    return [Text.assemble(cell, ' ' * (longest - length)) if 0 < length < longest else cell
            for cell, length in zip(column.cells, lengths, strict=True)]


def shorten_text(text: Text, width: int) -> Text:
    """A text no wider than that, both ends kept, in their styles."""
    if text.cell_len <= width:
        return text
    most = width
    while (short := _shorten(text, most)).cell_len > width and most > 1:
        most -= 1                               # characters that take two columns
    return short


def _shorten(text: Text, most: int) -> Text:
    """As `escape.shortened`."""
    if len(text) <= most:
        return text
    if most <= 5:
        return text[:most]
    tail = (most - 3) // 2
    return Text.assemble(text[:most - 3 - tail], '...', text[len(text) - tail:], style=text.style)


def _widths(titled: Sequence[tuple[Column, str]], room: int, first: str) -> list[int]:
    """The width of each column; 0 for one that is left out."""
    lengths = [sorted({len(title), *(cell.cell_len for cell in column.cells)}) for column, title in titled]
    least = [min(cells[-1], max(column.least, len(title), _word(column))) if column.least else cells[-1]
             for cells, (column, title) in zip(lengths, titled, strict=True)]
    order = sorted(range(len(titled)), key=lambda i: (titled[i][0].title.split()[0] != first, titled[i][0].rank))
    widths = [0] * len(titled)
    free = room + _GAP
    for i in order:
        needed_width = least[i] + _GAP
        if needed_width <= free:
            widths[i] = least[i]
            free -= needed_width
        elif free == room + _GAP:               # the first one of all: better cut than not there
            widths[i] = max(1, room)
            free = 0
    return _widen([column for column, _ in titled], lengths, widths, free)


def _word(column: Column) -> int:
    """The longest word of a column that goes on in the next line, which then breaks no word; of long ones it does."""
    if not column.folds:
        return 0
    words = [len(word) for cell in column.cells for word in cell.plain.split()]
    return max((length for length in words if length <= _WORD), default=0)


def _widen(columns: Sequence[Column], lengths: Sequence[Sequence[int]], widths: list[int], free: int) -> list[int]:
    """Widths with what is left of the room: it goes where the fewest blanks make the most cells whole."""
    cells = [Counter(cell.cell_len for cell in column.cells) for column in columns]

    def gains() -> Iterator[tuple[float, int, int, int]]:
        """Cells made whole for each blank, of each width that a column can have."""
        for i, width in enumerate(widths):
            whole_cells = 0
            for length in lengths[i] if width else ():
                if width < length <= width + free:
                    whole_cells += cells[i][length]
                    yield whole_cells * (2 if columns[i].folds else 1) / (length - width), -columns[i].rank, i, length
    while best := max(gains(), default=None):
        _, _, i, length = best
        free -= length - widths[i]
        widths[i] = length
    # No further cell can be whole: the names show more of both their ends.
    for i in sorted(range(len(columns)), key=lambda i: columns[i].rank):
        more = min(free, lengths[i][-1] - widths[i]) if widths[i] else 0
        widths[i] += more
        free -= more
    return widths


def heading(total: int, noun: str, *, plural: str = '', shown: int | None = None,
            filters: Mapping[str, object] | None = None, sort: str = '', dropped: int = 0) -> Text:
    """'412 calls, 50 shown   sort: time   filter: site norm*, failed   dropped: 0'."""
    text = Text.assemble((count(total, noun, plural), 'bold'), overflow='fold')
    if shown is not None and shown < total:
        text.append(f', {shown:,} shown')
    if sort:
        text.append(f'   sort: {one_line(sort, 40)}', 'dim')
    text.append(f'   filter: {_named(filters or {})}', 'dim')
    if dropped:
        text.append(f'   not kept: {dropped:,}', 'yellow')
    return text


def unrecorded_text(ops: bool, stepped: bool) -> str:
    """A remark on nodes that were not recorded; '' where all were.

    Args:
        ops: Whether all nodes were recorded.
        stepped: Whether some were without that, for a run was stepped through.
    """
    if ops:
        return ''
    if stepped:
        return 'nodes of the graph were recorded only where they were stepped through: --ops records all'
    return 'nodes of the graph were not recorded: --ops does that'


def _named(filters: Mapping[str, object]) -> str:
    words = [one_line(name if value is True else f'{name} {value}', 80) for name, value in filters.items()]
    return ', '.join(words) or 'none'


if __name__ == '__main__':
    from rich.console import Console
    names, numbers = [Text('layer/' * 9 + 'norm'), Text('x')], [Text('1.5'), Text('20')]
    demo = [Column('name', names, 0, least=12), Column('mean', numbers, 1, right=True), Column('shape', names, 2)]
    console = Console(width=60)
    console.print(fitted_table(demo, console.options, sort='mean'))
