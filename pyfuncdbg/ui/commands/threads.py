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
from pyfuncdbg.observers.debug.inspecting.processes import ProcessList, pid_of, processes_of_program, stop_in
from pyfuncdbg.observers.debug.inspecting.threads import ThreadList, threads_of
from pyfuncdbg.observers.debug.interrupt_request import interruption
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.remote_stop import RemoteStop
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import debugger_of
from pyfuncdbg.ui.views.calls.threads import threads_view
from pyfuncdbg.ui.views.reports.processes import processes_view

SHOWN = 50
TIMEOUTS = 'time-outs of collectives and of queues run on'
"""What the user is to know of it."""


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


def _processes(context: Context, args: argparse.Namespace) -> ProcessList:
    return processes_of_program(context.debugger.broker if context.debugger is not None else None, context.trace, args.n)


def _process_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN,
                        help=f'show at most K (default {SHOWN}), those that wait or have a fault before others')


def _switch(context: Context, args: argparse.Namespace) -> ThreadSwitch:
    broker, name = debugger_of(context).broker, args.name
    if not name.isdecimal() or _is_process(int(name), broker):
        if not (name.removeprefix('#').isdecimal() or ':' in name):
            raise CommandError(f'{name!r} is no stop and no process; ', TypedCommand('threads'), ' lists the stops of this '
                               'process that wait, ', TypedCommand('processes'), ' the processes')
        stop = stop_in(debugger_of(context), context.trace, name)
    elif context.stop is not None and context.stop.remote is not None:
        return _switch_there(context.stop.remote, name)
    else:
        stop = broker.find(int(name))
    already = broker.focus is stop
    broker.switch(stop)
    return ThreadSwitch(stop.number, already)


def _is_process(number: int, broker: Broker) -> bool:
    """Whether a process of this id waits, and no thread has the number."""
    return number in {pid_of(stop) for stop in broker.stops} and number not in {
        one for stop in broker.own_stops for one in (stop.number, stop.thread)}


def _switch_there(stop: RemoteStop, number: str) -> ThreadSwitch:
    """Switch to a thread of the process that is stopped, which is not this one."""
    reply = stop.ask(line=f'switch {number}')
    if reply['error'] is not None:
        raise CommandError(reply['error'])
    return ThreadSwitch(int(number), bool(reply['data']['already']))


def _draw_switched(result: ThreadSwitch) -> RenderableType:
    return Text(f'stop {result.stop} has the prompt already') if result.already else Group()


def _switch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', metavar='STOP', help='number of a stop of this process, or of its thread, from "threads"; '
                        'or a process, from "processes": worker:3, #3 or its id')


THREADS = Command('threads', 'the threads that wait at a stop, and the calls that run', 'look', _threads, threads_view,
                  needs_program=True,
                  examples=('threads',))
SWITCH = Command('switch', 'give the prompt to another thread that waits, of this process or of another one', 'look',
                 _switch, _draw_switched, _switch_arguments, needs_program=True, of_prompt=True,
                 examples=('switch 2', 'switch worker:3'))
PROCESSES = Command('processes', 'the processes of the program, and what each does now', 'look', _processes, processes_view,
                    _process_arguments, of_prompt=True, examples=('processes', 'processes -n 500'), answer=ProcessList)


@dataclass(frozen=True, slots=True)
class StopAllState:
    """The state of `stopall`.

    Attributes:
        on: Whether all other threads of the program wait at their next call while one is at the prompt.
    """

    on: bool


def _stop_all(context: Context, args: argparse.Namespace) -> StopAllState:
    debugger = debugger_of(context)
    debugger.stops_all = args.state == 'on'
    if debugger.stops_all:
        debugger.start()
    return StopAllState(debugger.stops_all)


def _draw_stop_all(result: StopAllState) -> RenderableType:
    return Text(f'while a thread is at the prompt, all others wait at their next call; {TIMEOUTS}' if result.on else
                'while a thread is at the prompt, the others go on', overflow='fold')


def _stop_all_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('state', metavar='on|off', choices=('on', 'off'), nargs='?', default='on')


STOP_ALL = Command('stopall', 'while a thread is at the prompt, all others of the program wait at their next call', 'stop',
                   _stop_all, _draw_stop_all, _stop_all_arguments, needs_program=True, of_prompt=True,
                   examples=('stopall', 'stopall off'))


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
COMMANDS: tuple[Command, ...] = (THREADS, SWITCH, PROCESSES, STOP_ALL, INTERRUPT)
