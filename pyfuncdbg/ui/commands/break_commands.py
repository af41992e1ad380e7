"""The commands about breakpoints: `break`, `tbreak`, `breaks`, `enable`, `disable`, `clear`, `condition`, `ignore`, `catch`.

They act on the debugger of the program that runs, at a stop or not; what they answer is `BreakpointState`s.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError, TypedCommand, nearest
from pyfuncdbg.hooks.op_names import named_op
from pyfuncdbg.observers.debug.breakpoints import file as dotfile
from pyfuncdbg.observers.debug.breakpoints.breakpoint import ACTIONS
from pyfuncdbg.observers.debug.breakpoints.file import FileReport
from pyfuncdbg.observers.debug.breakpoints.listing import BreakpointState, state_of, states
from pyfuncdbg.observers.debug.breakpoints.program_names import program_functions
from pyfuncdbg.observers.debug.breakpoints.spec import Spec, spec
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.ui.commands.breakpoint_place import selected_line, selected_place
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import words
from pyfuncdbg.ui.commands.resume import debugger_of
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.reports.breakpoints import breakpoint_file_view, breakpoint_line, breakpoint_table

_TRAILING = re.compile(r'\s(--(?:once|before|after-call|error|gradient|json|every[ =]+\d+|after[ =]+\d+|do[ =]+\w+))\s*$')
_IF = re.compile(r'(?:^|\s)if(?=\s|\(|$)')
_END_OF_PLACE = re.compile(r'\s(?=--|if(?:\s|\(|$))')
_COMMA = re.compile(r'((?:.*:)?\d+),(.+)')
_WORDS = ("CONDITION is Python over the function's parameters, 'out', 'inputs', 'call' (call.ordinal, call.id), 'error' and "
          "'np'; at a line, over its variables. It also knows has_nan, has_inf, has_inf_or_nan, which stand alone for any "
          'tensor of the call, norm, absmax and zeros (the part of elements that are zero) of a value, and of calls '
          'changed(x), history[-1].out, len(history), history.ema(absmax(out)), history.mean(x), .min, .max, slow (the '
          'seconds it took) and p95 (those that 95 % of the calls before took at most). While there is '
          "no such earlier call it is not fulfilled. In a function of a dataset 'element' is the index of the element.")


@dataclass(frozen=True, slots=True)
class ChangedBreakpoints:
    """Breakpoints that a command changed; 'is there already' of one that was not set a second time."""

    action: Literal['set', 'is there already', 'enabled', 'disabled', 'cleared', 'changed']
    breakpoints: tuple[BreakpointState, ...]


@dataclass(frozen=True, slots=True)
class BreakpointList:
    """All breakpoints.

    Attributes:
        catching: Whether a wrapped function that raises stops.
        file: The file beside the script, if there is one.
        processes: Numbers of the other processes of the program that have them.
        late: Numbers of those that have yet to make the last changes.
    """

    breakpoints: tuple[BreakpointState, ...]
    catching: bool
    file: str = ''
    processes: tuple[int, ...] = ()
    late: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CatchState:
    """The state of `catch`: on if a wrapped function that raises stops."""

    on: bool


# ---------------------------------------------------------------- break
def _break(context: Context, args: argparse.Namespace, once: bool = False) -> ChangedBreakpoints | BreakpointList:
    breakpoints = debugger_of(context).breakpoints
    place, condition = _split_place(args)
    if not place and not condition:             # as in pdb
        return _list(context)
    where = spec(place) if place else selected_place(context)
    if where.kind == 'name' and where.text.isdecimal():
        where = selected_line(context, int(where.text))
    _learn(context, breakpoints)
    args.once = args.once or once
    options = _settings(args)
    alike = breakpoints.find_equal(where, condition or None, **options)
    if alike is not None:
        return ChangedBreakpoints('is there already', (state_of(breakpoints.entry(alike), breakpoints),))
    made = breakpoints.set(where, condition or None, **options)
    debugger_of(context).start()
    entry = breakpoints.entry(made.number)
    note = '' if entry.functions else _note(where, context, breakpoints)
    return ChangedBreakpoints('set', (state_of(entry, breakpoints, note),))


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `break`, for `Breakpoints.set`."""
    timing = next((name for name in ('before', 'after-call', 'error', 'gradient') if getattr(args, name.replace('-', '_'))),
                  None)
    return {'timing': timing, 'do': args.do, 'once': args.once, 'every': args.every, 'after': args.after}


def breakpoint_of(text: str, condition: str | None = None) -> tuple[Spec, str | None, dict[str, Any]]:
    """The breakpoint of `--break TEXT --if CONDITION`, for `Breakpoints.set` and `check`: what may be typed behind `break`.

    Raises:
        CommandError: The place, the condition or an option makes no sense, or there are two conditions.
    """
    end = _END_OF_PLACE.search(text)
    args = parser_of(BREAK).parse_args([])
    args.spec, args.condition = (text[:end.start()], text[end.end():]) if end is not None else (text, '')
    place, own = _split_place(args)
    if condition is not None:
        if own:
            raise CommandError(f'--if {condition}: it needs a --break before it, and there is another --if')
        own, given = _without_options(condition)
        _set_options(args, given)
    return spec(place.strip()), own or None, _settings(args)


def _without_options(text: str) -> tuple[str, list[str]]:
    """A condition, and the words of the options after it."""
    options: list[str] = []
    while (match := _TRAILING.search(' ' + text)) is not None:
        options.append(match[1])
        text = (' ' + text)[:match.start()].strip()
    return text, [word.text for option in reversed(options) for word in words(option)]


def _set_options(args: argparse.Namespace, words: Sequence[str]) -> None:
    """Set the options given after the place."""
    parser = parser_of(BREAK)
    parsed = parser.parse_args(words)
    if parsed.spec:
        raise CommandError(f"expected 'if CONDITION' or nothing after the options of break, not {parsed.spec!r}")
    for name, value in vars(parsed).items():
        if value != parser.get_default(name):
            setattr(args, name, value)


def _split_place(args: argparse.Namespace) -> tuple[str, str]:
    """Place and condition of 'SPEC [OPTIONS] [if CONDITION] [OPTIONS]', or pdb's 'SPEC, CONDITION'."""
    place: str = args.spec or ''
    rest: str = args.condition
    if place == 'if':
        place, rest = '', f'if {rest}'
    rest, options = _without_options(rest)
    if place.endswith(','):                     # pdb's `break 11, condition`
        place, rest = place[:-1], f',{rest}'
    elif (comma := _COMMA.fullmatch(place)) is not None:
        place, rest = comma[1], f',{comma[2]} {rest}'
    if rest.startswith(','):
        rest = f'if {rest[1:].strip()}'
    before, *condition = _IF.split(rest, maxsplit=1)
    if before and not before.startswith('--'):
        raise CommandError(f"expected 'if' and a condition after SPEC, not {rest!r}. ", TypedCommand('help break'),
                           ' shows all.')
    if condition and not condition[0].strip():
        raise CommandError("a condition is missing after 'if'")
    _set_options(args, [*(word.text for word in words(before)), *options])
    return place, condition[0].strip() if condition else ''


def _learn(context: Context, breakpoints: Breakpoints) -> None:
    """Make the sites of the stopped run known to the breakpoints."""
    if context.stop is not None and context.stop.run is not None:
        breakpoints.known.add_run(context.stop.run)
    if context.stop is not None and context.stop.call is not None:
        breakpoints.known.add(context.stop.call.site)


def _note(where: Spec, context: Context, breakpoints: Breakpoints) -> str:
    """A remark on a place that is not met yet, or is past; '' for none."""
    if where.kind == 'call':
        call = context.stop.call if context.stop is not None else None
        if call is not None and 0 < where.number <= call.id:
            return f'call #{where.number} is over: this is #{call.id}, and later calls have greater numbers'
        return ''
    if where.kind != 'name' or breakpoints.known.matching_sites(where):
        return ''
    recorded = context.trace.sites()
    if where.fits(name for site in recorded for name in (
            (site.function,) if where.function else (site.name, site.op_type, site.function)) if name):
        return ''
    op = named_op(where.name) if not where.function else None
    if op is not None:
        return 'it waits for an op of that name' if op.stops else f'nothing of that name is known yet; {op.limit}'
    what = 'no wrapped function' if where.function else 'nothing'
    hint = breakpoints.known.near(where, program_functions(), recorded)
    return f'{what} of that name is known yet: it waits for one.{hint}'


def _break_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _WORDS
    parser.add_argument('spec', metavar='SPEC', nargs='?',
                        help="node, glob, op type, function (function:NAME if it is a node's name too), FILE:LINE, "
                             "call such as '#17' or 'norm[3]'; without it, and without a condition, the breakpoints are "
                             "listed; 'if CONDITION' alone is about the line or node that is stopped at")
    parser.add_argument('--once', action='store_true', help='only at the first hit')
    parser.add_argument('--every', metavar='N', type=positive, default=1, help='only at every Nth hit')
    parser.add_argument('--after', metavar='N', type=_count, default=0, help='not at the first N hits')
    timing = parser.add_mutually_exclusive_group()
    timing.add_argument('--before', action='store_true',
                        help='before the call; else one that names a function stops in it, where it begins')
    timing.add_argument('--after-call', action='store_true', help='when it has returned')
    timing.add_argument('--error', action='store_true', help='where it raised')
    timing.add_argument('--gradient', action='store_true', help='at the calls of its backward step')
    parser.add_argument('--do', choices=ACTIONS, default='stop',
                        help='stop; log: write a line; snap: record inputs and outputs, or the arrays at a line, whole')


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of hits')
    return value


# ---------------------------------------------------------------- the others
def _list(context: Context) -> BreakpointList:
    debugger = debugger_of(context)
    file = dotfile.beside_script()
    debugger.changes.settle()
    others = debugger.changes.others()
    return BreakpointList(tuple(states(debugger.breakpoints)), debugger.catching, str(file) if file.is_file() else '',
                          tuple(process for process, is_up_to_date in others.items() if is_up_to_date),
                          tuple(process for process, is_up_to_date in others.items() if not is_up_to_date))


def _breaks(context: Context, args: argparse.Namespace) -> BreakpointList | FileReport:
    debugger = debugger_of(context)
    if args.save is not None:
        return dotfile.save(debugger.breakpoints, _file(args.save))
    if args.load is not None:
        filed = dotfile.load(debugger.breakpoints, _file(args.load))
        debugger.start()
        return filed
    return _list(context)


def _file(name: str) -> Path:
    return Path(name) if name else dotfile.beside_script()


def _breaks_arguments(parser: argparse.ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument('--save', metavar='FILE', nargs='?', const='',
                        help=f'write them to FILE ({dotfile.NAME} beside the script)')
    either.add_argument('--load', metavar='FILE', nargs='?', const='',
                        help='set those of a file; conditions are Python: load only files that you trust')


def _numbers(breakpoints: Breakpoints, words: Sequence[str], *, specs: bool = False) -> list[int]:
    """The breakpoints that are named; all are there, or it is a mistake."""
    if not words:
        raise CommandError("expected numbers of breakpoints, or 'all'; ", TypedCommand('breaks'), ' lists them')
    numbers: list[int] = []
    for name in words:
        if name == 'all':
            numbers += breakpoints.entries
        elif name.isdecimal():
            numbers.append(breakpoints.entry(int(name)).breakpoint.number)
        else:
            same = [number for number, entry in breakpoints.entries.items() if entry.breakpoint.spec.text == name]
            if not same or not specs:
                have = [entry.breakpoint.spec.text for entry in breakpoints.entries.values()]
                hint = nearest(name, have) if specs else ''
                also = ' or a SPEC that is set' if specs else ''
                raise CommandError(f"no breakpoint {name!r}: give a number or 'all'{also}.{hint}")
            numbers += same
    return list(dict.fromkeys(numbers))


def _switch(on: bool) -> Callable[[Context, argparse.Namespace], ChangedBreakpoints]:
    def run(context: Context, args: argparse.Namespace) -> ChangedBreakpoints:
        breakpoints = debugger_of(context).breakpoints
        numbers = _numbers(breakpoints, args.numbers)
        for number in numbers:
            breakpoints.enable(number, on)
        return ChangedBreakpoints('enabled' if on else 'disabled',
                                  tuple(state_of(breakpoints.entry(n), breakpoints) for n in numbers))
    return run


def _clear(context: Context, args: argparse.Namespace) -> ChangedBreakpoints:
    breakpoints = debugger_of(context).breakpoints
    cleared = [state_of(breakpoints.entry(number), breakpoints)
               for number in _numbers(breakpoints, args.numbers, specs=True)]
    for state in cleared:
        breakpoints.clear(state.number)
    return ChangedBreakpoints('cleared', tuple(cleared))


def _condition(context: Context, args: argparse.Namespace) -> ChangedBreakpoints:
    breakpoints = debugger_of(context).breakpoints
    _learn(context, breakpoints)
    text = args.condition[found.end():].strip() if (found := _IF.match(args.condition)) is not None else args.condition
    breakpoints.change(args.number, text or None)
    return ChangedBreakpoints('changed', (state_of(breakpoints.entry(args.number), breakpoints),))


def _ignore(context: Context, args: argparse.Namespace) -> ChangedBreakpoints:
    breakpoints = debugger_of(context).breakpoints
    breakpoints.ignore(args.number, args.count)
    return ChangedBreakpoints('changed', (state_of(breakpoints.entry(args.number), breakpoints),))


def _catch(context: Context, args: argparse.Namespace) -> CatchState:
    debugger = debugger_of(context)
    debugger.catching = args.state == 'on'
    if debugger.catching:
        debugger.start()
    return CatchState(debugger.catching)


# ---------------------------------------------------------------- drawn
def draw_changed(result: Any) -> RenderableType:
    if isinstance(result, FileReport):
        return breakpoint_file_view(result)
    if isinstance(result, BreakpointList):
        unread = result.file and not result.breakpoints
        hint = f"{result.file} exists: 'breaks --load' sets its breakpoints" if unread else ''
        return breakpoint_table(result.breakpoints, catching=result.catching, hint=hint, processes=result.processes,
                                late=result.late)
    if not result.breakpoints:
        return Text('no breakpoint is set')
    return Page(*(breakpoint_line(state, result.action) for state in result.breakpoints))


def _draw_catch(result: CatchState) -> RenderableType:
    return Text('a wrapped function that raises stops' if result.on else 'errors do not stop')


def _number_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('number', metavar='BREAKPOINT', type=positive, help='its number')


def _condition_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _WORDS
    _number_argument(parser)


def _number_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('numbers', metavar='BREAKPOINT', nargs='*', help="numbers of breakpoints, or 'all'")


def _clear_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('numbers', metavar='BREAKPOINT', nargs='*',
                        help="numbers of breakpoints, 'all', or the SPEC of some")


def _ignore_arguments(parser: argparse.ArgumentParser) -> None:
    _number_argument(parser)
    parser.add_argument('count', metavar='COUNT', type=_count, nargs='?', default=0,
                        help='number of hits to skip from now on')


def _catch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('state', metavar='on|off', choices=('on', 'off'), nargs='?', default='on')


BREAK = Command('break', 'stop at a node, function, call or line: break SPEC [if CONDITION]', 'stop', _break, draw_changed,
                _break_arguments, ('b',), needs_program=True, expression='condition',
                tail='[if CONDITION]', examples=('break norm if has_nan(out)', 'break model.py:41', 'b 41, sd.min() == 0',
                                                 "break 'layer*/norm' --after-call --do log"))
TBREAK = Command('tbreak', 'the same as break --once', 'stop', lambda context, args: _break(context, args, once=True),
                 draw_changed, _break_arguments, needs_program=True, expression='condition',
                 examples=('tbreak norm', 'tbreak model.py:41 if n > 3'), tail='[if CONDITION]')
BREAKS = Command('breaks', 'list the breakpoints, save or load them', 'stop', _breaks, draw_changed, _breaks_arguments,
                 ('bl',), needs_program=True,
                 examples=('breaks', 'breaks --save'))
ENABLE = Command('enable', 'test breakpoints again', 'stop', _switch(True), draw_changed, _number_arguments,
                 needs_program=True,
                 examples=('enable 2', 'enable all'))
DISABLE = Command('disable', 'keep breakpoints, but do not test them', 'stop', _switch(False), draw_changed,
                  _number_arguments,
                  needs_program=True,
                  examples=('disable 1 2',))
CLEAR = Command('clear', 'delete breakpoints', 'stop', _clear, draw_changed, _clear_arguments, ('cl',),
                needs_program=True, examples=('clear 2', 'clear all', 'cl model.py:41'))
CONDITION = Command('condition', 'give a breakpoint another condition, or none', 'stop', _condition, draw_changed,
                    _condition_arguments, needs_program=True, expression='condition',
                    examples=('condition 2 if has_nan(out)', 'condition 2'), tail='[[if] CONDITION]')
IGNORE = Command('ignore', 'skip the next hits of a breakpoint', 'stop', _ignore, draw_changed, _ignore_arguments,
                 needs_program=True,
                 examples=('ignore 2 100',))
CATCH = Command('catch', 'stop where a wrapped function raises', 'stop', _catch, _draw_catch, _catch_arguments,
                needs_program=True,
                examples=('catch', 'catch off'))
COMMANDS: tuple[Command, ...] = (BREAK, TBREAK, BREAKS, ENABLE, DISABLE, CLEAR, CONDITION, IGNORE, CATCH)
