"""Answer of another process of the program, whose stop has the prompt of this one.

The command is carried out there, on the stopped thread, and drawn there; its data and its picture come here.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.stops.remote_stop import RemoteStop


@dataclass(frozen=True, slots=True)
class RemoteDrawing:
    """Lines that another process has drawn for a width, with their styles.

    Attributes:
        text: With escape sequences for colours.
    """

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.splitlines():
            yield Text.from_ansi(line, no_wrap=True, overflow='ignore')


def answer_of(stop: RemoteStop, line: str, context: Context) -> Answer:
    """Have a command carried out where the thread is stopped.

    Args:
        stop: The stop.
        line: As typed.
        context: Of the command; its width is drawn for.

    Raises:
        CommandError: As the command raises it, or the process has ended.
    """
    reply = stop.ask(line=line, width=context.width, color=True)
    if reply['printed'] and context.receive is not None:
        context.receive(reply['printed'])
    if reply['error'] is not None:
        raise CommandError(reply['error'])
    command = context.table.find(reply['command'])
    if command is None:
        raise CommandError(f'{stop.process} has carried out {reply["command"]!r}, which is no command here: it runs another '
                           'version of pyfuncdbg')
    drawing = RemoteDrawing(reply['text'])
    return Answer(replace(command, view=lambda data: drawing), reply['data'], later=tuple(reply['later']))
