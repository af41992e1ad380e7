"""The few lines between the panes and the command line: short answers, mistakes, what the program logs. Main thread."""
from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import Static

from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnLine
from pyfuncdbg.ui.views.escape import visible


class MessageLine(Static):
    """The last message to the user; without one it takes no line."""

    DEFAULT_CSS = """
    MessageLine { height: auto; max-height: 5; padding: 0 1; background: $surface; display: none; }
    """

    def say(self, text: str, style: str = '') -> None:
        """Say this; '' takes away what was said."""
        self.display = text != ''
        self.update(Text(visible(text), style, overflow='fold'))

    def show(self, lines: Sequence[DrawnLine]) -> None:
        """A short answer."""
        self.display = bool(lines)
        self.update(Text('\n').join(Text.assemble(*((segment.text, segment.style or '') for segment in line.strip))
                                    for line in lines))
