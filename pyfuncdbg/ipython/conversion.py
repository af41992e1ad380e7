"""What a command gave, as rows, as an array, as a pandas DataFrame.

Called by `result.Result` on the user's thread. pandas is imported here only, and only when asked for.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.commands.evaluating import Evaluated
from pyfuncdbg.commands.plain import plain
from pyfuncdbg.commands.printing import Printed
from pyfuncdbg.commands.tensor import TensorValue
from pyfuncdbg.debug.health import Finding
from pyfuncdbg.debug.tape import TapeEdge
from pyfuncdbg.errors import CommandError
from pyfuncdbg.record.dtypes import as_numbers
from pyfuncdbg.record.records import CallRecord, TensorRecord
from pyfuncdbg.views.calls import result as outcome
from pyfuncdbg.views.calls import shapes
from pyfuncdbg.views.flags import flag_line, flags
from pyfuncdbg.views.tensor_difference import Change
from pyfuncdbg.views.tensors import kind_of, made_at, tensor_name

LISTS = ('rows', 'calls', 'findings', 'edges', 'breakpoints', 'frames', 'nodes', 'lines')
"""Fields of results that hold their list, the most important first."""
_EVERYTHING = 1 << 62


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
    raise CommandError(f'{command!r} gave no list: its parts are in .data, or as dicts in .to_dict()')


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
    if isinstance(data, Change):
        return data.values
    value = data.value if isinstance(data, Evaluated | Printed) else None
    if value is not None and value.array is not None:
        return np.asarray(value.array)
    raise CommandError(f"{command!r} gave no tensor: 'pt TENSOR' gives one, 'lt' lists them")


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
            raise CommandError(f'{command!r} gave neither a list nor a tensor: .to_dict() has its parts') from None
        return pandas.DataFrame([_row(row) for row in rows])
    if values.ndim > 2:
        raise CommandError(f'a DataFrame has two axes, and this tensor has {values.ndim}: {list(values.shape)}. '
                           'Take a slice of it, or .to_numpy()')
    numbers = as_numbers(values)
    return pandas.DataFrame(np.atleast_1d(values if numbers is None else numbers))


def _row(row: Any) -> dict[str, Any]:
    """One line of a list by the headers of its table; numbers stay numbers, times are in the unit that the header says."""
    if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], CallRecord) and isinstance(row[1], TensorRecord):
        return _tensor(*row)
    for kind, columns in _COLUMNS.items():
        if isinstance(row, kind):
            return columns(row)
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: _cell(getattr(row, field.name)) for field in dataclasses.fields(row) if field.repr}
    return {'value': _cell(row)}


def _cell(value: Any) -> Any:
    """A float stays one, NaN included: only in JSON must it be text."""
    return value if isinstance(value, float) else plain(value, _EVERYTHING)


def _call(call: CallRecord) -> dict[str, Any]:
    return {'number': call.number, 'time ms': call.started * 1e3, 'site': call.label, 'run': call.run,
            'function': call.site.function or call.site.op_type, 'inputs': shapes(call.inputs, len(call.inputs)).plain,
            'outputs': shapes(call.outputs, len(call.outputs)).plain, 'duration': call.duration,
            'result': outcome(call).plain}


def _tensor(call: CallRecord, tensor: TensorRecord) -> dict[str, Any]:
    return {'time ms': made_at(call, tensor) * 1e3, 'name': tensor_name(call, tensor), 'call': call.number,
            'kind': kind_of(call, tensor), **_summary(tensor)}


def _fed(tensor: TensorRecord) -> dict[str, Any]:
    return {'name': tensor.name, **_summary(tensor)}


def _summary(tensor: TensorRecord) -> dict[str, Any]:
    stats = tensor.stats
    numbers = {name: getattr(stats, name, None) for name in ('min', 'max', 'mean', 'std')}
    return {'dtype': tensor.dtype, 'shape': tensor.shape, 'bytes': tensor.nbytes, **numbers,
            'bad': stats.bad if stats is not None else None, 'flags': flag_line(flags(tensor)).plain}


def _finding(finding: Finding) -> dict[str, Any]:
    stats, place = finding.tensor.stats, finding.places[0] if finding.places else finding.call.site
    return {'call': finding.call.number, 'site': finding.call.label, 'verdict': finding.verdict,
            'certain': finding.certain, 'from': finding.origin, 'slot': finding.slot, 'tensor': finding.tensor.name,
            'bad': stats.bad if stats is not None else None, 'size': stats.size if stats is not None else None,
            'first': stats.first_bad if stats is not None else None, 'file': place.filename, 'line': place.line,
            'of': finding.call.site.function or finding.call.site.op_type}


def _edge(edge: TapeEdge) -> dict[str, Any]:
    gradient = edge.gradient
    return {'gradient of': gradient.name, '|grad|': gradient.magnitude, 'log10': gradient.log10,
            'remarks': ', '.join(gradient.remarks), 'by': edge.source, 'to': edge.target, 'slot': edge.slot}


_COLUMNS: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    CallRecord: _call, TensorRecord: _fed, Finding: _finding, TapeEdge: _edge}
