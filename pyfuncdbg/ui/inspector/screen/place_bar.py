"""The lines above the panes: the selected call or stop, and on a small terminal the names of the panes. Main thread of the
app."""
from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.panes.scene import Pane, Scene
from pyfuncdbg.ui.inspector.panes.table import PANES
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, size


class PlaceBar(Vertical):
    """Both lines."""

    DEFAULT_CSS = """
    PlaceBar { height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Static(id='header')
        yield Static(id='bar')

    def tell(self, desk: Desk, scene: Scene, info: TraceInfo | None, chosen: str) -> None:
        """Say what is looked at, and in which pane."""
        line = self.query_one('#header', Static)
        line.update(header(desk, scene, info, self.app.size.width), layout=False)
        line.set_class(scene.stop is not None, 'hit')
        self.query_one('#bar', Static).update(bar(PANES, chosen), layout=False)


def header(desk: Desk, scene: Scene, info: TraceInfo | None, width: int) -> Content:
    """'pyfuncdbg  demo.pfd  call #313 normalize[26] in run #29      226 runs, 2,645 calls'."""
    words = ['pyfuncdbg', one_line(desk.title, max(26, width // 4))]
    if scene.stop is not None:
        words.append(stopped(scene.stop))
    elif desk.live:
        words.append('RUNNING')
    if scene.call is not None:
        words.append(f'call #{one_line(scene.call.number, 20)} {one_line(scene.call.label, 60)} in run #{scene.call.run}')
    if info is not None and info.damage and not desk.live:
        words.insert(2, 'DAMAGED (info tells where)')
    if info is not None:
        held = f'{count(info.runs, "run")}, {count(info.calls, "call")}, {size(info.nbytes)}'
        # A part of a number would be another number.
        words += [held] if cell_len('  '.join([*words, held])) <= width - 2 else []
    return Content('  '.join(words))


def stopped(stop: dict[str, Any]) -> str:
    """'STOPPED before norm[3] model.py:41 (breakpoint 1)', 'STOPPED before run #2 train.py:30 (1st run of train)'."""
    words = ['STOPPED', one_line(str(stop.get('at', '')), 100)]
    if (where := stop.get('where')) and stop.get('phase') in ('run', 'end', 'before', 'after'):    # else it is in `at`
        words.append(f'{one_line(str(where.get("file", "")).rsplit("/", 1)[-1], 40)}:{where.get("line", 0)}')
    if stop.get('reason'):
        words.append(f'({one_line(str(stop["reason"]), 60)})')
    return ' '.join(words)


def bar(panes: tuple[Pane, ...], chosen: str) -> Content:
    """The names of the panes, each with its key; a click goes there."""
    names = [Content.from_markup(f"[@click=app.pane('{pane.name}')]{pane.key} {pane.name}[/]") for pane in panes]
    return Content(' ').join([Content.assemble('[', name, ']').stylize('reverse') if pane.name == chosen else
                              Content.assemble(' ', name, ' ') for pane, name in zip(panes, names, strict=True)])
