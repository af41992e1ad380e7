"""The calls pane: the recorded calls around the selected one."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.inspector.desk import Desk
from pyfuncdbg.inspector.picture import Part, Picture
from pyfuncdbg.inspector.scene import Scene
from pyfuncdbg.views.calls import call_table

_SHOWN = 200


def calls(desk: Desk, scene: Scene, width: int) -> Picture:
    """The first calls."""
    found = desk.trace.calls(kind='python', limit=_SHOWN)
    if not found:
        return Picture('calls', [Part(Text('no Python function was called', 'dim'))])
    return Picture('calls', [Part(call_table(found, desk.trace.count(kind='python')))])
