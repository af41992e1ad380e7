"""`pt`: one tensor, a slice of it, or its differences from the call before."""
from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
from rich.console import RenderableType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.gradients.traced_tape import is_symbolic
from pyfuncdbg.observers.debug.inspecting.evaluate import evaluate
from pyfuncdbg.observers.debug.inspecting.scope import scope_of
from pyfuncdbg.observers.debug.inspecting.tensor_differences import difference
from pyfuncdbg.observers.debug.numerics.nan_origin import Provenance, provenance
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.ui.commands.array_files import write_array
from pyfuncdbg.ui.commands.engine.arguments import one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import (
    FoundTensor,
    TensorReference,
    earlier,
    elements,
    find_call,
    find_tensor,
    of_call,
    parse_tensor,
)
from pyfuncdbg.ui.commands.engine.slice_syntax import parse_ranges, slice_array
from pyfuncdbg.ui.commands.exports.generated_code import word
from pyfuncdbg.ui.commands.exports.picture_file import (
    PICTURES,
    PictureFile,
    output_argument,
    refuse_output_of_text,
    write_picture,
)
from pyfuncdbg.ui.commands.live_values import LiveValue, live_value
from pyfuncdbg.ui.html.curve import curve_drawing
from pyfuncdbg.ui.html.heatmap import heatmap_drawing
from pyfuncdbg.ui.views.pictures.element_table import Ranges
from pyfuncdbg.ui.views.pictures.heatmap import LARGEST
from pyfuncdbg.ui.views.pictures.picture import choose_axes, index_text, is_part
from pyfuncdbg.ui.views.reports.picture_file import picture_file_view
from pyfuncdbg.ui.views.tensors.tensor_difference import TensorChange, change_view
from pyfuncdbg.ui.views.tensors.value import value_view


@dataclass(frozen=True, slots=True)
class TensorValue:
    """One tensor or a slice of one; `values` is None where they were not kept or not asked for."""

    tensor: TensorRecord
    title: str
    index: str
    values: np.ndarray | None
    ranges: Ranges
    limit: int | None
    file: str
    origin: Provenance | None = None
    picture: bool = True


def _one(context: Context, args: argparse.Namespace) -> TensorValue | TensorChange | PictureFile:
    refuse_output_of_text(args, args.form)
    if args.tensor.startswith('@'):
        args.tensor = _elements_of_last(args.tensor)
    spec = parse_tensor(args.tensor)
    ranges = parse_ranges(args.ranges) if args.ranges else ()
    live = live_value(context, spec) if args.run is None else None
    tensor_value = _recorded(context, spec, args) if live is None else live
    printed.tensor = args.tensor if spec.index is None else args.tensor[:args.tensor.rindex('[')]
    if (args.diff or args.against) and args.form in PICTURES:
        raise CommandError('--as draws one tensor, no differences: leave out --diff and --against')
    if args.diff or args.against:
        return _difference(context, args, spec, tensor_value)
    tensor, values = tensor_value.tensor, None if live is None else live.values
    needed = spec.index is not None or bool(args.write) or args.form in PICTURES
    if live is None and (needed or (tensor.level == 'full' and not args.summary)):
        values = elements(context.trace, spec, tensor_value) if isinstance(tensor_value, FoundTensor) else None
    origin = provenance(context.trace, tensor_value.call, tensor) if isinstance(tensor_value, FoundTensor) else None
    index = ''
    if spec.index is not None and values is not None:
        values = slice_array(values, spec.index, spec.name)
        index = _slice_text(args.tensor)
        tensor = replace(tensor, shape=values.shape, nbytes=values.nbytes, stats=stats_of(values), changed=False)
        origin = origin if tensor.stats is not None and tensor.stats.bad else None
    if args.form in PICTURES and values is not None:
        return _picture(args, tensor, tensor_value.title + index, values)
    file = write_array(values, args.write) if args.write and values is not None else ''
    return TensorValue(tensor, tensor_value.title, index, None if args.summary else values, ranges, args.n, file, origin,
                       not args.no_picture)


def _picture(args: argparse.Namespace, tensor: TensorRecord, title: str, values: np.ndarray) -> PictureFile:
    """The heat map or curve as a file."""
    if not 0 < values.size <= LARGEST or (values.dtype.kind != 'b' and as_numbers(values.reshape(-1)[:0]) is None):
        raise CommandError(f'{tensor.dtype}{list(values.shape)} has no picture: it takes numbers, 1 to {LARGEST:,} of them')
    index = choose_axes(values.shape, tensor.stats.first_bad if tensor.stats is not None else None) if values.ndim else ()
    part = values[index] if values.ndim else values.reshape(1)
    of = f', {index_text(index)} of it' if is_part(index, values.shape) else ''
    drawing = curve_drawing(part) if part.ndim == 1 else heatmap_drawing(part)
    return write_picture(drawing, args.form, f'{title}, {tensor.dtype}{list(values.shape)}{of}', args.output or
                         f'{word(args.tensor)}.{args.form}')


class LastTensor:
    """The tensor that was named last in this process, which `@` refers to."""

    def __init__(self) -> None:
        self.tensor = ''


printed = LastTensor()


def _elements_of_last(text: str) -> str:
    """'norm:0[10, 0]' for tfdbg's '@1,0' and '@[10, 0]' after `pt norm:0`."""
    if not printed.tensor:
        raise CommandError(f"{text}: elements of the tensor that 'pt' printed last, and there is none")
    index = text[1:].strip()
    return f'{printed.tensor}{index}' if index.startswith('[') else f'{printed.tensor}[{index}]'


def _recorded(context: Context, spec: TensorReference, args: argparse.Namespace) -> FoundTensor:
    try:
        found = find_tensor(context.trace, spec, run=args.run, stop=context.stop)
    except CommandError as error:
        variable = args.tensor.partition('[')[0].rstrip('@')
        if context.stop is None or not _is_variable(context.stop, variable):
            raise
        expression = args.tensor.replace('@', '', 1)
        raise CommandError(f"{variable!r} is a variable of Python: 'p {expression}' prints it; {error}") from None
    if is_symbolic(found.call, found.tensor, context.trace):
        raise CommandError(f'{args.tensor!r} is symbolic: a tensor of the graph that this backward step was traced into, '
                           f"and has no value; 'tape' shows what its node had when the graph ran")
    return found


def _is_variable(stop: Stop, name: str) -> bool:
    if not name.isidentifier():
        return False
    try:
        evaluate(*scope_of(stop, name))
    except CommandError:
        return False
    return True


def _slice_text(text: str) -> str:
    """The slice as typed."""
    return text[text.rindex('['):].strip()


def _difference(context: Context, args: argparse.Namespace, spec: TensorReference,
                found: FoundTensor | LiveValue) -> TensorChange:
    if args.against:
        call = find_call(context.trace, args.against, context.stop)
        slot, side = spec.slot, spec.side
        if isinstance(found, FoundTensor) and found.call.site.kind != 'run' and not side:
            side = 'in' if any(found.tensor is given for given in found.call.inputs) else ''
            slot = (found.call.inputs if side else found.call.outputs).index(found.tensor)
        before = of_call(call, replace(spec, slot=slot, side=side))
    elif isinstance(found, FoundTensor):
        before = earlier(context.trace, found)
    else:
        run = context.stop.run.id if context.stop is not None and context.stop.run is not None else None
        before = find_tensor(context.trace, spec, other_than=run)
    values = found.values if isinstance(found, LiveValue) else elements(context.trace, spec, found)
    old = before.tensor.to_numpy()
    name = found.tensor.name or spec.name
    if spec.index is not None:
        values, old = slice_array(values, spec.index, spec.name), slice_array(old, spec.index, spec.name)
        name += _slice_text(args.tensor)
    return TensorChange(found.title, before.title, difference(name, old, values), values, old)


def _one_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('tensor', metavar='TENSOR[slice]',
                        help="'norm:0' (of the newest call), '#17:0', 'norm[3]:0', an input '#17:in0'; "
                             "a slice as in NumPy: 'norm:0[1:3, ..., -1]'; '@[1:3, 0]' or '@10,0' is one of the tensor "
                             "that was printed last")
    parser.add_argument('-s', '--summary', action='store_true', help='only the summary')
    parser.add_argument('-r', '--ranges', metavar='RANGES',
                        help="mark, count and list elements in '[0, 1]' or '[[-inf, -1], [1, inf]]'")
    parser.add_argument('-n', metavar='K', type=positive, help='list at most K elements')
    parser.add_argument('--as', dest='form', metavar='FORM', type=one_of(('text', *PICTURES), 'form'), default='text',
                        help='text (default), or its heat map or curve as a picture: svg or png')
    output_argument(parser)
    parser.add_argument('--no-picture', action='store_true', help='no heat map and no curve')
    parser.add_argument('--run', metavar='N', type=positive, help='as it was in run N')
    parser.add_argument('--diff', action='store_true', help='the differences from the previous call of the same node')
    parser.add_argument('--against', metavar='CALL', help='the differences from that call')
    parser.add_argument('-w', '--write', metavar='FILE',
                        help='write the values to a .npy file, or as text to a new .txt file')


def _draw_one(result: TensorValue | TensorChange | PictureFile) -> RenderableType:
    if isinstance(result, PictureFile):
        return picture_file_view(result)
    if isinstance(result, TensorChange):
        return change_view(result)
    return value_view(result.tensor, result.title, result.values, index=result.index, limit=result.limit,
                      ranges=result.ranges, written=result.file, origin=result.origin, drawn=result.picture)


PT = Command('pt', 'print a tensor, a slice of it, or its changes', 'look', _one, _draw_one, _one_arguments,
             ('print_tensor',),
             examples=('pt norm:0', 'pt norm:0[1:3, ..., -1]', "pt -r '[0, 1]' '#17:in0'", 'pt --diff norm:0',
                       'pt norm:0 --as svg', '@1,0'))
COMMANDS: tuple[Command, ...] = (PT,)
