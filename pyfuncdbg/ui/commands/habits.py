"""`habits`: the commands of pdb, ipdb and tfdbg beside ours; also the hint for one that does not exist.

The table is data: a test types each line of it at a terminal.
"""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pyfuncdbg.ui.commands.engine.arguments import one_of
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.page import Page, Part

Debugger = Literal['pdb', 'ipdb', 'tfdbg']
DEBUGGERS: tuple[Debugger, ...] = ('pdb', 'ipdb', 'tfdbg')
How = Literal['same', 'different', 'not there']


@dataclass(frozen=True, slots=True)
class Habit:
    """A command of another debugger.

    Attributes:
        of: Whose.
        command: The command, with its short names.
        how: Whether ours is the same.
        equivalent: What to type here.
        why: What is different, or why it is not there; '' of what is the same.
    """

    of: Debugger
    command: str
    how: How
    equivalent: str
    why: str = ''


def _same(of: Debugger, *commands: str) -> tuple[Habit, ...]:
    return tuple(Habit(of, command, 'same', command.split(', ')[0]) for command in commands)


HABITS: tuple[Habit, ...] = (
    *_same('pdb', 'help, h, ?', 'where, w, bt', 'down, d', 'up, u', 'break, b', 'tbreak', 'disable', 'enable', 'ignore',
           'condition', 'commands', 'clear, cl', 'step, s', 'next, n', 'until, unt', 'return, r', 'jump, j', 'list, l',
           'longlist, ll', 'args, a', 'p', 'pp', 'whatis', 'source', 'display', 'undisplay', 'interact', 'unalias', '!',
           'retval, rv', 'exceptions', ';;', '$_exception, $_retval, $_frame', '$name = EXPR'),
    Habit('pdb', 'continue, cont, c', 'different', 'c',
          "'c 3' passes over the breakpoint twice, as in gdb"),
    Habit('pdb', 'alias', 'different', 'alias',
          'it cannot hide a command; where it has no %1 or %*, arguments come at the end'),
    Habit('pdb', 'quit, q, exit', 'different', 'abort',
          "it leaves the debugger, and the program goes on: it may have run for hours. 'abort' ends the run"),
    Habit('pdb', 'Ctrl-D', 'different', 'abort',
          'the same as quit'),
    Habit('pdb', 'run', 'different', 'retry',
          "tfdbg's, for the runs of a graph. 'retry' makes a call again, 'rewind' goes back"),
    Habit('pdb', 'restart', 'not there', 'retry',
          "the program is not started again. 'retry' makes a call again, 'rewind' goes back to a node"),
    Habit('pdb', 'debug', 'not there', 'retry -i',
          "no expression is stepped through. 'break' in the function, or 'retry -i' to step into the call once "
          'more'),
    *_same('ipdb', 'NAME?', 'NAME??', 'pinfo', 'pinfo2', 'psource', 'context', '%timeit, timeit'),
    Habit('ipdb', 'pdoc', 'different', 'pinfo',
          'the value, signature and place too'),
    Habit('ipdb', 'pdef', 'different', 'pinfo',
          'the value, docstring and place too'),
    Habit('ipdb', 'pfile', 'not there', 'pinfo',
          "'pinfo' says the file and line, 'source' prints the object"),
    Habit('ipdb', 'skip_hidden', 'not there', 'bt --all',
          "frames of libraries are left out, 'bt --all' has them"),
    Habit('ipdb', 'skip_predicates', 'not there', 'bt --all',
          "frames of libraries are left out, 'bt --all' has them"),
    *_same('tfdbg', 'list_tensors, lt', 'print_tensor, pt', '@[INDEX], @INDEX', 'print_feed, pf', 'eval', 'node_info, ni',
           'list_inputs, li', 'list_outputs, lo', 'list_source, ls', 'print_source, ps', 'list_profile, lp', '>> FILE',
           'invoke_stepper'),
    Habit('tfdbg', 'run', 'different', 'run',
          'PRED of -f is Python: run -f has_inf_or_nan'),
    Habit('tfdbg', 'run_info, ri', 'not there', 'stop',
          "'stop' shows the run; 'pf' its feeds"),
    Habit('tfdbg', 'inject_value', 'not there', 'inject',
          "'inject TENSOR EXPR'"),
    Habit('tfdbg', 'ct', 'not there', 'to',
          "'to NODE' goes there"),
    Habit('tfdbg', '/regex', 'not there', 'calls --site',
          "'calls --site' and 'lt --site' filter; in 'pyfuncdbg open' / searches"),
    Habit('tfdbg', 'mouse, config', 'not there', 'help',
          "'pyfuncdbg open' has the mouse on"),
)


def hint(word: str) -> str:
    """The command to type instead of another debugger's that does not exist here; '' for any other word."""
    for habit in HABITS:
        if habit.how == 'not there' and word in habit.command.split(', '):
            return f" {habit.of}'s {word!r} is not there: {habit.why}."
    return ''


def _habits(context: Context, args: argparse.Namespace) -> Sequence[Habit]:
    return [habit for habit in HABITS if args.debugger in (None, habit.of)]


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('debugger', metavar='DEBUGGER', nargs='?', type=one_of(DEBUGGERS, 'debugger that is known here'),
                        help='pdb, ipdb or tfdbg (default: all)')


def _draw(rows: Sequence[Habit]) -> RenderableType:
    parts: list[Part] = []
    for debugger in DEBUGGERS:
        own_rows = [row for row in rows if row.of == debugger]
        if not own_rows:
            continue
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow='fold')
        for row in own_rows:
            if row.how != 'same':
                grid.add_row(Text(f'  {row.command}', 'bold'), Text(row.how, 'yellow' if row.how == 'different' else 'red'),
                             Text(row.why))
        same = '   '.join(row.command.replace(', ', ' ') for row in own_rows if row.how == 'same')
        parts += [Text(debugger, 'bold'), Text.assemble(('the same as here: ', 'dim'), same, overflow='fold'), grid]
    return Page(*parts)


HABITS_COMMAND = Command('habits', "pdb's, ipdb's and tfdbg's commands, and ours beside each", 'keep', _habits, _draw,
                         _arguments, of_prompt=True, examples=('habits pdb', 'habits'))
COMMANDS: tuple[Command, ...] = (HABITS_COMMAND,)
