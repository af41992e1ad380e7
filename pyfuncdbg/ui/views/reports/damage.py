"""Damage of a trace: one line for each part that cannot be read, shown with every view of the rest."""
from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from pyfuncdbg.ui.views.escape import visible


def damage_lines(damage: Iterable[str]) -> list[Text]:
    """'damaged: 4711-0001.log: ends in the middle of a record at byte 20 of 40', a line for each."""
    return [Text(f'damaged: {visible(line)}', 'yellow', overflow='fold') for line in damage]


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import demo
    demo(*damage_lines(['4711-0001.log: ends in the middle of a record at byte 20 of 40']))
