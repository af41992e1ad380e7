"""Results as JSON, for `--json` and for the command socket.

Records become objects, NaN and infinities the strings 'NaN', 'Infinity' and '-Infinity', bytes text (what is no UTF-8 as
backslash escapes), arrays `{"dtype", "shape", "size", "values"}`. An array or list above the limit is cut, and says so.
"""
from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.dtypes import as_numbers, dtype_name
from pyfuncdbg.ui.views.escape import visible

LIMIT = 1_000
"""Elements of an array, and of a list of records."""


def to_json(result: Any, limit: int = LIMIT) -> str:
    """Format a result as JSON.

    Args:
        result: As for `plain`.
        limit: Longest array or sequence.

    Returns:
        One line of ASCII.
    """
    return json.dumps(plain(result, limit), allow_nan=False)


def plain(result: Any, limit: int = LIMIT) -> Any:
    """Convert a result to dicts, lists, strings, numbers, bools and None.

    Args:
        result: Made of dataclasses, named tuples, mappings, sequences, arrays and scalars.
        limit: Longest array or sequence.

    Returns:
        The converted value.
    """
    if result is None or isinstance(result, bool | str | int):
        return result
    if isinstance(result, float):
        return result if math.isfinite(result) else _non_finite(result)
    if isinstance(result, complex):
        return [plain(result.real), plain(result.imag)]
    if isinstance(result, bytes):
        return result.decode('utf-8', 'backslashreplace')
    if isinstance(result, np.ndarray):
        return _array(result, limit)
    if isinstance(result, np.generic):
        return plain(result.item(), limit)
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return _record(result, limit)
    if isinstance(result, Mapping):
        return {str(key): plain(value, limit) for key, value in result.items()}
    if hasattr(result, '_asdict'):
        return {key: plain(value, limit) for key, value in result._asdict().items()}
    if isinstance(result, list | tuple):
        return _sequence(result, limit)
    return visible(f'<{type(result).__name__}>')


def _non_finite(number: float) -> str:
    return 'NaN' if math.isnan(number) else 'Infinity' if number > 0 else '-Infinity'


def _record(record: Any, limit: int) -> dict[str, Any]:
    """Fields by name: a tensor's place in the log is no one's business, a call's label is computed."""
    fields = {field.name: plain(getattr(record, field.name), limit) for field in dataclasses.fields(record)
              if field.repr and field.name != 'key'}
    for name in ('label', 'bad'):
        if isinstance(getattr(type(record), name, None), property):
            fields[name] = plain(getattr(record, name), limit)
    return fields


def _sequence(items: list[Any] | tuple[Any, ...], limit: int) -> Any:
    if len(items) <= limit:
        return [plain(item, limit) for item in items]
    return {'items': [plain(item, limit) for item in items[:limit]], 'size': len(items), 'shown': limit}


def _array(array: np.ndarray, limit: int) -> dict[str, Any]:
    """All values nested as the shape is, or the first ones in C order, flat."""
    form: dict[str, Any] = {'dtype': dtype_name(array.dtype), 'shape': list(array.shape), 'size': int(array.size)}
    numbers = as_numbers(array)
    numbers = array if numbers is None else numbers
    if array.size <= limit:
        form['values'] = _nested(numbers.tolist())
    else:
        form['values'] = _nested(numbers.flat[:limit].tolist())
        form['shown'] = limit
    return form


def _nested(values: Any) -> Any:
    return [_nested(value) for value in values] if isinstance(values, list) else plain(values)
