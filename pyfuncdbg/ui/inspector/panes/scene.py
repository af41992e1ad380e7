"""The scene that all panes show: one recorded call, or the stop of a program. Every pane is a function from it to a
picture."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from rich.text import Text
from textual.widget import Widget

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart


@dataclass(frozen=True, slots=True)
class Scene:
    """The scene: a recorded call or a stop.

    Attributes:
        call: The recorded call that was selected, None for none.
        stop: The stop of the program, as `socket.remote.described` gives it; None without one. A call that was selected
            while the program stands still comes first.
    """

    call: CallRecord | None = None
    stop: dict[str, Any] | None = None

    @property
    def stopped(self) -> bool:
        """Whether the panes follow the stop."""
        return self.stop is not None and self.call is None

    def is_at(self, name: str) -> bool:
        """Whether this call is the selected one: by number or label."""
        return self.call is not None and name.removeprefix('#') in (self.call.number, self.call.label)


class Follower(Protocol):
    """A pane that draws itself; main thread."""

    def follow(self, scene: Scene) -> None:
        """Show what all look at."""

    def grown(self) -> None:
        """The trace may hold more."""

    def search(self, text: str, by: int = 0) -> str:
        """As `Sheet.search`."""

    def filter_line(self) -> str:
        """As `Sheet.filter_line`; never ''."""

    def focus(self, scroll_visible: bool = True) -> Any:
        """Take the keys."""


Painter = Callable[[Desk, Scene, int], DrawnPicture]
"""Makes the picture of a pane for a width; called on a worker thread."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane of the screen: name, key, content, and the function or widget that draws it."""

    name: str
    key: str
    help: str
    paint: Painter | None = None
    make: Callable[[Desk], Widget] | None = None
    """Factory of the widget, a `Follower`, for a pane that is no picture."""


def empty_hint(name: str, desk: Desk) -> DrawnPicture:
    """A hint of what to do to see something."""
    if desk.live:
        shown = Text('the program runs; "interrupt" stops it before its next call', 'dim', overflow='fold')
        return DrawnPicture(name, [PicturePart(shown, 'interrupt')])
    return DrawnPicture(name, [PicturePart(Text('no call was recorded', 'dim'))])
