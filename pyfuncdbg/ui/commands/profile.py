"""`lp`: the profile, by node, function, line, op type or file."""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from pyfuncdbg.observers.debug.inspecting.creation_line import creation_line, forward_sites
from pyfuncdbg.observers.debug.reports.profile import Profile, ProfileRow, profile_rows, were_stepped
from pyfuncdbg.observers.record.index.query import site_matches
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.ui.commands.engine.arguments import filters_of, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.reports.profile import profile_view

SHOWN = 40
BY = ('node', 'function', 'line', 'type', 'file')
KINDS = ('all', 'python', 'op', 'gradient')
SORTS: dict[str, Callable[[ProfileRow], Any]] = {
    'self': lambda cost: -cost.own,
    'total': lambda cost: -cost.total,
    'calls': lambda cost: -cost.calls,
    'mean': lambda cost: -cost.mean,
    'longest': lambda cost: -cost.longest,
    'name': lambda cost: cost.name,
    'place': lambda cost: (cost.filename, cost.line),
}
"""Keys; of times and numbers the most comes first."""
_TIME = re.compile(r'(\d{1,12}(?:\.\d{1,9})?)\s*(ns|us|ms|s)')
_UNITS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1.0}


def duration(text: str) -> float:
    """'1.5ms' in seconds."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not a time: expected a form such as 1.5ms, 200us or 2s')
    return float(match[1]) * _UNITS[match[2]]


def _profile(context: Context, args: argparse.Namespace) -> Profile:
    trace = context.trace
    if args.run is not None:
        trace.run(args.run)                     # raises an error that lists the runs
    sites = trace.sites()
    forward = forward_sites(sites)
    times = [time for time in trace.profile(args.run) if args.kind in ('all', time.site.kind)
             and (args.site is None or site_matches(args.site, time.site))
             and (args.file is None or _is_in(time.site, forward, args.file))]
    rows = [row for row in profile_rows(times, sites, args.by) if row.own >= args.over]
    rows.sort(key=SORTS[args.sort], reverse=args.reverse)
    filters = filters_of(args, 'site', 'file', 'run')
    if args.kind != 'all':
        filters['kind'] = args.kind
    if args.over:
        filters['self at least'] = f'{args.over:g} s'
    return Profile(tuple(rows[:args.n]), len(rows), sum(row.own for row in rows), args.by, filters,
                   args.sort + (', reversed' if args.reverse else ''), trace.info().ops, were_stepped(trace, args.run))


def _is_in(site: SiteRecord, forward: dict[tuple[int, str], SiteRecord], name: str) -> bool:
    frame = creation_line(site, forward)
    return frame is not None and ('/' + frame.filename.replace('\\', '/')).endswith('/' + name.replace('\\', '/'))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--by', metavar='WHAT', type=one_of(BY, 'way to add up calls'), default='node',
                        help='node (default), function, line, type or file')
    parser.add_argument('--site', metavar='GLOB',
                        help="nodes, op types or functions of this name or pattern, such as 'layer*/norm'")
    parser.add_argument('--file', metavar='FILE', help='what lines of this file made')
    parser.add_argument('--run', metavar='N', type=positive, help='calls of run N')
    parser.add_argument('--kind', metavar='KIND', type=one_of(KINDS, 'kind of call'), default='all',
                        help='all (default), python, op or gradient')
    parser.add_argument('--over', metavar='TIME', type=duration, default=0.0, help='at least this much self time: 1.5ms')
    parser.add_argument('--sort', metavar='KEY', type=one_of(tuple(SORTS), 'sort key'), default='self',
                        help=', '.join(SORTS) + '; the most first')
    parser.add_argument('-r', '--reverse', action='store_true', help='the other way round')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')


LP = Command('lp', 'list the profile: self time of nodes, functions or lines', 'judge', _profile, profile_view, _arguments,
             ('list_profile',),
             examples=('lp', 'lp --by line --file train.py'))
COMMANDS: tuple[Command, ...] = (LP,)
