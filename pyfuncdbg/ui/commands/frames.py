"""The stack and the source: `bt`, `up`, `down`, `list`, `longlist`, `source`, `exceptions`.

On the stopped thread. `up` and `down` cross from a Python frame to its graph node, and on to what asked for that.
"""
from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.exception_message import exception_message
from pyfuncdbg.hooks.source_map import frame_line, program_code
from pyfuncdbg.observers.debug.inspecting.backtrace import StackRow, created_at, raised_record, rows_of, selected_row
from pyfuncdbg.observers.debug.inspecting.evaluate import evaluate
from pyfuncdbg.observers.debug.inspecting.scope import host_of, object_named, scope_of
from pyfuncdbg.observers.debug.inspecting.source_listing import (
    Listing,
    Marks,
    context as context_of_stops,
    listing,
    source_lines,
    whole_listing,
)
from pyfuncdbg.observers.debug.inspecting.stack import Entry, FrameEntry, NodeEntry, move_selection, selected_entry
from pyfuncdbg.observers.debug.stops.stop import PYTHON, Stop
from pyfuncdbg.observers.record.records import ErrorRecord
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import stop_of
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.calls.stack import row_view, stack_view
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.listing import listing_view
from pyfuncdbg.ui.views.sources.source import place

_LISTED = 11
"""Lines that `list` shows."""
_MOST = 200
"""Lines that the card of a stop may show."""


@dataclass(frozen=True, slots=True)
class Backtrace:
    """The stack, outermost first; `everything`: with all library frames."""

    rows: tuple[StackRow, ...]
    everything: bool


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One error of a chain: number, type and message; of the selected one also frames and variables."""

    number: int
    type: str
    message: str
    selected: bool
    error: ErrorRecord | None = None


def marks_of(context: Context) -> Marks:
    """The lines of a file that have a breakpoint."""
    if context.debugger is None:
        return lambda filename: ()
    debugger = context.debugger

    def lines(filename: str) -> tuple[int, ...]:
        return tuple(entry.breakpoint.spec.number for entry in list(debugger.breakpoints.entries.values())
                     if entry.breakpoint.spec.kind == 'line' and filename.endswith(entry.breakpoint.spec.name))
    return lines


def _backtrace(context: Context, args: argparse.Namespace) -> Backtrace:
    return Backtrace(rows_of(stop_of(context), variables=args.locals), args.all)


def _backtrace_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--all', action='store_true', help="all frames, also those of libraries and of a deep recursion")
    parser.add_argument('--locals', action='store_true', help='the variables of the innermost frames too')


def _move(context: Context, by: int) -> StackRow | None:
    stop = stop_of(context)
    move_selection(stop, by)
    return selected_row(stop)


def _count(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('count', metavar='N', type=positive, nargs='?', default=1, help='number of entries (default 1)')


def _source_place(entry: Entry | None, stop: Stop) -> tuple[str, int, int, str]:
    """(file, line, line that raised, what it is of) of an entry."""
    if isinstance(entry, FrameEntry):
        code = program_code(entry.frame.f_code)
        current = frame_line(entry.frame) if stop.phase in PYTHON or stop.error is None else entry.line
        raised = entry.line if stop.error is not None and entry.line != current else 0
        return code.co_filename, current, raised, code.co_name
    if isinstance(entry, NodeEntry):
        created = created_at(entry.site)
        if created is None:
            raise CommandError(f'the line that created the node {entry.site.name!r} is not known')
        return created.filename, created.line, 0, created.function
    raise CommandError('a run has no source: "up" selects the frame that called it')


def _list(context: Context, args: argparse.Namespace) -> Listing:
    stop = stop_of(context)
    entry = selected_entry(stop)
    filename, current, raised, function = _source_place(entry, stop)
    first, last = _range(args.lines, current, stop.listed)
    module = entry.frame.f_globals if isinstance(entry, FrameEntry) else None
    count = len(source_lines(filename, module))
    if first > count > 0:
        if args.lines.strip() not in ('', '.'):
            raise CommandError(f'list: {filename} has {count} lines, no line {args.lines.strip()}')
        raise CommandError(f'the listing ended at the last line, {count}. "list ." goes back to line {current}.')
    source = listing(filename, first, last, function=function, current=current, raised=raised, module=module,
                     marks=marks_of(context))
    stop.listed = source.last
    return source


def _range(text: str, current: int, last_listed: int) -> tuple[int, int]:
    """First and last line, as pdb reads them."""
    text = text.strip()
    if not text and last_listed:
        return last_listed + 1, last_listed + _LISTED
    if not text or text == '.':
        first = max(1, current - 5)
        return first, first + _LISTED - 1
    match = re.fullmatch(r'(\d{1,9})(?:\s*[,\s]\s*(\d{1,9}))?', text)
    if match is None:
        raise CommandError(f"list: {text!r} is not a range: expected nothing, '.', a line, or 'FIRST, LAST'")
    first = int(match[1])
    if match[2] is None:
        first = max(1, first - 5)
        return first, first + _LISTED - 1
    last = int(match[2])
    return first, last if last >= first else first + last


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = ("Nothing: 11 lines around the current one, then the next ones. '.': around the "
                     "current line again. LINE: around that line. FIRST, LAST: these; a LAST below FIRST is a number of "
                     "lines.")


def _longlist(context: Context, args: argparse.Namespace) -> Listing:
    stop = stop_of(context)
    entry = selected_entry(stop)
    _, current, raised, _ = _source_place(entry, stop)
    if isinstance(entry, FrameEntry):
        return whole_listing(entry.frame.f_code, current, raised, marks_of(context))
    code = getattr(entry.site.function, '__code__', None) if isinstance(entry, NodeEntry) else None
    if code is None:
        raise CommandError('this node calls no Python function; "list" shows where it was created')
    return whole_listing(code, marks=marks_of(context))


def _source(context: Context, args: argparse.Namespace) -> Listing:
    value = object_named(stop_of(context), args.expression)
    if value is None:
        text, names = scope_of(stop_of(context), args.expression)
        value = evaluate(text, names)
    value = inspect.unwrap(value) if callable(value) else value
    try:
        lines, first = inspect.getsourcelines(value)
        filename = inspect.getsourcefile(value) or ''
    except (OSError, TypeError) as error:
        raise CommandError(f'source: no source of {args.expression}: {error}') from None
    return Listing(filename, getattr(value, '__name__', ''), max(first, 1), tuple(line.rstrip('\r\n') for line in lines),
                   breakpoints=marks_of(context)(filename))


def _draw_source(source: Listing) -> RenderableType:
    return Page(place(source.filename, source.first, full=True), *listing_view(source).parts)


def chain_of(error: BaseException) -> list[BaseException]:
    """An error after those that led to it, the first one first."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and not any(current is known for known in chain):
        chain.append(current)
        current = current.__cause__ if current.__cause__ is not None or current.__suppress_context__ else current.__context__
    return chain[::-1]


def _exceptions(context: Context, args: argparse.Namespace) -> list[ErrorRow]:
    stop = stop_of(context)
    if stop.error is None:
        raise CommandError('exceptions: no exception was raised here')
    chain = stop.chain or tuple(chain_of(stop.error))
    stop.chain = chain
    if args.number is not None:
        if args.number >= len(chain):
            raise CommandError(f'exceptions: no exception {args.number}; they are numbered from 0 to {len(chain) - 1}')
        if chain[args.number].__traceback__ is None:
            raise CommandError(f'exceptions: number {args.number} has no frames to look at')
        stop.show_error(chain[args.number])
    return [ErrorRow(i, type(error).__name__, exception_message(error), error is stop.error,
                     raised_record(error, host_of(stop)) if error is stop.error else None) for i, error in enumerate(chain)]


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f'{text!r} is not the number of an exception')
    return int(text)


def _exceptions_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('number', metavar='N', type=_number, nargs='?', help='look at the frames of this one')


def _draw_exceptions(rows: list[ErrorRow]) -> RenderableType:
    lines = [Text.assemble(('> ' if row.selected else '  ', 'bold red'), f'{row.number}  ', (one_line(row.type, 80), 'bold'),
                           f': {_first_line(row.message)}' if row.message else '', overflow='fold') for row in rows]
    return Page(*lines, *(error_panel(row.error) for row in rows if row.error is not None and row.error.frames))


def _first_line(message: str) -> str:
    lines = [line for line in message.splitlines() if line.strip()]
    return one_line(lines[0], 200) + (' ...' if len(lines) > 1 else '') if lines else ''


def _context(context: Context, args: argparse.Namespace) -> int:
    if args.lines is not None:
        context_of_stops.lines = args.lines
    return context_of_stops.lines


def _context_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('lines', metavar='N', type=_few, nargs='?', help=f'number of lines, 1 to {_MOST}; at first 5')


def _few(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:9]) <= _MOST:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of lines from 1 to {_MOST}')
    return int(text)


def _draw_context(lines: int) -> RenderableType:
    return Page(Text(f'a stop shows {lines} line{"s" * (lines != 1)} of source', 'dim'))


BT = Command('bt', 'the stack: run, graph nodes and Python frames, the innermost last', 'look', _backtrace,
             lambda result: stack_view(result.rows, everything=result.everything), _backtrace_arguments, ('where', 'w'),
             needs_stop=True,
             examples=('bt', 'w --locals'))
UP = Command('up', 'select the next outer entry of the stack', 'look',
             lambda context, args: _move(context, -args.count), row_view, _count, ('u',), needs_stop=True,
             repeats=True, examples=('up', 'u 2'))
DOWN = Command('down', 'select the next inner entry of the stack', 'look',
               lambda context, args: _move(context, args.count), row_view, _count, ('d',), needs_stop=True,
               repeats=True, examples=('down',))
LIST = Command('list', 'source around the current line; at a node, around where it was created', 'look', _list, listing_view,
               _list_arguments, ('l',), needs_stop=True, expression='lines',
               repeats=True, examples=('list', 'l 40', 'l 40, 60', 'l .'), tail='[LINES]')
LONGLIST = Command('longlist', 'source of the whole function', 'look', _longlist, listing_view, aliases=('ll',),
                   needs_stop=True,
                   examples=('ll',))
SOURCE = Command('source', 'source of an object', 'look', _source, _draw_source, needs_stop=True, expression='expression',
                 aliases=('psource',), examples=('source norm',))
EXCEPTIONS = Command('exceptions', 'the errors that led to this one, and the frames of one of them', 'look', _exceptions,
                     _draw_exceptions, _exceptions_arguments, needs_stop=True,
                     examples=('exceptions', 'exceptions 0'))
CONTEXT = Command('context', "number of source lines at a stop, as in ipdb", 'look', _context, _draw_context,
                  _context_arguments, needs_program=True, examples=('context 11', 'context'))
COMMANDS: tuple[Command, ...] = (BT, UP, DOWN, LIST, LONGLIST, SOURCE, EXCEPTIONS, CONTEXT)
