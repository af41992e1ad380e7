"""All panes together: each is painted for one scene, the one that was chosen has the keys. Main thread of the app.

Painting happens on a worker thread; what was wanted meanwhile is painted behind it, and only the last of it.
"""
from __future__ import annotations

import contextlib
from typing import cast

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing, DrawnPicture, PicturePart, drawing
from pyfuncdbg.ui.inspector.lists.scrolling_lines import ScrollingLines
from pyfuncdbg.ui.inspector.panes.scene import Follower, Painter, Scene
from pyfuncdbg.ui.inspector.panes.table import PANES
from pyfuncdbg.ui.views.escape import one_line, visible


class Panes(Container):
    """The panes.

    Args:
        desk: What they ask.
        chosen: Name of the pane that has the keys first.

    Attributes:
        scene: What they show.
        chosen: Name of the pane that has the keys; on a small terminal the only one that is seen.
        info: About the trace, None before the first painting.
    """

    class Drawn(Message):
        """Panes were drawn."""

        def __init__(self, drawings: dict[str, Drawing], info: TraceInfo | None) -> None:
            super().__init__()
            self.drawings, self.info = drawings, info

    def __init__(self, desk: Desk, chosen: str = 'source') -> None:
        super().__init__(id='panes')
        self._desk = desk
        self.scene = Scene()
        self.chosen = chosen
        self.info: TraceInfo | None = None
        self._painting = self._stale = False

    def compose(self) -> ComposeResult:
        """A sheet for each."""
        for pane in PANES:
            widget = pane.make(self._desk) if pane.make is not None else ScrollingLines(pane.name)
            widget.id = pane.name
            widget.set_class(True, 'pane').set_class(pane.name == self.chosen, '-shown')
            yield widget

    @property
    def _painted(self) -> dict[str, Painter]:
        return {pane.name: pane.paint for pane in PANES if pane.paint is not None}

    @property
    def followers(self) -> list[Follower]:
        """The panes that draw themselves."""
        return [cast(Follower, self.query_one(f'#{pane.name}')) for pane in PANES if pane.make is not None]

    @property
    def sheet(self) -> ScrollingLines | Follower:
        """The pane that was chosen."""
        return cast(ScrollingLines | Follower, self.query_one(f'#{self.chosen}'))

    def choose(self, name: str) -> None:
        """Give the keys to a pane."""
        self.chosen = name
        for pane in PANES:
            self.query_one(f'#{pane.name}').set_class(pane.name == name, '-shown')
        self.app.stylesheet.update(self)        # at once: what is not seen cannot have the keys

    def on_click(self, event: events.Click) -> None:
        """A pane was clicked."""
        for widget in event.widget.ancestors_with_self if event.widget is not None else ():
            if widget.id is not None and widget.has_class('pane'):
                self.choose(widget.id)

    def follow(self, scene: Scene) -> None:
        """Show this. Where the program has run since, there may be more of it."""
        ran = scene.stop is not self.scene.stop
        self.scene = scene
        self.repaint()
        for pane in self.followers:
            pane.follow(scene)
            if ran:
                pane.grown()

    def grown(self) -> None:
        """The trace holds more."""
        self.repaint()
        for pane in self.followers:
            pane.grown()

    def repaint(self) -> None:
        """Draw the panes; if that is under way, once more behind it."""
        if self._painting:
            self._stale = True
            return
        self._painting, self._stale = True, False
        self._paint(self.scene, {name: self.query_one(f'#{name}', ScrollingLines).columns for name in self._painted})

    @work(thread=True, group='panes', exit_on_error=False)
    def _paint(self, scene: Scene, widths: dict[str, int]) -> None:
        drawn: dict[str, Drawing] = {}
        info: TraceInfo | None = None
        for name, paint in self._painted.items():
            if self._stale:
                break
            try:
                drawn[name] = drawing(paint(self._desk, scene, widths[name]), widths[name])
            except PyfuncdbgError as error:
                drawn[name] = _told(name, Text(visible(str(error)), 'yellow', overflow='fold'), widths[name])
            except Exception as error:          # an internal error in one pane: report it there, the others continue
                drawn[name] = _told(name, mistake(error), widths[name])
        with contextlib.suppress(Exception):    # the panes report any error of the trace
            info = self._desk.trace.info()
        self.post_message(self.Drawn(drawn, info))

    def on_panes_drawn(self, message: Drawn) -> None:
        """Show what was drawn."""
        self._painting = False
        self.info = message.info or self.info
        for name, drawn in message.drawings.items():
            self.query_one(f'#{name}', ScrollingLines).show(drawn)
        if self._stale:
            self.repaint()

    def on_scrolling_lines_resized(self, message: ScrollingLines.Resized) -> None:
        """Draw it again for its new width."""
        message.stop()
        self.repaint()


def mistake(error: Exception) -> Text:
    """A mistake of ours in one line."""
    return Text(f'pyfuncdbg failed here: {type(error).__name__}: {one_line(str(error), 200)}', 'bold red', overflow='fold')


def _told(name: str, text: Text, width: int) -> Drawing:
    return drawing(DrawnPicture(name, [PicturePart(text)]), width)
