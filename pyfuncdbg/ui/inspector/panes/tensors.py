"""The tensors pane: inputs and outputs of the call, each with its summary."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes import stop_panes
from pyfuncdbg.ui.inspector.panes.empty_pane import nothing
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.tensors.tensor import tensor_card


def tensors(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """Inputs and outputs."""
    if scene.stopped:
        return stop_panes.tensors(desk, width)
    call = scene.call
    if call is None:
        return nothing('tensors', desk)
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
