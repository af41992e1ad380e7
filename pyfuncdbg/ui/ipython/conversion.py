"""Conversion of a command's result to rows, an array or a pandas DataFrame.

Called by `result.CommandResult` on the user's thread. pandas is imported here only, and only when asked for.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.eval import EvaluatedValue
from pyfuncdbg.ui.commands.print_values import PrintedValue
from pyfuncdbg.ui.commands.pt import TensorValue
from pyfuncdbg.ui.ipython.columns import columns_of
from pyfuncdbg.ui.views.tensors.tensor_difference import TensorChange

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
            frame['time ms'] -= getattr(data, 'begun', 0.0) * 1e3
        return frame
    if values.ndim > 2:
        raise CommandError(f'a DataFrame has two axes, and this tensor has {values.ndim}: {list(values.shape)}. '
                           'Take a slice of it, or .to_numpy()')
    numbers = as_numbers(values)
    return pandas.DataFrame(np.atleast_1d(values if numbers is None else numbers))
