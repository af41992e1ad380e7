"""`stop`: the card of the current stop. A face carries it out and prints the answer at each new stop.

On the stopped thread.
"""
from __future__ import annotations

import argparse

from rich.console import RenderableType

from pyfuncdbg.observers.debug.cards.run_card import RunCard
from pyfuncdbg.observers.debug.cards.stop_card import StopCard, stop_card
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.frames import marks_of
from pyfuncdbg.ui.commands.resume import stop_of
from pyfuncdbg.ui.commands.run import RunResult, at_run, draw_at_run
from pyfuncdbg.ui.views.calls.stop_card import stop_view

_Result = StopCard | RunCard | RunResult


def _stop(context: Context, args: argparse.Namespace) -> _Result:
    return at_run(context) or stop_card(stop_of(context), marks_of(context))


def _draw(result: _Result) -> RenderableType:
    return stop_view(result) if isinstance(result, StopCard) else draw_at_run(result)


COMMANDS: tuple[Command, ...] = (
    Command('stop', 'the place, source and values of this stop', 'look', _stop, _draw,
            needs_stop=True, examples=('stop',)),)
