"""A page: parts under one another, each fitted to the width it gets; what every view returns.

A page prints on any rich console and displays in a notebook. Views are called by the faces, on any thread.
"""
from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from pyfuncdbg.observers.record.display import mimebundle

Fitted = Callable[[ConsoleOptions], RenderableType]
"""Makes a renderable for a width and an encoding."""
Part = RenderableType | Fitted


class Page:
    """Parts under one another.

    Args:
        *parts: Renderables, or functions from the console's options (`max_width`, `ascii_only`) to a renderable.
    """

    __slots__ = ('parts',)

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self.parts:
            yield part(options) if callable(part) else part

    _repr_mimebundle_ = mimebundle


def print_page(view: RenderableType, console: Console) -> None:
    """Print it uncropped; in a pipe or a file without the blanks that fill its lines up to the width."""
    if console.is_terminal:
        console.print(view, crop=False, highlight=False)
        return
    with console.capture() as captured:
        console.print(view, crop=False, highlight=False)
    console.file.write(strip_line_ends(captured.get()))
    console.file.flush()


def strip_line_ends(text: str) -> str:
    """Lines without the blanks at their ends."""
    return ''.join(line.rstrip(' \n') + '\n' * line.endswith('\n') for line in text.splitlines(keepends=True))
