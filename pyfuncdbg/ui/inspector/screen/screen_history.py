"""The screens that were seen, and a place among them: back and forward go through them. Main thread of the app."""
from __future__ import annotations

from pyfuncdbg.ui.inspector.desks.desk import Reply

MOST = 50


class ScreenHistory:
    """Answers that have a screen; the panes stand before the first.

    Attributes:
        position: Of the screen that is shown, -1 for the panes.
    """

    def __init__(self) -> None:
        self._seen: list[Reply] = []
        self.position = -1

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def current(self) -> Reply | None:
        """The screen that is shown, None for the panes."""
        return self._seen[self.position] if self.position >= 0 else None

    def add(self, reply: Reply) -> None:
        """Another screen: it follows the one that is shown; those further on are forgotten."""
        if self.position >= 0:
            del self._seen[self.position + 1:]
        self._seen = [*self._seen, reply][-MOST:]
        self.position = len(self._seen) - 1

    def back(self) -> Reply | None:
        """One back; before the first stand the panes."""
        self.position = max(-1, self.position - 1)
        return self.current

    def forward(self) -> Reply | None:
        """One forward, if there is one."""
        self.position = min(len(self._seen) - 1, self.position + 1)
        return self.current

    def leave(self) -> Reply | None:
        """To the panes; `last` comes back to where this was."""
        self.position = -1
        return None

    def leave_card(self) -> bool:
        """To the panes if the card of a stop is shown, which says nothing of a program that has gone on; whether it was."""
        shown = self.current is not None and self.current.command == 'stop'
        if shown:
            self.leave()
        return shown
