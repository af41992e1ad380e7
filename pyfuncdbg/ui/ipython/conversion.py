"""Conversion of a command's result to rows, an array or a pandas DataFrame.

The columns of rows have the headers of the list on the screen, and hold numbers where it has words: times in seconds, but
for 'time ms'. Called by `result.CommandResult` on the user's thread. pandas is imported here only, and only when asked for.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.gradients.gradient_check import CheckedEdge
from pyfuncdbg.observers.debug.gradients.tape import TapeEdge
from pyfuncdbg.observers.debug.inspecting.tensor_values import LiveTensor
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.debug.reports.node_list import NodeListRow
from pyfuncdbg.observers.debug.reports.profile import ProfileRow
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.commands.eval import EvaluatedValue
from pyfuncdbg.ui.commands.print_values import PrintedValue
from pyfuncdbg.ui.commands.pt import TensorValue
from pyfuncdbg.ui.views.calls.calls import result as outcome, shapes
from pyfuncdbg.ui.views.flags import flag_line, flags
from pyfuncdbg.ui.views.tensors.tensor_difference import TensorChange
from pyfuncdbg.ui.views.tensors.tensors import available_at, kind_of, tensor_name

LISTS = ('rows', 'calls', 'findings', 'edges', 'breakpoints', 'frames', 'nodes', 'lines')
"""Fields of results that hold their list, the most important first."""


def rows_of(command: str, data: Any) -> Sequence[Any]:
    """The list in a result.

    Raises:
        CommandError: There is none.
    """
    if isinstance(data, list | tuple):
        return data
    for name in LISTS:
        rows = getattr(data, name, None)
        if isinstance(rows, list | tuple):
            return rows
    raise CommandError(f'{command!r} returned no list: see .data, or .to_dict() for dicts')


def array_of(command: str, data: Any) -> np.ndarray:
    """The values of the tensor that a result is.

    Raises:
        CommandError: It is none.
        DroppedError: The values were not kept.
    """
    if isinstance(data, TensorRecord):
        return data.to_numpy()
    if isinstance(data, TensorValue):
        return data.values if data.values is not None else data.tensor.to_numpy()
    if isinstance(data, TensorChange):
        return data.values
    value = data.value if isinstance(data, EvaluatedValue | PrintedValue) else None
    if value is not None and value.array is not None:
        return np.asarray(value.array)
    raise CommandError(f"{command!r} returned no tensor: '%pyfunc pt TENSOR' returns one, '%pyfunc lt' lists them")


def frame_of(command: str, data: Any) -> Any:
    """A DataFrame of the list or the tensor that a result is.

    Raises:
        CommandError: pandas is not installed, or the result is neither.
    """
    try:
        import pandas
    except ImportError as error:
        raise CommandError(f'.to_pandas() needs pandas, which cannot be imported ({error}): pip install pandas') from None
    try:
        values = array_of(command, data)
    except CommandError:
        try:
            rows = rows_of(command, data)
        except CommandError:
            raise CommandError(f'{command!r} returned neither a list nor a tensor: see .to_dict()') from None
        frame = pandas.DataFrame([columns_of(row) for row in rows])
        if 'time ms' in frame:                  # counted from where the list on the screen counts from
            frame['time ms'] -= getattr(data, 'time_origin', 0.0) * 1e3
        return frame
    if values.ndim > 2:
        raise CommandError(f'a DataFrame has two axes, and this tensor has {values.ndim}: {list(values.shape)}. '
                           'Take a slice of it, or .to_numpy()')
    numbers = as_numbers(values)
    return pandas.DataFrame(np.atleast_1d(values if numbers is None else numbers))


Columns = dict[str, Any]


def columns_of(row: Any) -> Columns:
    """One line by the headers of its list; a line of a list that is not among these by the names of its fields."""
    if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], CallRecord) and isinstance(row[1], TensorRecord):
        return _tensor(*row)
    for kind, columns in _COLUMNS.items():
        if isinstance(row, kind):
            return columns(row)
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: _cell(getattr(row, field.name)) for field in dataclasses.fields(row) if field.repr}
    return {'value': _cell(row)}


_EVERYTHING = 1 << 62


def _cell(value: Any) -> Any:
    """A float stays one, NaN included: only in JSON must it be text."""
    return value if isinstance(value, float) else plain(value, _EVERYTHING)


def _call(call: CallRecord) -> Columns:
    return {'number': call.number, 'time ms': call.started * 1e3, 'site': call.label, 'run': call.run,
            'function': call.site.function or call.site.op_type, 'inputs': shapes(call.inputs, len(call.inputs)).plain,
            'outputs': shapes(call.outputs, len(call.outputs)).plain, 'duration': call.duration,
            'result': outcome(call).plain}


def _tensor(call: CallRecord, tensor: TensorRecord) -> Columns:
    return {'time ms': available_at(call, tensor) * 1e3, 'name': tensor_name(call, tensor), 'call': call.number,
            'kind': kind_of(call, tensor), **_summary(tensor)}


def _fed(tensor: TensorRecord) -> Columns:
    return {'name': tensor.name, **_summary(tensor)}


def _live(row: LiveTensor) -> Columns:
    kind = 'feed' if row.state == 'fed' else row.op_type
    return {'name': row.name, 'kind': kind, 'state': row.state, **_summary(row.tensor)}


def _summary(tensor: TensorRecord | None) -> Columns:
    stats = tensor.stats if tensor is not None else None
    numbers = {name: getattr(stats, name, None) for name in ('min', 'max', 'mean', 'std')}
    known = {'dtype': tensor.dtype, 'shape': tensor.shape, 'bytes': tensor.nbytes} if tensor is not None else {
        'dtype': None, 'shape': None, 'bytes': None}
    return {**known, **numbers, 'bad': stats.bad if stats is not None else None,
            'flags': flag_line(flags(tensor)).plain if tensor is not None else ''}


def _finding(finding: NanVerdict) -> Columns:
    stats, place = finding.tensor.stats, finding.places[0] if finding.places else finding.call.site
    return {'call': finding.call.number, 'site': finding.call.label, 'verdict': finding.verdict,
            'certain': finding.certain, 'from': finding.origin, 'slot': finding.slot, 'tensor': finding.tensor.name,
            'bad': stats.bad if stats is not None else None, 'size': stats.size if stats is not None else None,
            'first': stats.first_bad if stats is not None else None, 'file': place.filename, 'line': place.line,
            'of': finding.call.site.function or finding.call.site.op_type}


def _edge(edge: TapeEdge) -> Columns:
    gradient = edge.gradient
    return {'gradient of': gradient.name, '|grad|': gradient.magnitude, 'log10': gradient.log10,
            'remarks': ', '.join(gradient.remarks), 'by': edge.source, 'to': edge.target, 'slot': edge.slot}


def _checked(edge: CheckedEdge) -> Columns:
    found = {field.name: _cell(getattr(edge.outcome, field.name)) for field in dataclasses.fields(edge.outcome)}
    return {'gradient': edge.gradient, 'forward': edge.forward, 'of': edge.name, 'by': edge.tensor,
            'rule': edge.function if edge.place else '', 'place': edge.place, 'values': edge.values, **found}


def _node(row: NodeListRow) -> Columns:
    time, first = row.time, row.value
    return {'order': row.position, 'name': row.site.name, 'type': row.site.op_type, 'function': row.site.function,
            'inputs': list(row.inputs), 'users': row.users, 'calls': time.calls if time is not None else 0,
            'time': time.total if time is not None else None, **_summary(first)}


def _cost(cost: ProfileRow) -> Columns:
    return {'self': cost.own, 'calls': cost.calls, 'mean': cost.mean, 'total': cost.total, 'longest': cost.longest,
            'nodes': cost.nodes, 'name': cost.name, 'kind': cost.function or cost.op_type, 'file': cost.filename,
            'line': cost.line, 'raised': cost.failed, 'bad': cost.bad, 'newest': cost.newest}


_COLUMNS: Mapping[type, Callable[[Any], Columns]] = {
    CallRecord: _call, TensorRecord: _fed, LiveTensor: _live, NanVerdict: _finding, TapeEdge: _edge, CheckedEdge: _checked,
    NodeListRow: _node, ProfileRow: _cost}
