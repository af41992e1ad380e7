"""`lt`: the list of tensors."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

from rich.console import RenderableType

from pyfuncdbg.observers.debug.batched_calls import BATCH
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.gradients.traced_tape import is_symbolic
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.engine.arguments import filters_of, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.live_values import live_list, passes
from pyfuncdbg.ui.views.flags import flags
from pyfuncdbg.ui.views.tensors.tensors import (
    LiveList,
    Row,
    TensorListing,
    available_at,
    kind_of,
    live_view,
    tensor_name,
    tensor_table,
)

SHOWN = 100
LOOKED_AT = 5_000
"""Calls whose tensors are listed and sorted; more need a filter."""


LIVE_SORT: dict[str, Callable[[TensorRecord], Any]] = {
    'name': lambda tensor: tensor.name,
    'dtype': lambda tensor: tensor.dtype,
    'shape': lambda tensor: tensor.shape,
    'bytes': lambda tensor: -tensor.nbytes,
    'min': lambda tensor: _number(tensor, 'min', 1),
    'max': lambda tensor: _number(tensor, 'max', -1),
    'mean': lambda tensor: _number(tensor, 'mean', -1),
    'std': lambda tensor: _number(tensor, 'std', -1),
    'flags': lambda tensor: (-(tensor.stats.bad if tensor.stats is not None else 0), not flags(tensor)),
}
"""Keys of tensors; those with much at stake come first: most bytes, least minimum, greatest maximum, most NaN."""
SHORT = {'bad': 'flags'}
"""Other words for sort keys."""


def _of_row(by: Callable[[TensorRecord], Any]) -> Callable[[Row], Any]:
    return lambda row: by(row[1])


SORT: dict[str, Callable[[Row], Any]] = {
    'time': lambda row: available_at(*row),
    'name': lambda row: tensor_name(*row),
    'call': lambda row: (row[0].process, row[0].run, row[0].started),
    'kind': lambda row: kind_of(*row),
    **{key: _of_row(by) for key, by in LIVE_SORT.items() if key != 'name'},
}
"""By column of a recorded tensor; 'time' is when it was there."""


def _number(tensor: TensorRecord, name: str, sign: int) -> tuple[bool, float]:
    number = getattr(tensor.stats, name, None)
    return (number is None, 0.0 if number is None else sign * number)


def _list(context: Context, args: argparse.Namespace) -> TensorListing | LiveList:
    sort = SHORT.get(args.sort, args.sort)
    key = None if sort in ('time', 'call', 'kind') else LIVE_SORT[sort]
    live = live_list(context, args, key)
    return live if live is not None else _recorded(context, args, sort)


def _recorded(context: Context, args: argparse.Namespace, sort: str) -> TensorListing:
    filters = filters_of(args, 'site', 'type', 'run', 'bad')
    if context.trace.count(site=args.site, run=args.run) <= LOOKED_AT:
        rows = context.trace.tensors(site=args.site, run=args.run)
    else:
        only = args.bad or None
        calls = context.trace.calls(site=args.site, run=args.run, bad=only, limit=LOOKED_AT)
        rows = [(call, tensor) for call in calls for tensor in call.outputs]
        cut = context.trace.count(site=args.site, run=args.run, bad=only) > LOOKED_AT
        filters[f'outputs of the first {LOOKED_AT:,} calls' if cut else 'outputs of calls'] = True
    rows = [row for row in rows if not row[1].absent]
    valued = [row for row in rows if not is_symbolic(*row, context.trace)]
    rows, left = valued, len(rows) - len(valued)
    if args.type is not None:
        rows = [row for row in rows if fnmatchcase(kind_of(*row), args.type)]
    bad = [row for row in rows if row[1].stats is not None and row[1].stats.bad]
    selected = bad if args.bad else rows
    if args.filter is not None:
        filters['if'] = args.filter.text
        with context.progress(f'asking {args.filter.text}, tensors') as tell:
            answers = []
            for number, row in enumerate(selected, 1):
                answers.append((row, passes(args.filter, row[1])))
                if tell is not None and number % BATCH == 0:
                    tell(number, len(selected))
        selected = [row for row, answer in answers if answer]
        unknown = sum(answer is None for _, answer in answers)
        if unknown:
            filters[f'{unknown:,} of them not kept'] = True
    ordered = sorted(selected, key=SORT[sort])
    rows_shown = (ordered[::-1] if args.reverse else ordered)[:args.n]
    met = judge(context.trace).by_call() if any(tensor.stats is not None and tensor.stats.bad
                                                for _, tensor in rows_shown) else {}
    verdicts = {call.number: met[call.number] for call, _ in rows_shown if call.number in met}
    return TensorListing(rows_shown, len(selected), len(bad), verdicts, filters, sort + ', reversed' * args.reverse,
                         context.trace.info().dropped.get('tensors', 0), _begun(context, args.run), left)


def _begun(context: Context, run: int | None) -> float:
    if run is None:
        return 0.0
    first = context.trace.calls(kind='run', run=run, limit=1) or context.trace.calls(run=run, limit=1)
    return first[0].started if first else 0.0


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='tensors of run N')
    parser.add_argument('--site', metavar='GLOB', help="outputs of nodes of this name or pattern, such as 'layer*/norm'")
    parser.add_argument('-t', '--type', metavar='GLOB', help="by kind: an op type such as 'MatMul', py, feed or fetch")
    parser.add_argument('--bad', action='store_true', help='tensors with NaN or infinity')
    parser.add_argument('-f', '--filter', metavar='PRED', type=TensorTest,
                        help="tensors that satisfy a condition: has_nan, or an expression such as 'absmax(out) > 100'")
    parser.add_argument('-s', '--sort', metavar='KEY', type=one_of((*SORT, *SHORT), 'sort key'), default='time',
                        help=', '.join(SORT))
    parser.add_argument('-r', '--reverse', action='store_true', help='the other way round')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')


def _draw_list(result: TensorListing | LiveList) -> RenderableType:
    return live_view(result) if isinstance(result, LiveList) else tensor_table(result)


LT = Command('lt', 'list tensors', 'look', _list, _draw_list, _list_arguments, ('list_tensors',),
             examples=('lt', 'lt --bad', 'lt -f has_nan --sort bytes -n 20'))
COMMANDS: tuple[Command, ...] = (LT,)
