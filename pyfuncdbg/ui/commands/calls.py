"""`calls`, `call` and `out`: the list of calls, one of them, its captured output."""
from __future__ import annotations

import argparse

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.reports.site_labels import labels_by_site
from pyfuncdbg.observers.record.index.process_tree import processes_of
from pyfuncdbg.observers.record.index.query import SORTS
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.commands.engine.arguments import filters_of, from_zero, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.views.calls.call import call_card, call_output
from pyfuncdbg.ui.views.calls.calls import CallListing, call_table

KINDS = ('python', 'op', 'gradient', 'run', 'all')
SHOWN = 50


def _list(context: Context, args: argparse.Namespace) -> CallListing:
    kind = None if args.kind == 'all' else args.kind
    where = {'kind': kind, 'site': args.site, 'run': args.run, 'failed': args.failed or None, 'bad': args.bad or None,
             'printed': args.printed or None, 'changed': args.changed or None, 'processes': _processes(context, args)}
    down = args.newest != (args.sort == 'duration')
    calls = context.trace.calls(**where, limit=args.n, newest_first=down, sort=args.sort)
    filters = filters_of(args, 'site', 'run', 'process', 'rank', 'failed', 'bad', 'printed', 'changed')
    if args.kind != 'python':
        filters['kind'] = args.kind
    sort = f'{args.sort}, newest first' if args.newest and args.sort == 'time' else args.sort + ', reversed' * args.newest
    known = labels_by_site(context.trace.sites())
    which = {call.number: one for call in calls if (one := known.get((call.site.process, call.site.id))) is not None}
    others = {kind: context.trace.count(kind=kind) for kind in KINDS[1:-1]} if not calls and not filters else {}
    return CallListing(calls, context.trace.count(**where), filters, sort, context.trace.info().lost_calls, which, others)


def _processes(context: Context, args: argparse.Namespace) -> tuple[int, ...] | None:
    """The processes whose calls are asked for; None for all."""
    if args.process is not None and args.rank is not None:
        raise CommandError('calls takes --process or --rank, not both')
    name = args.process if args.rank is None else f':{args.rank}'
    return None if name is None else processes_of(context.trace.info().tree, name)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--site', metavar='GLOB', help="node name, or a pattern such as 'layer*/norm'")
    parser.add_argument('--run', metavar='N', type=positive, help='calls of run N')
    parser.add_argument('--process', metavar='P',
                        help="calls of process P: its number in the trace, its process id, or a label such as 'worker:3'")
    parser.add_argument('--rank', metavar='N', type=from_zero, help='calls of the processes of rank N')
    parser.add_argument('--kind', type=one_of(KINDS, 'kind of call'), default='python', metavar='KIND',
                        help='python (default), op, gradient, run or all')
    parser.add_argument('--failed', action='store_true', help='calls that raised')
    parser.add_argument('--bad', action='store_true', help='calls with NaN or infinity in inputs or outputs')
    parser.add_argument('--printed', action='store_true', help='calls that printed, warned or logged')
    parser.add_argument('--changed', action='store_true', help='calls during which an input changed')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')
    parser.add_argument('--sort', metavar='KEY', type=one_of(tuple(SORTS), 'sort key'), default='time',
                        help=', '.join(SORTS) + '; duration: the longest first')
    parser.add_argument('--newest', action='store_true', help='newest first; with another --sort, the other way round')


def _one(context: Context, args: argparse.Namespace) -> CallRecord:
    return load_call(find_call(context.trace, args.call, context.stop))


def _one_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('call', metavar='CALL',
                        help="number or label: 17, '#17', 2.17, 'norm[3]'; a node name stands for its newest call")


CALLS = Command('calls', 'list recorded calls', 'look', _list, call_table, _list_arguments,
                examples=('calls --bad', "calls --site 'layer*/norm' --sort duration -n 10"))
CALL = Command('call', 'show one call: inputs, outputs, output, error', 'look', _one, call_card, _one_argument,
               examples=('call 17', 'call norm[3]'))
OUT = Command('out', 'show the output of one call: prints, warnings, log records', 'look', _one, call_output, _one_argument,
              examples=('out 17',))
COMMANDS: tuple[Command, ...] = (CALLS, CALL, OUT)
