"""`record`: the recordings of the program that runs, switched off and on again in the middle of it.

On whichever thread asks: at a stop, or a client of the command socket while the program runs.
"""
from __future__ import annotations

import argparse
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.recording_switch import recordings, switch
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.escape import label


@dataclass(frozen=True, slots=True)
class RecordingState:
    """A recording of the program.

    Attributes:
        path: Of its trace.
        on: Whether calls are recorded now.
    """

    path: str
    on: bool


def _record(context: Context, args: argparse.Namespace) -> tuple[RecordingState, ...]:
    recorders = recordings() if args.state is None else switch(args.state == 'on')
    if not recorders:
        raise CommandError("nothing records here: 'pyfuncdbg run' records from the start, and "
                           "pyfuncdbg.record('x.pfd').start() in the program")
    return tuple(RecordingState(str(one.path), not one.is_paused) for one in recorders)


def _draw(result: tuple[RecordingState, ...]) -> RenderableType:
    return Text('\n').join(Text.assemble('on   ' if one.on else 'off  ', label(one.path, 'underline')) for one in result)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('state', metavar='on|off', nargs='?', choices=('on', 'off'),
                        help='on or off; without it, whether calls are recorded')


RECORD = Command('record', 'switch the recording of the program off, and on again', 'keep', _record, _draw, _arguments,
                 needs_program=True, examples=('record', 'record off', 'record on'))
COMMANDS: tuple[Command, ...] = (RECORD,)
