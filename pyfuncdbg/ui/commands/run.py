"""`run` and `stop`: the mode of the stopped run and of those after it; the card of the current stop.

On the stopped thread.

A front end carries out `stop` and prints the answer at each new stop; around a run it is the card of the run.
"""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.cards.run_card import RunCard, RunEnd, Suggestion, run_card, run_end
from pyfuncdbg.observers.debug.cards.stop_card import StopCard, stop_card
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.inspecting.remote_error import remote_call
from pyfuncdbg.observers.debug.stepping.debugged_runs import RunOrder
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context, parser_of
from pyfuncdbg.ui.commands.frames import marks_of
from pyfuncdbg.ui.commands.resume import ResumeReport, debugger_of, draw_resumed, resume, stop_of
from pyfuncdbg.ui.views.calls.run_card import run_card_view, run_end_view
from pyfuncdbg.ui.views.calls.stop_card import stop_view
from pyfuncdbg.ui.views.tensors.tensors import LiveList, TensorListing

_TENSORS = 40
"""Lines of the table after a run."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run that is over, with its tensors; None if they were not recorded."""

    end: RunEnd
    tensors: TensorListing | LiveList | None


def at_run(context: Context) -> RunCard | RunResult | None:
    """The card of a stop before or after a run; None at any other stop.

    Args:
        context: Of the stop.
    """
    stop = stop_of(context)
    if stop.call is None or stop.phase not in ('run', 'end'):
        return None
    names = set(context.table.names)
    if stop.phase == 'run':
        card = run_card(stop, stop.call, debugger_of(context), _breakpoints(debugger_of(context)))
        return replace(card, suggestions=_known_only(card.suggestions, names))
    end = run_end(stop, stop.call, debugger_of(context), context.trace)
    tensors = None
    if end.recorded:
        from pyfuncdbg.ui.commands.lt import LT  # with the reader of traces, which the card of a stop does without
        tensors = LT.run(context, parser_of(LT).parse_args(['--run', str(end.run), '-n', str(_TENSORS)]))
    return RunResult(replace(end, suggestions=_known_only(end.suggestions, names)), tensors)


def _breakpoints(debugger: Debugger) -> list[str]:
    """'1 norm if has_nan(out)', one line for each."""
    return [f'{number} {entry.breakpoint}{"" if entry.breakpoint.enabled else " (disabled)"}'
            for number, entry in sorted(debugger.breakpoints.entries.items())]


def draw_at_run(result: RunCard | RunResult) -> RenderableType:
    """The card."""
    if isinstance(result, RunCard):
        return run_card_view(result)
    if result.tensors is None:
        return run_end_view(result.end, None)
    from pyfuncdbg.ui.commands.lt import LT
    return run_end_view(result.end, LT.view(result.tensors))


def _known_only(suggestions: Sequence[Suggestion], names: set[str]) -> tuple[Suggestion, ...]:
    return tuple(one for one in suggestions if one.command.split()[0] in names)


def _run(context: Context, args: argparse.Namespace) -> ResumeReport:
    stop = stop_of(context)
    order = _order(args)
    debugged = debugger_of(context).runs.on_thread(stop.thread)
    if debugged is None:
        raise CommandError("no run is debugged here: 'run' works at the stops of a DebugSession or of debug(). "
                           "'cont' goes on.")
    if stop.phase not in ('run', 'end'):
        if order.plain:
            raise CommandError("'run -n' is for the stop before a run, and this run has started. 'cont' goes on to the next "
                               "breakpoint, 'quit' without stopping any more.")
        debugged.obey(order)
    return resume(context, 'run', order)


def _order(args: argparse.Namespace) -> RunOrder:
    given = [name for name, on in (('-n', args.plain), ('-t', args.times is not None), ('-f', args.filter)) if on]
    if len(given) > 1:
        raise CommandError(f'run: {" and ".join(given)} exclude each other: give one of -n, -t N and -f PRED')
    if args.pred and not args.filter:
        raise CommandError(f'run: {args.pred!r} is not an option: expected nothing, -n, -t N or -f PRED. '
                           f"'run -f {args.pred}' runs until a tensor passes it")
    if not args.filter:
        return RunOrder(times=args.times or 0, plain=args.plain)
    if not args.pred:
        raise CommandError('run: -f needs a predicate of a tensor, such as has_inf_or_nan')
    return RunOrder(until=TensorTest(args.pred))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-n', dest='plain', action='store_true', help='this run without debugging: full speed, no stops')
    parser.add_argument('-t', dest='times', metavar='N', type=positive,
                        help='N runs that stop only at breakpoints and errors; then stop at the end of the last one')
    parser.add_argument('-f', dest='filter', action='store_true',
                        help='run after run until a tensor passes PRED, such as has_inf_or_nan or absmax(out) > 1e3; '
                             'stop after that run and list the tensors that passed')


RUN = Command('run', 'run to the end of this run and stop there; at its end, go on to the next one', 'run', _run,
              draw_resumed, _arguments, needs_stop=True, needs_program=True, expression='pred',
              examples=('run', 'run -t 10', 'run -f has_inf_or_nan'), tail='[-f PRED]')
_Result = StopCard | RunCard | RunResult


def _stop(context: Context, args: argparse.Namespace) -> _Result:
    card = at_run(context)
    if card is not None:
        return card
    stop = stop_of(context)
    shown = stop_card(stop, marks_of(context))
    if stop.error is None or not recorders():
        return shown
    return replace(shown, remote=remote_call(stop.error, context.trace))


def _draw(result: _Result) -> RenderableType:
    return stop_view(result) if isinstance(result, StopCard) else draw_at_run(result)


STOP = Command('stop', 'the place, source and values of this stop', 'look', _stop, _draw,
               needs_stop=True, examples=('stop',))
COMMANDS: tuple[Command, ...] = (RUN, STOP)
