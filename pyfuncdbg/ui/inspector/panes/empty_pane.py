"""A pane while no call is looked at."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart


def nothing(name: str, desk: Desk) -> DrawnPicture:
    """A hint of what to do to see something."""
    if desk.live:
        shown = Text('the program runs; "interrupt" stops it before its next call', 'dim', overflow='fold')
        return DrawnPicture(name, [PicturePart(shown, 'interrupt')])
    return DrawnPicture(name, [PicturePart(Text('no call was recorded', 'dim'))])
