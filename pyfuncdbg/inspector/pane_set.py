"""All panes together: each is painted for one scene, the one that was chosen has the keys. Main thread of the app.

Painting happens on a worker thread; what was wanted meanwhile is painted behind it, and only the last of it.
"""
from __future__ import annotations

import contextlib

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.inspector.desk import Desk
from pyfuncdbg.inspector.panes.table import PANES
from pyfuncdbg.inspector.picture import Drawing, Part, Picture, drawing
from pyfuncdbg.inspector.scene import Scene
from pyfuncdbg.inspector.sheet import Sheet
from pyfuncdbg.record.records import TraceInfo
from pyfuncdbg.views.escape import one_line, visible


class Panes(Container):
    """The panes.

    Args:
        desk: What they ask.

    Attributes:
        scene: What they show.
        chosen: Name of the pane that has the keys; on a small terminal the only one that is seen.
        info: About the trace, None before the first painting.
    """

    class Painted(Message):
        """Panes were drawn."""

        def __init__(self, drawings: dict[str, Drawing], info: TraceInfo | None) -> None:
            super().__init__()
            self.drawings, self.info = drawings, info

    def __init__(self, desk: Desk) -> None:
        super().__init__(id='panes')
        self._desk = desk
        self.scene = Scene()
        self.chosen = 'source'
        self.info: TraceInfo | None = None
        self._painting = self._stale = False

    def compose(self) -> ComposeResult:
        """A sheet for each."""
        for pane in PANES:
            yield Sheet(pane.name, id=pane.name, classes='pane' + ' -shown' * (pane.name == self.chosen))

    @property
    def sheet(self) -> Sheet:
        """The pane that was chosen."""
        return self.query_one(f'#{self.chosen}', Sheet)

    def choose(self, name: str) -> None:
        """Give the keys to a pane."""
        self.chosen = name
        for pane in PANES:
            self.query_one(f'#{pane.name}').set_class(pane.name == name, '-shown')

    def on_click(self, event: events.Click) -> None:
        """A pane was clicked."""
        for widget in event.widget.ancestors_with_self if event.widget is not None else ():
            if widget.id is not None and widget.has_class('pane'):
                self.choose(widget.id)

    def follow(self, scene: Scene) -> None:
        """Show this."""
        self.scene = scene
        self.repaint()

    def repaint(self) -> None:
        """Draw the panes; if that is under way, once more behind it."""
        if self._painting:
            self._stale = True
            return
        self._painting, self._stale = True, False
        self._paint(self.scene, {pane.name: self.query_one(f'#{pane.name}', Sheet).columns for pane in PANES})

    @work(thread=True, group='panes', exit_on_error=False)
    def _paint(self, scene: Scene, widths: dict[str, int]) -> None:
        drawn: dict[str, Drawing] = {}
        info: TraceInfo | None = None
        for pane in PANES:
            if self._stale:
                break
            try:
                picture = pane.paint(self._desk, scene, widths[pane.name])
                drawn[pane.name] = drawing(picture, widths[pane.name])
            except PyfuncdbgError as error:
                drawn[pane.name] = _told(pane.name, Text(visible(str(error)), 'yellow', overflow='fold'), widths[pane.name])
            except Exception as error:          # a mistake of ours in one pane: told there in one line, the others go on
                drawn[pane.name] = _told(pane.name, mistake(error), widths[pane.name])
        with contextlib.suppress(PyfuncdbgError):       # the panes have said so
            info = self._desk.trace.info()
        self.post_message(self.Painted(drawn, info))

    def on_panes_painted(self, message: Painted) -> None:
        """Show what was drawn."""
        self._painting = False
        self.info = message.info or self.info
        for name, drawn in message.drawings.items():
            self.query_one(f'#{name}', Sheet).show(drawn)
        if self._stale:
            self.repaint()

    def on_sheet_resized(self, message: Sheet.Resized) -> None:
        """Draw it again for its new width."""
        message.stop()
        self.repaint()


def mistake(error: Exception) -> Text:
    """A mistake of ours in one line."""
    return Text(f'pyfuncdbg failed here: {type(error).__name__}: {one_line(str(error), 200)}', 'bold red', overflow='fold')


def _told(name: str, text: Text, width: int) -> Drawing:
    return drawing(Picture(name, [Part(text)]), width)
