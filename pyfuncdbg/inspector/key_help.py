"""The keys of the inspector on a page, above the list of commands that `help` gives. Pure."""
from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pyfuncdbg.inspector.keys import keys
from pyfuncdbg.views.page import Page


def key_help(*, live: bool) -> Page:
    """Every key and what it does.

    Args:
        live: With the keys that act on a program that runs.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style='bold cyan', no_wrap=True)
    grid.add_column(overflow='fold')
    for key in keys():
        if live or not key.stopped:
            grid.add_row(f'  {key.shown}', Text(key.help))
    for shown, text in (('Up Down', 'line by line; PageUp, PageDown, Home, End, Left and Right move further'),
                        ('Enter', 'open what the line is about; a click on a word or line does the same'),
                        ('o O', 'in a list: sort by the next column, the other way round; a click on a header sorts by it, '
                         'a second one the other way round'),
                        ('+ - 0', 'in the timeline: closer, farther, all of it; the wheel does the same; Left and Right go '
                         'from call to call, Up and Down from thread to thread, Home and End to the edges'),
                        ('Tab Up Down', 'in the command line: complete, earlier and later lines')):
        grid.add_row(f'  {shown}', Text(text))
    return Page(Text('keys', 'bold'), grid, Text(), Text('commands: type ":", or find one by Ctrl-P', 'bold'))
