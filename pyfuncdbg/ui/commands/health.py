"""`health`: non-finite values of a trace, their origins and consequences; `health --line N` the line, in a re-run."""
from __future__ import annotations

import argparse
from collections import Counter

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.numerics.fused_values import fused_calls
from pyfuncdbg.observers.debug.numerics.nan_line_of_call import LineReport, trace_lines
from pyfuncdbg.observers.debug.numerics.nan_outcomes import HealthReport, outcomes, unexamined_calls
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.debug.reports.profile import were_stepped
from pyfuncdbg.ui.commands.engine.arguments import filters_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_bad_call, find_call
from pyfuncdbg.ui.commands.report import LOOKING
from pyfuncdbg.ui.views.numerics.health import health_view, line_view

SHOWN = 50
_KINDS = 'python', 'op', 'gradient'
_NEWEST = 500
"""Calls of each kind that are looked at for values that were not examined, where nothing was found."""


def _health(context: Context, args: argparse.Namespace) -> HealthReport | LineReport:
    trace = context.trace
    if args.line is not None:
        if args.run is not None or args.call is not None:
            raise CommandError('--line repeats one call and takes no other filter')
        at = context.stop.call if context.stop is not None else None
        stop = context.stop if at is not None and at.finished else None
        return trace_lines(trace, find_bad_call(trace, args.line, stop), at)
    asked_call = None if args.call is None else find_call(trace, args.call, context.stop)
    asked = None if asked_call is None else asked_call.number
    if args.run is not None and not any(run.id == args.run for run in trace.runs()):
        trace.run(args.run)                     # raises an error that lists the runs
    with context.progress(LOOKING) as tell:
        health = judge(trace, tell=tell)
    found = [finding for finding in health.findings
             if (args.run is None or finding.call.run == args.run) and (asked is None or finding.call.number == asked)]
    newest = [] if found else [asked_call] if asked_call is not None else [
        call for kind in _KINDS for call in trace.calls(kind=kind, run=args.run, limit=_NEWEST, newest_first=True)]
    info = trace.info()
    origins = {finding.origin or finding.call.number for finding in found[:args.n]}
    return HealthReport(tuple(found[:args.n]), len(found), dict(Counter(finding.verdict for finding in found)),
                        tuple(outcome for outcome in outcomes(trace, health) if outcome.origin.call.number in origins),
                        filters_of(args, 'run', 'call'), health.unjudged, info.ops,
                        context.stop is not None, fused_calls(trace, args.run), were_stepped(trace, args.run),
                        info.lost_calls, unexamined_calls(newest))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='calls of run N')
    parser.add_argument('--call', metavar='N', help='one call, by number or label')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')
    parser.add_argument('--line', metavar='N', help='repeat Python call N on its recorded inputs, and print the line and '
                                                    'the variable where the first bad value appeared')


def _draw(result: HealthReport | LineReport) -> RenderableType:
    return line_view(result) if isinstance(result, LineReport) else health_view(result)


HEALTH = Command('health', 'where NaN and Inf began, which calls inherited or masked them, and which fetches they reached',
                 'judge',
                 _health, _draw, _arguments,
                 examples=('health', 'health --line 17'))
COMMANDS: tuple[Command, ...] = (HEALTH,)
