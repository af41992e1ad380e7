"""Options of `%%pyfunc` and `%pyfunc on`: read and checked before anything runs.

Called on the main thread, more than once for a cell: nothing is changed here.
"""
from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyfuncdbg.errors import CommandError, UsageError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.log.trace_folder import MANIFEST, SMALLEST_BUDGET, path_taken_error
from pyfuncdbg.ui.commands.break_commands import breakpoint_of
from pyfuncdbg.ui.commands.byte_size import byte_size
from pyfuncdbg.ui.commands.engine.command import Command, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import words
from pyfuncdbg.ui.commands.programs.stop_options import add_breaks

Capture = Literal['tee', 'only', 'off']

_CONDITION = re.compile(r'(--if[ =]\s*)(?!["\'])(.*?)(?=\s+--[a-z]|$)')
"""A condition that needs no quotes: it ends where the next option begins."""


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """Options for the recording of one cell, or of every cell.

    Attributes:
        record: Folder of the trace, None for one that the session chooses.
        ops: Graph nodes too.
        budget: Bytes that the trace may take, None for the recorder's own limit.
        capture: What becomes of what wrapped functions print.
        breaks: Places and conditions of breakpoints for this cell.
        catch: Stop where a wrapped function raises.
        ui: Front end at stops; None: unchanged.
        as_json: The report is wanted as JSON.
        help: Only the help is wanted.
    """

    record: Path | None = None
    ops: bool = False
    budget: int | None = None
    capture: Capture = 'tee'
    breaks: tuple[tuple[str, str | None], ...] = ()
    catch: bool = False
    ui: Literal['auto', 'prompt', 'inspector', 'none'] | None = None
    as_json: bool = False
    help: bool = False


def recording_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a recording."""
    parser.add_argument('--record', metavar='PATH', help='folder for the trace')
    parser.add_argument('--ops', action='store_true', help='record every node of the graph too')
    parser.add_argument('--budget', metavar='SIZE', help='largest size of the trace, such as 256MB')
    parser.add_argument('--capture', choices=('tee', 'only', 'off'), default='tee',
                        help='what wrapped functions print is recorded and shown (tee), only recorded, or only shown (off)')


def cell_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a cell magic, breakpoints included."""
    recording_arguments(parser)
    add_breaks(parser)
    parser.add_argument('--ui', choices=('auto', 'prompt', 'inspector', 'none'),
                        help='front end for stops; none: stops are logged and the cell continues')


MAGIC = '%%pyfunc'
WIDTH = 100
"""Columns, where the front end does not tell."""
CELL = Command(MAGIC, 'run this cell recorded, and show the report at its end', 'run', lambda context, args: None,
               lambda result: '', cell_arguments, examples=(MAGIC, f'{MAGIC} --break norm --if has_nan(out)'))
"""For its parser and its help: a cell magic is no command of a line."""


def read_options(text: str, command: Command) -> RecordingOptions:
    """The options in the first line of a cell.

    Raises:
        CommandError: One of them makes no sense, or the trace cannot be made there.
    """
    quoted = _CONDITION.sub(lambda found: found[1] + _quoted(found[2]), text)
    args = parser_of(command).parse_args([word.text for word in words(quoted)])
    options = options_of(args)
    for place, condition in options.breaks:
        spec, when, settings = breakpoint_of(place, condition)
        debugger.breakpoints.check(spec, when, **settings)
    return options


def options_of(args: argparse.Namespace) -> RecordingOptions:
    """The options that a parser has read.

    Raises:
        CommandError: The size is none, or the trace cannot be made there.
    """
    try:
        budget = None if args.budget is None else byte_size(args.budget)
    except UsageError as error:
        raise CommandError(f'--budget: {error}') from None
    if budget is not None and budget < SMALLEST_BUDGET:
        raise CommandError(f'--budget {args.budget} is too small to record anything: at least {SMALLEST_BUDGET >> 10}KB')
    record = None if args.record is None else Path(args.record).expanduser()
    if record is not None and not args.help:
        _check_free(record)
    return RecordingOptions(record, args.ops, budget, args.capture, tuple(getattr(args, 'breaks', ())),
                            getattr(args, 'catch', False),
                            getattr(args, 'ui', None), args.json, args.help)


def _quoted(condition: str) -> str:
    return '"' + condition.replace('\\', '\\\\').replace('"', '\\"') + '"'


def _check_free(path: Path) -> None:
    """A trace can be made there."""
    if (path / MANIFEST).exists():
        raise CommandError(f'--record {path_taken_error(path)}')
    if path.is_dir() and any(path.iterdir()):
        raise CommandError(f'--record {path}: is a folder with other files in it; give a path that does not exist yet')
    if path.exists() and not path.is_dir():
        raise CommandError(f'--record {path}: is a file; give the path of a folder that does not exist yet')
    if not path.parent.is_dir():
        raise CommandError(f'--record {path}: there is no folder {str(path.parent)!r}')
    if not os.access(path if path.is_dir() else path.parent, os.W_OK):
        raise CommandError(f'--record {path}: cannot be written; give another path')
