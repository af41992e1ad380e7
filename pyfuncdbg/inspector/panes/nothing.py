"""A pane while no call is looked at."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.inspector.desk import Desk
from pyfuncdbg.inspector.picture import Part, Picture


def nothing(name: str, desk: Desk) -> Picture:
    """What to do to see something."""
    if desk.live:
        shown = Text('the program runs; "interrupt" stops it before its next call', 'dim', overflow='fold')
        return Picture(name, [Part(shown, 'interrupt')])
    return Picture(name, [Part(Text('no call was recorded', 'dim'))])
