"""`commands`: lines that are carried out where a breakpoint stops, as in pdb and gdb.

Set on any thread; carried out on the stopped one, once for each stop, by whichever front end has it.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.observers.debug.breakpoints.listing import state_of
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.break_commands import ChangedBreakpoints, draw_changed
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import debugger_of

_BLOCK = re.compile(r'\s*(\d{1,9}(?=\s|$))?[^\S\n]*(.*)', re.DOTALL)
_REASON = re.compile(r'breakpoint (\d+)(?![\d:])')
SILENT = 'silent'


def _commands(context: Context, args: argparse.Namespace) -> ChangedBreakpoints:
    breakpoints = debugger_of(context).breakpoints
    match = _BLOCK.fullmatch(args.block)
    assert match is not None                    # the pattern matches any text
    if not breakpoints.entries:
        raise CommandError('commands: no breakpoint is set; ', TypedCommand('break SPEC'), ' sets one')
    number = int(match[1]) if match[1] else max(breakpoints.entries)
    entry = breakpoints.entry(number)
    if match[2] or '\n' in args.block:
        lines = [line.strip() for line in re.split(r'\n|;;', match[2])]
        if 'end' in lines:
            lines = lines[:lines.index('end')]
        breakpoints.set_commands(number, [line for line in lines if line])
    return ChangedBreakpoints('changed', (state_of(entry, breakpoints),))


def carry_out_commands(stop: Stop, breakpoints: Breakpoints, carry_out: Callable[[str], object]) -> None:
    """Carry out what belongs to the breakpoints that stopped here, once; it ends with what lets the thread go on.

    Args:
        stop: On its thread.
        breakpoints: Of the program.
        carry_out: Does one line, and shows its answer.
    """
    if stop.attended:
        return
    stop.attended = True
    for line in commands_at(stop, breakpoints):
        if stop.decision is not None:
            return
        if line != SILENT:
            carry_out(line)


def is_silent(stop: Stop, breakpoints: Breakpoints) -> bool:
    """Whether the card of a stop is left out, as its commands are still to be carried out and say so."""
    return not stop.attended and SILENT in commands_at(stop, breakpoints)


def commands_at(stop: Stop, breakpoints: Breakpoints) -> list[str]:
    """Commands of the breakpoints of a stop; none where a condition has raised, as the user is to see that."""
    if stop.remote is not None:
        return list(stop.remote.commands)
    if any(hit.error is not None for hit in stop.hits):
        return []
    numbers = [hit.breakpoint.number for hit in stop.hits] or [int(number) for number in _REASON.findall(stop.reason)]
    entries = breakpoints.entries
    return [line for number in dict.fromkeys(numbers) if number in entries for line in entries[number].commands]


AT_STOP = Command('commands', "run commands where a breakpoint (the newest) stops: one a line, then 'end'; 'silent' omits "
                   "the card; 'end' alone removes them", 'stop', _commands, draw_changed,
                   needs_program=True, expression='block', tail='[BREAKPOINT] COMMAND ... end',
                   examples=('commands 2\nsilent\np x.mean()\nc\nend', 'commands 2 p x.mean() ;; c'))
COMMANDS: tuple[Command, ...] = (AT_STOP,)
