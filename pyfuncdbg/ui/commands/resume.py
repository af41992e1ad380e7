"""Commands that resume a stopped thread: `cont`, `node`, `into`, `quit`, `abort`. They run on the stopped thread.

A resuming command answers `ResumeReport`, which draws nothing: the next thing to see is the next stop.
"""
from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.inspecting.stack import in_copied_frames
from pyfuncdbg.observers.debug.stops.stop import FORWARD, STEPS, Stop, Verb
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context

_BREAKPOINTS = re.compile(r'breakpoint \d+(?:, breakpoint \d+)*')


@dataclass(frozen=True, slots=True)
class ResumeReport:
    """The thread goes on.

    Attributes:
        verb: How.
        other_threads: How many other waiting threads go on with it.
        note: What the user should know of it; '' for nothing.
    """

    verb: str
    other_threads: int = 0
    note: str = ''


def stop_of(context: Context) -> Stop:
    """The stop that a command with `needs_stop` acts on."""
    if context.stop is None:
        raise CommandError('no thread is stopped here')
    return context.stop


def debugger_of(context: Context) -> Debugger:
    """The debugger of the program that runs here."""
    if context.debugger is None:
        raise CommandError('this is a finished trace, not a running program')
    return context.debugger


def draw_resumed(result: Any) -> RenderableType:
    """Nothing, but for a note."""
    return Text(result.note, 'dim', overflow='fold') if isinstance(result, ResumeReport) and result.note else Group()


def refuse_after_death(stop: Stop, verb: Verb) -> None:
    """Refuse to go on from an error that is over, which `pm()` shows.

    Raises:
        CommandError: It is such a stop.
    """
    if stop.phase == 'post-mortem':
        raise CommandError(f'{verb!r} is not possible: the call that raised is over. "quit" leaves.')


def refuse_in_copies(stop: Stop, verb: Verb) -> None:
    """Refuse to go to another line of frames that are copies: the function runs as compiled code.

    Raises:
        CommandError: It is such a stop.
    """
    if in_copied_frames(stop):
        raise CommandError(f'{verb!r} is not possible: these frames are copies, with the values that the compiled program '
                           "has here, and compiled code has no next line. 'node' goes on to the next call, 'cont' to the "
                           "next stop; 'up' and 'down' go through the frames.")


def resume(context: Context, verb: Verb, argument: Any = None, times: int = 1) -> ResumeReport:
    """Decide the context's stop.

    Raises:
        CommandError: What raised is over, and only leaving is possible; or there is no line to go to.
    """
    if verb in STEPS:
        refuse_in_copies(stop_of(context), verb)
    if verb not in ('cont', 'quit', 'abort'):
        refuse_after_death(stop_of(context), verb)
    stop_of(context).decide(verb, argument, times)
    return ResumeReport(verb)


def resume_command(name: Verb, help: str, *aliases: str, counted: bool = False) -> Command:
    """The row of a verb without arguments, but for how often perhaps."""
    def run(context: Context, args: argparse.Namespace) -> ResumeReport:
        return resume(context, name, times=args.count if counted else 1)
    return Command(name, help, 'run', run, draw_resumed, count_argument if counted else lambda parser: None, aliases,
                   needs_stop=True, repeats=name in FORWARD, examples=(name, f'{name} 3') if counted else (name,))


def count_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument COUNT, the number of repetitions."""
    parser.add_argument('count', metavar='COUNT', type=positive, nargs='?', default=1, help='number of times')


def _continue(context: Context, args: argparse.Namespace) -> ResumeReport:
    if not args.all:
        stopped = args.count == 1 or _ignore_more(context, args.count - 1)
        resumed = resume(context, 'cont')
        return resumed if stopped else replace(resumed, note='no breakpoint stopped here, so there is no hit to skip')
    return ResumeReport('cont', debugger_of(context).broker.release('cont') - 1)


def _ignore_more(context: Context, count: int) -> bool:
    """`cont N` as gdb has it: the breakpoints that stopped here are passed over N - 1 times; whether there are any."""
    breakpoints = debugger_of(context).breakpoints
    numbers = _stopped_by(stop_of(context))
    for number in numbers & set(breakpoints.entries):
        breakpoints.ignore(number, count)
    return bool(numbers)


def _stopped_by(stop: Stop) -> set[int]:
    """The breakpoints that stopped a thread."""
    reasons = _BREAKPOINTS.match(stop.reason)   # hits are those of calls, not of lines
    return {hit.breakpoint.number for hit in stop.hits} or (
        set(map(int, re.findall(r'\d+', reasons[0]))) if reasons is not None else set())


def _quit(context: Context, args: argparse.Namespace) -> ResumeReport:
    """The first time it says what it does: pdb's ends the program."""
    resume(context, 'quit')
    debugger = context.debugger
    if debugger is None or debugger.quit_explained:
        return ResumeReport('quit')
    debugger.quit_explained = True
    return ResumeReport('quit', note='debugging ends, the program continues; "abort" ends the run instead')


def _continue_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('count', metavar='COUNT', type=positive, nargs='?', default=1,
                        help='at a breakpoint: stop at its Nth hit after this one')
    parser.add_argument('--all', action='store_true', help='resume all waiting threads, not only this one')


CONT = Command('cont', 'continue to the next stop', 'run', _continue, draw_resumed, _continue_arguments, ('c', 'continue'),
               needs_stop=True, needs_program=True,
               examples=('cont', 'c 3'))
QUIT = Command('quit',
               "stop debugging and let the program continue, unlike in pdb; 'abort' ends the run. Ctrl-D does the same",
               'run', _quit, draw_resumed, aliases=('q', 'exit', 'quit()', 'exit()'), needs_stop=True, examples=('quit',))
ABORT = resume_command('abort', 'end the run; the caller gets RunAborted')
NODE = resume_command('node', 'run up to the next node of the graph; in eager code, to the next call',
                      'invoke_stepper', counted=True)
INTO = resume_command('into',
                      'go to the first line of the Python function of this node, or of the next one that has a function; '
                        'at a loop, branch or function of the graph, to its first node')
COMMANDS: tuple[Command, ...] = (CONT, NODE, INTO, QUIT, ABORT)
