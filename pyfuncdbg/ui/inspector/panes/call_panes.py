"""The panes of a call: its tensors, each with its summary, and its output.

The output is prints, warnings, log records and the error.
"""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes import stop_panes
from pyfuncdbg.ui.inspector.panes.scene import Scene, empty_hint
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.tensors.tensor import tensor_card


def tensors(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """Inputs and outputs."""
    if scene.stopped:
        return stop_panes.tensors(desk, width)
    call = scene.call
    if call is None:
        return empty_hint('tensors', desk)
    titles = input_titles(call)
    parts = [PicturePart(tensor_card(tensor, titles[slot], elements=False), f'pt #{call.number}:in{slot}', whole=True)
             for slot, tensor in enumerate(call.inputs)]
    parts += [PicturePart(tensor_card(tensor, f'out {slot}', elements=False), f'pt #{call.number}:{slot}', whole=True)
              for slot, tensor in enumerate(call.outputs)]
    if not call.inputs:
        parts.insert(0, PicturePart(Text('no inputs', 'dim')))
    if not call.outputs:
        parts.append(PicturePart(Text('no outputs', 'dim')))
    return DrawnPicture(f'tensors  #{call.number} {call.label}', parts)


def output(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """The captured output of the call."""
    if scene.stopped:
        return stop_panes.output(desk, width)
    if scene.call is None:
        return empty_hint('output', desk)
    call = load_call(scene.call, 0)
    parts = []
    if call.error is not None:
        panel = error_panel(call.error, f'call #{call.number} {call.label}')
        parts.append(PicturePart(panel, f'call {call.number}'))
    if call.output or call.error is None or any(call.dropped.values()):
        parts.append(PicturePart(output_view(call.output, call.dropped), f'out {call.number}'))
    return DrawnPicture(f'output  #{call.number}', parts)
