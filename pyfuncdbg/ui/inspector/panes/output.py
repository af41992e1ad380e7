"""The output pane: prints, warnings and log records of the call, and its error."""
from __future__ import annotations

from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes import stop_panes
from pyfuncdbg.ui.inspector.panes.empty_pane import nothing
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.calls.output import output_view


def output(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """The captured output of the call."""
    if scene.stopped:
        return stop_panes.output(desk, width)
    if scene.call is None:
        return nothing('output', desk)
    call = load_call(scene.call, 0)
    parts = []
    if call.error is not None:
        panel = error_panel(call.error, f'call #{call.number} {call.label}')
        parts.append(PicturePart(panel, f'call {call.number}'))
    if call.output or call.error is None or any(call.dropped.values()):
        parts.append(PicturePart(output_view(call.output, call.dropped), f'out {call.number}'))
    return DrawnPicture(f'output  #{call.number}', parts)
