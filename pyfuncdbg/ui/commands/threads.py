"""`threads`, `switch` and `interrupt`: the threads that wait at stops, the calls that run, and which thread has the prompt.

On whichever thread asks; a stop of another thread is read, never changed. `interrupt` is typed by a client of the command
socket, mostly.
"""
from __future__ import annotations

import argparse
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.observers.debug.inspecting.threads import ThreadList, threads_of
from pyfuncdbg.observers.debug.interrupt_request import interruption
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import debugger_of
from pyfuncdbg.ui.views.calls.threads import threads_view


@dataclass(frozen=True, slots=True)
class ThreadSwitch:
    """Another thread has the prompt now.

    Attributes:
        stop: Number of its stop.
        already: It had the prompt before.
    """

    stop: int
    already: bool


def _threads(context: Context, args: argparse.Namespace) -> ThreadList:
    return threads_of(debugger_of(context).broker, context.trace)


def _switch(context: Context, args: argparse.Namespace) -> ThreadSwitch:
    broker = debugger_of(context).broker
    text = args.number.removeprefix('#')
    if not text.isdigit():
        raise CommandError(f'{args.number!r} is not a number; ', TypedCommand('threads'), ' lists the stops that wait')
    stop = broker.find(int(text))
    already = broker.focus is stop
    broker.switch(stop)
    return ThreadSwitch(stop.number, already)


def _draw_switched(result: ThreadSwitch) -> RenderableType:
    return Text(f'stop {result.stop} has the prompt already') if result.already else Group()


def _switch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('number', metavar='STOP', help='number of a stop, or of its thread, from "threads"')


THREADS = Command('threads', 'the threads that wait at a stop, and the calls that run', 'look', _threads, threads_view,
                  needs_program=True,
                  examples=('threads',))
SWITCH = Command('switch', 'give the prompt to another thread that waits', 'look', _switch, _draw_switched,
                 _switch_arguments, needs_program=True,
                 examples=('switch 2',))


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


def _draw_interrupt(result: InterruptReport) -> RenderableType:
    return Text(f'stops before {result.at}', 'dim')


INTERRUPT = Command('interrupt', 'stop the running program before the next wrapped call of any thread', 'stop',
                    _interrupt, _draw_interrupt, aliases=('pause',), needs_program=True,
                    examples=('interrupt',))
COMMANDS: tuple[Command, ...] = (THREADS, SWITCH, INTERRUPT)
