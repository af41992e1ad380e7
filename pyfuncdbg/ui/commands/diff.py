"""`diff`: comparison of two recordings, processes, runs or calls."""
from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from pyfuncdbg.errors import CommandError, UsageError, nearest
from pyfuncdbg.observers.debug.comparison.divergence import KINDS, TraceDifference
from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
from pyfuncdbg.observers.debug.comparison.trace_comparison import (
    compare_calls,
    compare_processes,
    compare_runs,
    compare_traces,
)
from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.views.reports.trace_difference import trace_difference_view

_WORDS = {'prints': 'print', 'warnings': 'warning', 'values': 'value', 'exceptions': 'exception', 'times': 'time'}


def kinds(text: str) -> frozenset[str]:
    """Parse 'time,prints'; an argparse type.

    Args:
        text: Kinds of differences, separated by commas; the plural is as good.

    Returns:
        The kinds.

    Raises:
        argparse.ArgumentTypeError: One of them is no kind.
    """
    names = []
    for word in filter(None, (word.strip() for word in text.split(','))):
        kind = _WORDS.get(word, word)
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f'{word!r} is no kind of difference: expected some of {", ".join(KINDS)}.'
                                             f'{nearest(kind, KINDS, 1)}')
        names.append(kind)
    return frozenset(names)


def tolerance(text: str) -> float:
    """Parse a number from 0 on; an argparse type.

    Args:
        text: As typed.

    Returns:
        The number.

    Raises:
        argparse.ArgumentTypeError: It is not one.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 0 on')
    return number


def rules_of(options: argparse.Namespace) -> Rules:
    """Read the options that say what counts as a difference, of `diff` and of `run --against`.

    Args:
        options: Texts, None of those that were not given.

    Raises:
        UsageError: One of them makes no sense.
    """
    parsers: dict[str, Callable[[str], Any]] = {'ignore': kinds, 'rtol': tolerance, 'atol': tolerance, 'ulp': positive}
    values: dict[str, Any] = {}
    for name, parse in parsers.items():
        if (text := getattr(options, name)) is not None:
            try:
                values[name] = parse(text)
            except argparse.ArgumentTypeError as error:
                raise UsageError(f'--{name}: {error}') from None
    return Rules(values.pop('ignore', frozenset()), Tolerance(**values))


def _diff(context: Context, args: argparse.Namespace) -> TraceDifference:
    rules = Rules(args.ignore, Tolerance(args.rtol, args.atol, args.ulp))
    if sum(option is not None for option in (args.other, args.processes, args.runs, args.calls)) != 1:
        raise CommandError('diff compares with one other recording, or two processes, runs or calls: give TRACE, '
                           '--processes P Q, --runs N M or --calls N M')
    if args.processes is not None:
        with context.progress('comparing, calls') as tell:
            return compare_processes(context.trace, (args.processes[0], args.processes[1]), rules, tell)
    if args.runs is not None:
        return compare_runs(context.trace, (args.runs[0], args.runs[1]), rules)
    if args.calls is not None:
        one, two = (find_call(context.trace, name, context.stop) for name in args.calls)
        return compare_calls(one, two, rules)
    with context.progress('comparing, calls') as tell, Trace.open(args.other) as other:
        return compare_traces(context.trace, other, rules, (str(context.trace.path), args.other), tell)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('other', metavar='TRACE', nargs='?', help='the recording to compare with')
    parser.add_argument('--processes', metavar='P', nargs=2,
                        help="compare two processes of this recording, by number, process id or label: 'worker:0'")
    parser.add_argument('--runs', metavar='N', nargs=2, type=positive, help='compare two runs of this recording')
    parser.add_argument('--calls', metavar='CALL', nargs=2, help='compare two calls of this recording')
    parser.add_argument('--ignore', metavar='KINDS', type=kinds, default=frozenset(),
                        help=f'kinds of differences that do not count, such as time,print: {", ".join(KINDS)}')
    parser.add_argument('--rtol', metavar='X', type=tolerance, default=0.0,
                        help='elements are equal up to X times the second one (default 0: bit for bit)')
    parser.add_argument('--atol', metavar='X', type=tolerance, default=0.0, help='elements are equal up to X')
    parser.add_argument('--ulp', metavar='N', type=positive, default=0,
                        help='floats are equal if at most N representable numbers apart')


DIFF = Command('diff', 'compare with another recording, or two processes, runs or calls: the first divergence', 'judge',
               _diff, trace_difference_view, _arguments,
               examples=('diff good.pfd', 'diff good.pfd --ignore time,print --ulp 2', 'diff --runs 2 3',
                         'diff --calls norm[3] norm[4]'), answer=TraceDifference)
COMMANDS: tuple[Command, ...] = (DIFF,)
