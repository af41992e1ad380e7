"""The keys at the bottom: as many as the terminal has room for, help and leaving always. Main thread of the app."""
from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

_FIRST_TO_GO = ':aluRdiD.wrhgtfbpN&/csn'
"""Keys that are left out where there is no room, the first one first; the line above says what ':' does."""


class BottomLine(Footer):
    """The keys that act now."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._width = 0

    def compose(self) -> ComposeResult:
        """Those that there is room for."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        too_long = sum(_length(key) for key in keys) - 1 - self._width
        for shown in _FIRST_TO_GO:
            gone = next((key for key in keys if key.key_display == shown), None)
            if too_long > 0 and gone is not None:
                keys.remove(gone)
                too_long -= _length(gone)
        yield from keys

    def on_resize(self, event: events.Resize) -> None:
        """There is room for more, or for less."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.call_after_refresh(self.recompose)


def _length(key: FooterKey) -> int:
    return cell_len(f'{key.key_display} {key.description} ')
