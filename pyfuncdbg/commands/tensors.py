"""`lt` and `pt`: the list of tensors, and one of them."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType

from pyfuncdbg.commands.arguments import filters_of, one_of, positive
from pyfuncdbg.commands.command import Command, Context
from pyfuncdbg.commands.index import parse_ranges, sliced
from pyfuncdbg.commands.live import LiveList, draw_live_list, live_list, live_value
from pyfuncdbg.commands.lookup import find_tensor, parse_tensor
from pyfuncdbg.debug.health import Finding, judge
from pyfuncdbg.errors import CommandError
from pyfuncdbg.record.records import CallRecord, TensorRecord
from pyfuncdbg.record.statistics import stats_of
from pyfuncdbg.views.preview import Ranges
from pyfuncdbg.views.tensors import made_at, tensor_name, tensor_table
from pyfuncdbg.views.value import value_view

Row = tuple[CallRecord, TensorRecord]
SHOWN = 100
LOOKED_AT = 5_000
"""Calls whose tensors are listed and sorted; more need a filter."""
ELEMENTS = 1_000


@dataclass(frozen=True, slots=True)
class TensorList:
    """Output tensors that passed the filters: `total` in all, `bad` of them not finite; these were asked for."""

    rows: list[Row]
    total: int
    bad: int
    verdicts: dict[str, Finding]
    filters: dict[str, object]
    sort: str
    dropped: int


@dataclass(frozen=True, slots=True)
class TensorValue:
    """One tensor or a slice of one; `values` is None if only the summary was asked for or the bytes were not kept."""

    tensor: TensorRecord
    title: str
    index: str
    values: np.ndarray | None
    ranges: Ranges
    limit: int
    written: str


LIVE_SORT: dict[str, Callable[[TensorRecord], Any]] = {
    'name': lambda tensor: tensor.name,
    'shape': lambda tensor: tensor.shape,
    'bytes': lambda tensor: -tensor.nbytes,
    'min': lambda tensor: _number(tensor, 'min', 1),
    'max': lambda tensor: _number(tensor, 'max', -1),
    'mean': lambda tensor: _number(tensor, 'mean', -1),
    'bad': lambda tensor: -(tensor.stats.bad if tensor.stats is not None else 0),
}
"""Keys of tensors; those with much at stake come first: most bytes, least minimum, greatest maximum, most NaN."""


def _of_row(by: Callable[[TensorRecord], Any]) -> Callable[[Row], Any]:
    return lambda row: by(row[1])


SORT: dict[str, Callable[[Row], Any]] = {
    'time': lambda row: made_at(*row),
    'name': lambda row: tensor_name(*row),
    **{key: _of_row(by) for key, by in LIVE_SORT.items() if key != 'name'},
}
"""By column of a recorded tensor; 'time' is when it was there."""


def _number(tensor: TensorRecord, name: str, sign: int) -> tuple[bool, float]:
    number = getattr(tensor.stats, name, None)
    return (number is None, 0.0 if number is None else sign * number)


def _list(context: Context, args: argparse.Namespace) -> TensorList | LiveList:
    live = live_list(context, args, None if args.sort == 'time' else LIVE_SORT[args.sort])
    return live if live is not None else _recorded(context, args)


def _recorded(context: Context, args: argparse.Namespace) -> TensorList:
    filters = filters_of(args, 'site', 'run', 'bad')
    if context.trace.count(site=args.site, run=args.run) <= LOOKED_AT:
        rows = context.trace.tensors(site=args.site, run=args.run)
    else:
        calls = context.trace.calls(site=args.site, run=args.run, limit=LOOKED_AT)
        rows = [(call, tensor) for call in calls for tensor in call.outputs]
        filters[f'outputs of the first {LOOKED_AT:,} calls'] = True
    rows = [row for row in rows if not row[1].absent]
    bad = [row for row in rows if row[1].stats is not None and row[1].stats.bad]
    wanted = bad if args.bad else rows
    shown = sorted(wanted, key=SORT[args.sort])[:args.n]
    met = judge(context.trace).by_call() if any(tensor.stats is not None and tensor.stats.bad for _, tensor in shown) else {}
    verdicts = {call.number: met[call.number] for call, _ in shown if call.number in met}
    return TensorList(shown, len(wanted), len(bad), verdicts, filters, args.sort,
                      context.trace.info().dropped.get('tensors', 0))


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='tensors of run N')
    parser.add_argument('--site', metavar='GLOB', help="outputs of nodes so named, such as 'layer*/norm'")
    parser.add_argument('--bad', action='store_true', help='tensors with NaN or infinity')
    parser.add_argument('--sort', metavar='KEY', type=one_of(tuple(SORT), 'sort key'), default='time', help=', '.join(SORT))
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')


def _draw_list(result: TensorList | LiveList) -> RenderableType:
    if isinstance(result, LiveList):
        return draw_live_list(result)
    return tensor_table(result.rows, result.total, verdicts=result.verdicts, filters=result.filters, sort=result.sort,
                        bad=result.bad, dropped=result.dropped)


def _one(context: Context, args: argparse.Namespace) -> TensorValue:
    spec = parse_tensor(args.tensor)
    ranges = parse_ranges(args.ranges) if args.ranges else ()
    live = live_value(context, spec)
    found = find_tensor(context.trace, spec) if live is None else live
    tensor, values, index = found.tensor, None if live is None else live.values, ''
    needed = spec.index is not None or bool(args.write)
    if live is None and (needed or (tensor.level == 'full' and not args.summary)):
        values = tensor.to_numpy()
    if spec.index is not None and values is not None:
        values = sliced(values, spec.index, spec.name)
        index = args.tensor[args.tensor.rindex('['):].strip()
        tensor = replace(tensor, shape=values.shape, nbytes=values.nbytes, stats=stats_of(values), changed=False)
    written = _written(values, args.write) if args.write and values is not None else ''
    return TensorValue(tensor, found.title, index, None if args.summary else values, ranges, args.n, written)


def _one_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('tensor', metavar='TENSOR[slice]',
                        help="'norm:0' (of the newest call), '#17:0', 'norm[3]:0', an input '#17:in0'; "
                             "a slice as in NumPy: 'norm:0[1:3, ..., -1]'")
    parser.add_argument('-s', '--summary', action='store_true', help='only the summary')
    parser.add_argument('-r', '--ranges', metavar='RANGES', help="mark elements in '[0, 1]' or '[[-inf, -1], [1, inf]]'")
    parser.add_argument('-n', metavar='K', type=positive, default=ELEMENTS,
                        help=f'show at most K elements (default {ELEMENTS})')
    parser.add_argument('-w', '--write', metavar='FILE', help='write the values to a .npy file')


def _written(values: np.ndarray, name: str) -> str:
    """Write a .npy file without pickles; text goes as bytes of one length. Only a .npy file is ever replaced."""
    path = Path(name).expanduser()
    if path.suffix != '.npy':
        path = path.with_name(path.name + '.npy')
    if values.dtype.kind == 'O':
        if any(not isinstance(v, bytes) or v.endswith(b'\0') for v in values.flat):
            raise CommandError('these values cannot be written as .npy: some end in a zero byte or are no text')
        values = values.astype(np.bytes_)
    try:
        with path.open('wb') as file:
            np.save(file, values, allow_pickle=False)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CommandError(f'cannot write {str(path)!r}: {reason}') from None
    return str(path)


def _draw_one(result: TensorValue) -> RenderableType:
    return value_view(result.tensor, result.title, result.values, index=result.index, limit=result.limit,
                      ranges=result.ranges, written=result.written)


LT = Command('lt', 'list tensors', 'look', _list, _draw_list, _list_arguments, ('list_tensors',))
PT = Command('pt', 'print a tensor or a slice of it', 'look', _one, _draw_one, _one_arguments, ('print_tensor',))
