"""`timeit`: timing of an expression at a stop, as IPython's `%timeit`.

On the stopped thread, in the entry of the stack that is selected: what is timed is carried out many times.
"""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import mean, stdev
from time import perf_counter_ns
from types import CodeType

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.evaluate import Namespace, carry_out, repeatable
from pyfuncdbg.observers.debug.inspecting.scope import scope_of
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import stop_of
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.units import seconds

_ENOUGH = 100_000_000
"""Nanoseconds of one round, where the user has not said how often."""
_MOST = 10_000_000
_ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Timing:
    """Measured time of a statement.

    Attributes:
        statement: As typed.
        loops, rounds: `loops` times in each of the rounds.
        mean, spread, best: Of the rounds, for one time, in nanoseconds; `spread` is the standard deviation.
    """

    statement: str
    loops: int
    rounds: int
    mean: float
    spread: float
    best: float


def _timeit(context: Context, args: argparse.Namespace) -> Timing:
    text, names = scope_of(stop_of(context), args.statement)
    carry_out(text, names)                      # reports errors of the statement as usual
    code = repeatable(text)
    rounds = args.rounds or _ROUNDS
    loops = args.loops or _loops(code, names)
    times = [_round(code, names, loops) / loops for _ in range(rounds)]
    return Timing(args.statement, loops, rounds, mean(times), stdev(times) if rounds > 1 else 0.0, min(times))


def _loops(code: CodeType, names: Namespace) -> int:
    """The number of loops that makes a round long enough: 1, 10, 100, ."""
    loops = 1
    while loops < _MOST and _round(code, names, loops) < _ENOUGH:
        loops *= 10
    return loops


def _round(code: CodeType, names: Namespace, loops: int) -> int:
    times = range(loops)
    began = perf_counter_ns()
    for _ in times:
        eval(code, names)                       # no function of ours is called in between
    return perf_counter_ns() - began


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-n', dest='loops', metavar='N', type=positive,
                        help='repetitions in each round (default: as many as take 0.1 s)')
    parser.add_argument('-r', dest='rounds', metavar='R', type=positive, help=f'number of rounds (default {_ROUNDS})')


def _draw(result: Timing) -> RenderableType:
    average, spread, best = (seconds(one / 1e9) for one in (result.mean, result.spread, result.best))
    return Page(Text.assemble((average, 'bold'), f' ± {spread} each, best {best}',
                              (f'  {result.rounds} rounds of {result.loops:,}', 'dim'), overflow='fold'))


TIMEIT = Command('timeit', "measure the time of a Python statement, as %timeit of IPython", 'judge', _timeit, _draw,
                 _arguments, ('%timeit',), needs_stop=True, expression='statement',
                 examples=('timeit x.mean()', '%timeit -n 10 -r 3 np.linalg.norm(x)'))
COMMANDS: tuple[Command, ...] = (TIMEIT,)
