"""Results of work that cross from a process to another as plain data: frozen dataclasses as lists of their fields.

What comes back is checked against the annotations of the class, and nothing of it runs. Any thread.
"""
from __future__ import annotations

import contextlib
import dataclasses
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

from pyfuncdbg.errors import TraceError

_Kind = TypeVar('_Kind')
_SCALARS = (str, int, float, bool, type(None))


def to_plain(value: Any) -> Any:
    """A result as lists, dicts, text and numbers.

    Args:
        value: A dataclass, a tuple, a dict with keys of text, text, a number or None; nested.

    Returns:
        What `from_plain` reads.
    """
    if dataclasses.is_dataclass(value):
        return [to_plain(getattr(value, name)) for name in _fields(typing.cast(type, type(value)))]
    if isinstance(value, tuple | list):
        return [to_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: to_plain(one) for key, one in value.items()}
    return value


def from_plain(kind: type[_Kind], data: Any) -> _Kind:
    """Read a result.

    Args:
        kind: The class of the result: a dataclass whose fields are annotated with what `to_plain` takes.
        data: From another process: anything.

    Returns:
        The result.

    Raises:
        TraceError: It is none.
    """
    try:
        made: _Kind = _read(kind, data)
    except (ValueError, TypeError, RecursionError) as error:
        raise TraceError(f'what a worker has answered cannot be read: {error}') from None
    return made


@lru_cache(maxsize=64)
def _fields(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _read(kind: Any, data: Any) -> Any:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        fields = _fields(typing.cast(type, kind))
        if not isinstance(data, list) or len(data) != len(fields):
            raise ValueError(f'no {getattr(kind, "__name__", kind)}')
        return typing.cast(Any, kind)(*[_read(hint, one) for hint, one in zip(fields.values(), data, strict=True)])
    if origin is tuple and isinstance(data, list):
        if parts[1:] == (...,):
            return tuple([_read(parts[0], one) for one in data])
        if len(parts) == len(data):
            return tuple([_read(part, one) for part, one in zip(parts, data, strict=True)])
    elif origin is dict and isinstance(data, dict):
        return {_read(parts[0], key): _read(parts[1], one) for key, one in data.items()}
    elif origin is typing.Literal and isinstance(data, str) and data in parts:
        return data
    elif origin in (typing.Union, types.UnionType):
        for part in parts:
            with contextlib.suppress(ValueError):
                return _read(part, data)
    elif (kind in _SCALARS and type(data) is kind) or (kind is float and type(data) is int):
        return data
    raise ValueError(f'no {kind}')
