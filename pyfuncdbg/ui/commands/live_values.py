"""Values of the stopped run, for `lt`, `pt` and `pf` in mid-run, on the stopped thread."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError, TypedCommand
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.conditions.vocabulary import BARE
from pyfuncdbg.observers.debug.inspecting.scope import RunTensors
from pyfuncdbg.observers.debug.inspecting.tensor_values import live_nodes, live_tensors, view_of
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import describe_tensor, describe_value
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.engine.arguments import filters_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import TensorReference, find_tensor
from pyfuncdbg.ui.views.tensors.tensors import FeedList, LiveList, feeds_view


@dataclass(frozen=True, slots=True)
class LiveValue:
    """One tensor of a run under way."""

    tensor: TensorRecord
    title: str
    values: np.ndarray


def live_list(context: Context, args: argparse.Namespace, key: Callable[[TensorRecord], Any] | None) -> LiveList | None:
    """The tensors of the run that is stopped; None if none is, or another run was asked for."""
    stop = context.stop
    view = view_of(stop) if args.run is None else None
    if stop is None or view is None:
        return None
    rows = live_tensors(stop, view, args.site)
    if args.bad:
        rows = [row for row in rows if row.tensor is not None and row.tensor.stats is not None and row.tensor.stats.bad]
    if args.type is not None:
        rows = [row for row in rows if fnmatchcase('feed' if row.state == 'fed' else row.op_type, args.type)]
    if args.filter is not None and stop.run is not None:
        known, host = RunTensors(stop, stop.run), stop.run.host
        rows = [row for row in rows if row.tensor is not None
                and value_passes(args.filter, known.value(row.name), host, row.name)]
    if key is not None:
        rows = [*sorted((row for row in rows if row.tensor is not None), key=lambda row: key(row.tensor)),  # type: ignore[arg-type]
                *(row for row in rows if row.tensor is None)]
    if args.reverse:
        rows.reverse()
    node = view.sites[view.position].name if view.position < len(view.sites) else ''
    filters = filters_of(args, 'site', 'type', 'bad')
    if args.filter is not None:
        filters['if'] = args.filter.text
    return LiveList(rows[:args.n], len(rows), stop.run.id if stop.run is not None else 0, node, filters,
                    args.sort + ', reversed' * args.reverse, live_nodes(view))


def live_value(context: Context, spec: TensorReference) -> LiveValue | None:
    """A tensor by its name in the run that is stopped; None if that run has none of the name.

    Raises:
        CommandError: It has no value now, and none was recorded in this run.
    """
    stop = context.stop
    if stop is None or stop.run is None or spec.side:
        return None
    tensors = RunTensors(stop, stop.run)
    known = tensors.names()
    name = next((name for name in spec.names if name in known), spec.name)
    try:
        value = tensors.value(name)
    except CommandError:
        if name not in known or _is_recorded(context, spec, stop):
            return None
        raise
    value_found = describe_tensor(value, stop.run.host)
    if value_found.tensor is None or value_found.array is None:
        raise CommandError(f'{name} does not hold values but a {value_found.type}')
    return LiveValue(replace(value_found.tensor, name=name), f'run #{stop.run.id}, now', value_found.array)


def _is_recorded(context: Context, spec: TensorReference, stop: Stop) -> bool:
    """Whether the trace has it from this run."""
    try:
        call = find_tensor(context.trace, spec, stop=context.stop).call
    except CommandError:
        return False
    return stop.run is not None and call.run == stop.run.id


def _feeds(context: Context, args: argparse.Namespace) -> FeedList:
    stop = context.stop
    run = stop.run if stop is not None and args.run is None else None
    if stop is not None and run is not None and (run.feeds or run.control is not None):
        tensors = RunTensors(stop, run)
        view = view_of(stop)
        names = view.feeds if view is not None else run.feeds
        if stop.call is not None and stop.call.site.kind == 'run':
            fed_values = dict(zip(run.feeds, stop.call.inputs, strict=False))
        else:
            try:
                fed_values = {name: tensors.value(name) for name in names}
            except CommandError:                # this thread does not have them: what was recorded of the run's beginning
                if not (recorded := _recorded_feeds(context, run.id)):
                    raise
                return FeedList(run.id, run.label, recorded, True)
        records = ((name, describe_tensor(value, run.host, copied=False).tensor) for name, value in fed_values.items())
        rows = [replace(tensor, name=name) for name, tensor in records if tensor is not None]
        return FeedList(run.id, run.label, rows, True)
    runs = context.trace.calls(kind='run', run=args.run, newest_first=True, limit=1)
    if not runs:
        if args.run is None:
            raise CommandError('no run is recorded in this trace')
        raise CommandError(f'no feeds of run {args.run} are recorded; ', TypedCommand('calls --kind run'),
                           ' lists the runs that are')
    return FeedList(runs[0].run, runs[0].site.name, [tensor for tensor in runs[0].inputs if not tensor.absent], False)


def _recorded_feeds(context: Context, run: int) -> list[TensorRecord]:
    return [tensor for call in context.trace.calls(kind='run', run=run, newest_first=True, limit=1)
            for tensor in call.inputs if not tensor.absent]


def _feeds_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive,
                        help='of run N of the trace; by default of the run that is stopped here, else of the newest one')


PF = Command('pf', 'print the feeds of a run', 'look', _feeds,
             feeds_view, _feeds_arguments, ('print_feed',),
             examples=('pf', 'pf --run 12'))
COMMANDS: tuple[Command, ...] = (PF,)


def passes(test: TensorTest, tensor: TensorRecord) -> bool | None:
    """Whether a recorded tensor passes; None where its elements were not kept and its statistics do not tell.

    Raises:
        CommandError: The condition raised.
    """
    stats = tensor.stats
    if test.text in BARE and stats is not None:
        infinite = stats.neg_inf + stats.pos_inf
        return bool({'has_nan': stats.nan, 'has_inf': infinite, 'has_inf_or_nan': stats.bad}[test.text])
    try:
        array = tensor.to_numpy()
    except DroppedError:
        return None
    return _test_value(test, array, tensor.name)


def value_passes(test: TensorTest, value: Any, host: Host | None, name: str) -> bool:
    """Whether a host's value passes; False for what is no tensor.

    Raises:
        CommandError: The condition raised.
    """
    array = describe_value(value, host, items=0, counted=0).array
    return array is not None and _test_value(test, array, name)


def _test_value(test: TensorTest, array: Any, name: str) -> bool:
    try:
        return test(array)
    except Exception as error:                  # what the user typed may raise anything
        raise CommandError(f'-f {test.text}: {type(error).__name__}: {error}; asked of {name or "a tensor"} '
                           f'({array.dtype}{list(array.shape)})') from None
