"""`interrupt`: stop a program that runs. On the thread of a client of the command socket, mostly."""
from __future__ import annotations

import argparse
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.observers.debug.interrupt_request import interruption
from pyfuncdbg.ui.commands.engine.command import Command, Context


@dataclass(frozen=True, slots=True)
class InterruptReport:
    """The program will stop.

    Attributes:
        at: Where.
    """

    at: str


def _interrupt(context: Context, args: argparse.Namespace) -> InterruptReport:
    interruption.ask()
    return InterruptReport('the next wrapped call')


def _draw(result: InterruptReport) -> RenderableType:
    return Text(f'stops before {result.at}', 'dim')


INTERRUPT = Command('interrupt', 'stop the running program before the next wrapped call of any thread', 'stop',
                    _interrupt, _draw, aliases=('pause',), needs_program=True,
                    examples=('interrupt',))
COMMANDS: tuple[Command, ...] = (INTERRUPT,)
