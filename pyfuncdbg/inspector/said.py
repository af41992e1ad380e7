"""The few lines between the panes and the command line: short answers, mistakes, what the program logs. Main thread."""
from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text
from textual.widgets import Static

from pyfuncdbg.views.escape import visible


class Said(Static):
    """What was said last; nothing is no line."""

    DEFAULT_CSS = """
    Said { height: auto; max-height: 5; padding: 0 1; background: $surface; display: none; }
    """

    def say(self, shown: RenderableType | str, style: str = '') -> None:
        """Say this; '' takes away what was said."""
        self.display = shown != ''
        self.update(Text(visible(shown), style, overflow='fold') if isinstance(shown, str) else shown)
