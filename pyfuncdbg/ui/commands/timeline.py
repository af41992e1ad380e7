"""`timeline`: calls by thread over time, of the whole trace, one run or a window."""
from __future__ import annotations

import argparse
import re
from pathlib import PurePath

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.reports.timeline import timeline
from pyfuncdbg.ui.commands.engine.arguments import filters_of, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.commands.exports.picture_file import (
    PICTURES,
    PictureFile,
    output_argument,
    refuse_output_of_text,
    write_picture,
)
from pyfuncdbg.ui.html.timeline import timeline_drawing
from pyfuncdbg.ui.views.calls.timeline import Window, timeline_view
from pyfuncdbg.ui.views.reports.picture_file import picture_file_view

KINDS = ('python', 'op', 'gradient', 'all')
MOST = 2_000
_TIME = re.compile(r'(\d{1,12}(?:\.\d{1,9})?)\s*(us|ms|s)?')
_UNITS = {'us': 1e-6, 'ms': 1e-3, 's': 1.0, None: 1e-3}


def moment(text: str) -> float:
    """'12.5', '12.5ms' or '1.2s' since the trace began, in seconds."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not a time: expected milliseconds, 2s, 12.5ms or 300us')
    return float(match[1]) * _UNITS[match[2]]


def _window(context: Context, args: argparse.Namespace) -> Window | PictureFile:
    refuse_output_of_text(args, args.form)
    trace = context.trace
    if args.run is not None:
        trace.run(args.run)                     # raises an error that lists the runs
    kind = None if args.kind == 'all' else args.kind
    first, last = trace.extent(args.run)
    if args.call is not None:
        call = find_call(trace, args.call, context.stop)
        around = max(call.duration or 0.0, 1e-6)
        first, last = call.started - 2 * around, call.started + 3 * around
    first = max(0.0, first) if args.start is None else args.start
    last = last if args.end is None else args.end
    if first >= last and (args.start is not None or args.end is not None):
        raise CommandError(f'there is nothing between {first * 1e3:g} ms and {last * 1e3:g} ms: the trace has calls from '
                           f'{trace.extent()[0] * 1e3:.6g} ms to {trace.extent()[1] * 1e3:.6g} ms')
    total, calls = trace.spans_during(first, last, kind=kind, site=args.site, run=args.run, limit=MOST)
    filters = filters_of(args, 'site', 'run', 'call')
    if kind is not None:
        filters['kind'] = kind
    found = timeline(calls, first, last, total=total, depth=args.levels)
    if args.form in PICTURES:
        if not found.lanes:
            raise CommandError('there is nothing to draw: no call is in this window')
        whole = f'timeline of {PurePath(trace.path).stem}, {found.shown:,} of {found.total:,} calls'
        output = args.output or f'{PurePath(trace.path).stem}_timeline.{args.form}'
        return write_picture(timeline_drawing(found), args.form, whole, output)
    return Window(found, filters)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--from', dest='start', metavar='T', type=moment,
                        help='start of the window: milliseconds since the start, as in the column "t ms" of lists, or 1.2s')
    parser.add_argument('--to', dest='end', metavar='T', type=moment, help='end of the window')
    parser.add_argument('--run', metavar='N', type=positive, help='run N')
    parser.add_argument('--call', metavar='N', help='around one call, by number or label')
    parser.add_argument('--site', metavar='GLOB',
                        help="nodes, op types or functions of this name or pattern, such as 'layer*/norm'")
    parser.add_argument('--kind', metavar='KIND', type=one_of(KINDS, 'kind of call'), default='all',
                        help='python, op, gradient or all (default)')
    parser.add_argument('--levels', metavar='K', type=positive, default=4, help='calls inside of calls, K deep (default 4)')
    parser.add_argument('--as', dest='form', metavar='FORM', type=one_of(('text', *PICTURES), 'form'), default='text',
                        help='text (default), or a picture: svg or png')
    output_argument(parser)


def _draw(result: Window | PictureFile) -> RenderableType:
    return picture_file_view(result) if isinstance(result, PictureFile) else timeline_view(result)


TIMELINE = Command('timeline', 'calls by thread over time, as bars', 'look', _window, _draw, _arguments,
                   examples=('timeline', 'timeline --run 12', 'timeline --as svg'))
COMMANDS: tuple[Command, ...] = (TIMELINE,)
