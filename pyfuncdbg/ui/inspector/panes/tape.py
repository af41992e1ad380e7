"""The gradient tape pane: the backward steps of the selected run."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.gradients.tape import tape_of
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.inspector.panes.scene import Scene, empty_hint
from pyfuncdbg.ui.views.numerics.tape import tape_view

_MOST = 20_000
"""Gradient steps of a trace up to which the tape is drawn without being asked for."""
_SEARCHED = 2_000
"""Newest gradient steps that are searched for the one that differentiates a call."""


def tape(desk: Desk, scene: Scene, width: int) -> DrawnPicture:
    """The tape of the run."""
    if scene.call is None:
        return _newest(desk) if scene.stopped else empty_hint('tape', desk)
    run = scene.call.run
    title = f'tape  run #{run}'
    if not desk.trace.count(kind='gradient', run=run):
        return DrawnPicture(title, [PicturePart(Text(f'no gradients were computed in run #{run}', 'dim'))])
    if desk.trace.count(kind='gradient') > _MOST:
        return DrawnPicture(title,
                            [PicturePart(Text(f'too many gradient steps: "tape --run {run}" draws those of this run',
                                              overflow='fold'), f'tape --run {run}')])
    try:
        return DrawnPicture(title, [PicturePart(tape_view(tape_of(desk.trace, run)))])
    except CommandError as error:
        return DrawnPicture(title, [PicturePart(Text(str(error), 'yellow', overflow='fold'))])


def _newest(desk: Desk) -> DrawnPicture:
    """While a thread is stopped: the newest gradients."""
    count = desk.trace.count(kind='gradient')
    if not 0 < count <= _MOST:
        text = '"tape" draws the newest gradients' if count else 'no gradients so far'
        return DrawnPicture('tape', [PicturePart(Text(text, 'dim'), 'tape' if count else '')])
    return DrawnPicture('tape', [PicturePart(tape_view(tape_of(desk.trace)))])


def tape_line(trace: Trace, call: CallRecord) -> str:
    """The command of the key: the tape of the selected run, or of the one that differentiates the call, or else of the
    newest."""
    run = call.run
    if not trace.count(kind='gradient', run=run):
        steps = trace.calls(kind='gradient', newest_first=True, limit=_SEARCHED)
        run = next((step.run for step in steps if step.forward == call.number), 0)
    return f'tape --run {run}' if run else 'tape'
