"""`check`: comparison of the gradients of a tape with numerical derivatives."""
from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.distributed.plain_answer import from_plain, to_plain
from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.hooks.differentiable import EAGER_BY
from pyfuncdbg.observers.debug.gradients.call_again import is_of_this_process, rerun_command
from pyfuncdbg.observers.debug.gradients.edge_check import EdgeOutcome
from pyfuncdbg.observers.debug.gradients.forward_names import forward_name
from pyfuncdbg.observers.debug.gradients.function_check import check_functions
from pyfuncdbg.observers.debug.gradients.gradient_check import (
    CheckedEdge,
    CheckedStep,
    CheckReport,
    check_step,
    forward_call,
)
from pyfuncdbg.observers.debug.gradients.rule_check import RuleCalls, check_rule, site_without_values, traced_rules
from pyfuncdbg.observers.debug.gradients.tape import CHECK as NOTE, is_source
from pyfuncdbg.observers.debug.replay.named_code import describe_runs
from pyfuncdbg.observers.debug.replay.replay import repeat_recorded_call
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.dask_option import add_dask_option, work_on_cluster
from pyfuncdbg.ui.commands.engine.arguments import filters_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.commands.replay import load_host
from pyfuncdbg.ui.views.numerics.check import check_view

STEPS = 50
_PROGRESS = 'checking gradients, backward steps'
_NOTED = 500
"""Verdicts in one note of the trace."""


def _check(context: Context, args: argparse.Namespace) -> CheckReport:
    trace = context.trace
    if args.module is not None:
        return _check_modules(context, args)
    steps = [step for step in trace.calls(kind='gradient', run=args.run) if not is_source(step)]
    foreign = [step for step in steps if step.site.traits.foreign]
    steps = [step for step in steps if not step.site.traits.foreign]
    rules: list[RuleCalls] = []
    if args.call is not None:
        call = find_call(trace, args.call, context.stop)
        if not any(step.forward == call.number for step in steps):
            rules = traced_rules(trace, call=call)
        steps = _of_call(steps, call) if not rules else []
    elif args.run is None:
        rules = traced_rules(trace, steps)
        if not steps and not rules and (traced := site_without_values(trace)) is not None:
            raise CommandError(*_without_values(trace, traced))
    if foreign and not steps and not rules:
        raise CommandError(f"only backward steps of {foreign[0].site.host}'s own ops were recorded; check is for those of "
                           'wrapped Python functions and of custom gradients')
    if not steps and not rules:
        if args.run is not None:
            run = trace.run(args.run)
            if run.kind == 'function' and trace.count(kind='run', run=args.run):
                args.module = '*'
                return _check_modules(context, args)
            raise CommandError(f'run #{args.run} has no gradients to check; ', TypedCommand('tape'),
                               ' lists the runs that have some')
        raise CommandError('no gradients were recorded: none were computed during the recording')
    foreign = foreign if args.call is None else []
    if not is_of_this_process(trace):
        return _checked_by_replays(context, steps, args, foreign)
    for option in ('dask', 'trust'):
        if getattr(args, option):
            raise CommandError(f'--{option} is for a finished trace: this program runs, and has its functions')
    return _checked(context, steps, rules, args, foreign)


def _checked_by_replays(context: Context, steps: Sequence[CallRecord], args: argparse.Namespace,
                        foreign: Sequence[CallRecord]) -> CheckReport:
    """Check the backward steps of a finished trace: functions are found as `replay` finds them."""
    trace = context.trace
    forwards = [_forward_function(trace, step) for step in steps[:args.n]]
    if not any(forwards):
        raise CommandError("check repeats calls, and a finished trace holds no functions of nodes. Run the program, stop "
                           f"after the gradients and type: {rerun_command(trace, '--ops', '--break', 'SPEC')}, then 'check'")
    context.announce(describe_runs('check', list(dict.fromkeys(filter(None, forwards)))))
    numbers = [step.number for step in steps[:args.n]]
    checked: list[CheckedStep] = []
    if args.dask is None:
        work = check_work(trace, {'trust': args.trust})
        with context.progress(_PROGRESS) as tell:
            for place, number in enumerate(numbers):
                if tell is not None:
                    tell(place, len(numbers))
                checked.append(from_plain(CheckedStep, work(number)))
    else:
        with (work_on_cluster(context, args.dask, f'{__name__}:check_work', {'trust': args.trust}) as answers,
              context.progress(_PROGRESS) as tell):
            checked = [_unchecked(step, answer.failure) if answer.failure else from_plain(CheckedStep, answer.result)
                       for step, answer in zip(steps, answers(numbers, tell), strict=False)]
    edges = [edge for step in checked for edge in step.edges]
    return CheckReport(tuple(edges), dict(Counter(edge.outcome.verdict for edge in edges)), len(numbers), len(steps),
                       filters_of(args, 'run', 'call'), len(foreign), foreign[0].site.host if foreign else '',
                       files=tuple(dict.fromkeys(file for step in checked for file in step.files)))


def check_work(trace: Trace, options: Mapping[str, Any]) -> Callable[[Any], Any]:
    """What checks backward steps of a finished trace, here or in a process of a worker.

    Args:
        trace: The recording.
        options: `trust`: whether functions that no file has may be taken from the trace.

    Returns:
        From the number of a gradient call to its `CheckedStep`, as plain data.
    """
    def work(number: Any) -> Any:
        files = dict[str, None]()
        edges = check_step(trace, trace.call(number), repeat=repeat_recorded_call(load_host, options['trust'], files))
        return to_plain(CheckedStep(tuple(edges), tuple(files)))
    return work


def _forward_function(trace: Trace, step: CallRecord) -> tuple[str, str] | None:
    """Name and file of the Python function that a backward step goes back through."""
    try:
        site = forward_call(trace, step).site
    except CommandError:
        return None
    return (site.function, site.filename) if site.kind == 'python' else None


def _unchecked(step: CallRecord, why: str) -> CheckedStep:
    return CheckedStep(tuple([
        CheckedEdge(step.number, step.forward, forward_name(step), step.site.op_type, '', slot, f'input {slot}',
                    EdgeOutcome('unchecked', reason=why))
        for slot, tensor in enumerate(step.outputs) if not tensor.absent]), ())


def _checked(context: Context, steps: Sequence[CallRecord], rules: Sequence[RuleCalls], args: argparse.Namespace,
             foreign: Sequence[CallRecord]) -> CheckReport:
    """Check backward steps, then rules that have none."""
    trace, at = context.trace, context.stop.call if context.stop is not None else None
    edges: list[CheckedEdge] = []
    total, shown = len(steps) + len(rules), min(len(steps) + len(rules), args.n)
    with context.progress(_PROGRESS if steps else 'checking gradients, rules') as tell:
        for number, step in enumerate(steps[:args.n]):
            edges += check_step(trace, step, at, None if tell is None else partial(tell, number, shown))
        _keep(trace, edges)
        for number, rule in enumerate(rules[:shown - len(steps[:args.n])], len(steps)):
            if tell is not None:
                tell(number, shown)
            edges += check_rule(trace, rule)
    unit = 'backward step' if not rules else 'backward step or rule' if steps else 'rule'
    return CheckReport(tuple(edges), dict(Counter(edge.outcome.verdict for edge in edges)), shown, total,
                       filters_of(args, 'run', 'call'), len(foreign), foreign[0].site.host if foreign else '', unit,
                       _own_values(trace, rules[0]) if rules else '')


def _own_values(trace: Trace, rule: RuleCalls) -> str:
    """The remark on rules that were called without values: how they get the program's."""
    return (f"{rule.site.host.name} called the rules when it compiled the program, without values. On the program's own: "
            f"{rule.site.attrs[EAGER_BY]} {rerun_command(trace, '--break', 'SPEC')}, a stop after the gradients, then "
            "'check'")


def _without_values(trace: Trace, traced: SiteRecord) -> tuple[str, ...]:
    """The text of the error that rules were called without values and their functions are gone."""
    rerun = rerun_command(trace, '--break', 'SPEC')
    return (f'no gradients were recorded: {traced.name} was called while {traced.host} compiled it, without values, and its '
            'function is not at hand. Run the program, stop anywhere after that call and type: '
            f"{rerun}, then 'check', which takes values that are made up. For the program's own: {traced.attrs[EAGER_BY]} "
            f"{rerun}, a stop after the gradients, then 'check'",)


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
    parser.add_argument('--trust', action='store_true',
                        help='run the source that a finished trace holds where no file has the function; read it first')
    add_dask_option(parser)


CHECK = Command('check', 'compare gradients with finite differences of the repeated calls', 'judge', _check, check_view,
                _arguments,
                examples=('check', 'check --call 17'))
COMMANDS: tuple[Command, ...] = (CHECK,)
