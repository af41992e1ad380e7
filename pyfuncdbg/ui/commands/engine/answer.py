"""The answer of a command and its output."""
from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from pyfuncdbg.ui.commands.engine.command import Command
from pyfuncdbg.ui.commands.engine.to_json import to_json
from pyfuncdbg.ui.commands.svg import svg
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import print_page, strip_line_ends

MOST_LATER = 1_000
"""Commands that one line may expand to, as an alias does; a program that wants more keeps the user from the prompt."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one command; `show` prints it.

    Attributes:
        command: What ran.
        result: Plain data.
        as_json: Whether the user asked for JSON.
        written: The file to which it went instead, '' if none.
        later: Lines that are to be carried out next: the rest of an alias.
    """

    command: Command
    result: Any
    as_json: bool = False
    written: str = ''
    later: tuple[str, ...] = ()

    @property
    def json(self) -> str:
        """The result as a JSON document; the command's own `-n` bounds an array."""
        limit = getattr(self.result, 'limit', None)
        return to_json(self.result, limit) if isinstance(limit, int) else to_json(self.result)

    def text(self, width: int = 100) -> str:
        """Draw without colour, or format as JSON.

        Args:
            width: Columns.

        Returns:
            Lines without blanks at their ends.
        """
        if self.as_json:
            return self.json + '\n'
        console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False,
                          force_jupyter=False, _environ={})
        with console.capture() as captured:
            console.print(self.command.view(self.result), crop=False)
        return strip_line_ends(captured.get())

    def picture(self, title: str, width: int = 100) -> str:
        """Draw with colours, as at a terminal.

        Args:
            title: Title of the picture.
            width: Columns.

        Returns:
            An SVG document.
        """
        return svg(self.command.view(self.result), title, width)

    def show(self, console: Console) -> None:
        """Print it. `console.print` alone would crop a JSON document at the console's width."""
        print_page(self, console)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.written:
            yield Text(f'written to {one_line(self.written)}', 'green')
        elif self.as_json:
            yield Segment(self.json + '\n')     # a Text would be folded at the console's width
        else:
            yield self.command.view(self.result)
