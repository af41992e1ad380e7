"""`check`: comparison of the gradients of a tape with numerical derivatives."""
from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.hooks.differentiable import EAGER_BY
from pyfuncdbg.observers.debug.gradients.call_again import is_of_this_process, rerun_command
from pyfuncdbg.observers.debug.gradients.function_check import check_functions
from pyfuncdbg.observers.debug.gradients.gradient_check import CheckedEdge, CheckReport, check_step
from pyfuncdbg.observers.debug.gradients.tape import CHECK as NOTE, is_source
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.arguments import filters_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.views.numerics.check import check_view

STEPS = 50
_NOTED = 500
"""Verdicts in one note of the trace."""


def _check(context: Context, args: argparse.Namespace) -> CheckReport:
    trace = context.trace
    if args.module is not None:
        return _check_modules(context, args)
    steps = [step for step in trace.calls(kind='gradient', run=args.run) if not is_source(step)]
    foreign = [step for step in steps if step.site.traits.foreign]
    steps = [step for step in steps if not step.site.traits.foreign]
    if args.call is not None:
        steps = _of_call(steps, find_call(trace, args.call, context.stop))
    if foreign and not steps:
        raise CommandError(f"only backward steps of {foreign[0].site.host}'s own ops were recorded; check is for those of "
                           'wrapped Python functions and of custom gradients')
    if not steps:
        if args.run is not None:
            run = trace.run(args.run)
            if run.kind == 'function' and trace.count(kind='run', run=args.run):
                args.module = '*'
                return _check_modules(context, args)
            raise CommandError(f'run #{args.run} has no gradients to check; ', TypedCommand('tape'),
                               ' lists the runs that have some')
        raise CommandError(*_no_gradients(trace))
    if not is_of_this_process(trace):
        raise CommandError("check repeats calls, and a finished trace holds no functions. Run the program, stop after "
                           f"the gradients and type: {rerun_command(trace, '--ops', '--break', 'SPEC')}, then 'check'")
    at = context.stop.call if context.stop is not None else None
    edges: list[CheckedEdge] = []
    with context.progress('checking gradients, backward steps') as tell:
        for number, step in enumerate(steps[:args.n]):
            edges += check_step(trace, step, at, None if tell is None else partial(tell, number, len(steps[:args.n])))
    _keep(trace, edges)
    return CheckReport(tuple(edges), dict(Counter(edge.outcome.verdict for edge in edges)), len(steps[:args.n]), len(steps),
                       filters_of(args, 'run', 'call'), len(foreign) if args.call is None else 0,
                       foreign[0].site.host if foreign else '')


def _no_gradients(trace: Trace) -> tuple[str, ...]:
    """The text of the error that no backward step was recorded, with what makes them where that is known."""
    traced = next((site for site in trace.sites() if EAGER_BY in site.attrs), None)
    if traced is None:
        return ('no gradients were recorded: none were computed during the recording',)
    return (f'no gradients were recorded: {traced.name} was called while {traced.host} compiled it, without values. Run the '
            f'program eagerly, stop after the gradients and type: {traced.attrs[EAGER_BY]} '
            f"{rerun_command(trace, '--break', 'SPEC')}, then 'check'",)


def _check_modules(context: Context, args: argparse.Namespace) -> CheckReport:
    """Check the modules that were called in a run: by default the newest run of a module."""
    trace = context.trace
    if args.call is not None:
        raise CommandError('--module checks the modules of a run, and takes no --call')
    runs = [call for call in trace.calls(kind='run', run=args.run, newest_first=True) if not call.site.traits.backward_pass]
    if not runs:
        if args.run is None:
            raise CommandError('no call of a module was recorded')
        trace.run(args.run)                     # raises an error that lists the runs
        raise CommandError(f'run #{args.run} is no call of a module')
    if not is_of_this_process(trace):
        raise CommandError("check repeats calls, and a finished trace holds no modules: ",
                           TypedCommand(f'graph --run {runs[0].run}'), ' lists what they were. Run the program, stop after '
                           f"the call and type: {rerun_command(trace, '--break', 'SPEC')}, then 'check --module'")
    with context.progress('checking gradients, modules') as tell:
        edges, checked, total = check_functions(trace, runs[0], args.module, args.n, tell)
    return CheckReport(tuple(edges), dict(Counter(edge.outcome.verdict for edge in edges)), checked, total,
                       {**({} if args.module == '*' else {'module': args.module}), 'run': runs[0].run}, unit='module')


def _keep(trace: Trace, edges: Sequence[CheckedEdge]) -> None:
    """Put the verdicts into the trace: the tape shows them beside its edges, now and when it is opened again."""
    verdicts = [[edge.gradient, edge.slot, edge.outcome.verdict, *(None if number is None else float(number) for number in (
        edge.outcome.error, edge.outcome.actual, edge.outcome.expected))] for edge in edges]
    for recorder in recorders():
        if recorder.path == getattr(trace, 'path', None):
            for start in range(0, len(verdicts), _NOTED):
                recorder.note(NOTE, {'edges': verdicts[start:start + _NOTED]})


def _of_call(steps: list[CallRecord], call: CallRecord) -> list[CallRecord]:
    """The gradient call itself, or those of a forward call."""
    if call.site.kind == 'gradient':
        return [call]
    gradient_steps = [step for step in steps if step.forward == call.number]
    if not gradient_steps:
        raise CommandError(f'no gradient call of call #{call.number} {call.label} was recorded: it was not differentiated')
    return gradient_steps


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='gradients of run N')
    parser.add_argument('--call', metavar='N', help='of one gradient call, or of a forward call')
    parser.add_argument('--module', metavar='GLOB', nargs='?', const='*',
                        help='the modules called in run N, the newest by default: by input and by parameter')
    parser.add_argument('-n', metavar='K', type=positive, default=STEPS,
                        help=f'look at the first K backward steps or modules (default {STEPS})')


CHECK = Command('check', 'compare gradients with finite differences of the repeated calls', 'judge', _check, check_view,
                _arguments,
                examples=('check', 'check --call 17'))
COMMANDS: tuple[Command, ...] = (CHECK,)
