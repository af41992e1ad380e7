"""The answer of a command and its output: printed, or written to a file as an SVG picture.

The SVG document shows what a view prints, with its colours, and refers to nothing outside itself.
"""
from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from pyfuncdbg.ui.commands.engine.command import Command
from pyfuncdbg.ui.commands.engine.to_json import to_json
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import print_page, strip_line_ends

MARK = '<svg class="pyfuncdbg-terminal"'
"""Begins each: a file that begins so may be replaced by another picture."""
_FORMAT = MARK + ''' viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "Fira Code", "DejaVu Sans Mono", monospace; font-size: {char_height}px }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
'''
MOST_LATER = 1_000
"""Commands that one line may expand to, as an alias does; a program that wants more keeps the user from the prompt."""


def svg(view: RenderableType, title: str, width: int = 100) -> str:
    """The document.

    Args:
        view: What is drawn, as on a terminal with colours.
        title: In the frame above it.
        width: Columns.
    """
    console = Console(record=True, file=io.StringIO(), width=width, force_terminal=True, color_system='truecolor',
                      legacy_windows=False, force_jupyter=False, _environ={})
    console.print(view, crop=False, highlight=False)
    return console.export_svg(title=one_line(title, width - 10), code_format=_FORMAT)


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
