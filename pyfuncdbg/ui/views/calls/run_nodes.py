"""The nodes of a run in order, one a line: state, result, current position. What the graph pane shows."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.views.calls.call import state
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.flags import flag_line, flags
from pyfuncdbg.ui.views.page import Page

Standing = Literal['here', 'ran', 'unknown', 'later']
_MARKS = {'here': ('>', 'bold red'), 'ran': ('*', 'green'), 'unknown': ('.', 'dim'), 'later': ('.', 'dim')}
_TYPE = 14
_STATE = 16


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node.

    Attributes:
        name, op_type: Of the node.
        state: Where we are; ran; was not recorded; comes later.
        call: Its call, None if it was not recorded.
        calls: How many calls it had in this run.
        tensor: What it gave or was fed, None if unknown.
    """

    name: str
    op_type: str
    state: Standing
    call: CallRecord | None = None
    calls: int = 0
    tensor: TensorRecord | None = None


def node_line(row: NodeRow) -> Page:
    """'> norm  EagerPyFunc  NaN 4'."""
    def draw(options: ConsoleOptions) -> Text:
        width = options.max_width
        kind = _TYPE if width >= 56 else 0
        room = max(8, width - kind - _STATE - 4)
        mark, style = _MARKS[row.state]
        times = f' x{row.calls}' if row.calls > 1 else ''
        name = one_line(row.name, room - len(times)) + times
        line = Text.assemble((f'{mark} ', style), (f'{name:<{room}} ', 'bold' if row.state == 'here' else ''),
                             no_wrap=True, overflow='crop')
        if kind:
            what = 'py' if row.call is not None and row.call.site.kind == 'python' else one_line(row.op_type, kind - 1)
            line.append(f'{what:<{kind}}', 'dim')
        line.append_text(_state(row))
        line.truncate(width, overflow='crop')
        return line
    return Page(draw)


def _state(row: NodeRow) -> Text:
    if row.call is not None and (row.call.error is not None or row.call.duration is None):
        return state(row.call)
    tensor = row.tensor
    if tensor is None:
        return Text('ok', 'green') if row.state == 'ran' else Text('...' if row.state == 'here' else '-', 'dim')
    found = [flag for flag in flags(tensor) if tensor.stats is not None]
    worst = [flag for flag in found if flag.bad] or found[:1]
    return flag_line(tuple(worst)) if worst else Text('ok', 'green')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = sample().call(3)
    demo(node_line(NodeRow('x', 'Placeholder', 'ran', tensor=call.inputs[0])),
         node_line(NodeRow('norm', 'EagerPyFunc', 'here', call, 3, call.outputs[0])),
         node_line(NodeRow('loss', 'Mean', 'unknown')))
