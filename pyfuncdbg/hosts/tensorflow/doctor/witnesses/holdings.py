"""Memory that a function keeps alive: arrays and tensors in its closure, defaults and bound object.

Called when facts are gathered, on any thread. No attribute of the program's objects is computed.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import closure_variables

_MOST = 20_000
_DEEPEST = 8
_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Holding:
    """Memory that several objects keep alive, each object counted once.

    Attributes:
        arrays: Arrays and tensors.
        nbytes: Of their elements.
        container_bytes: Bytes of the functions, cells and containers on the way there.
        is_complete: Whether everything was visited.
    """

    arrays: int
    nbytes: int
    container_bytes: int
    is_complete: bool


def measure_holding(roots: Iterable[Any], tensor: type) -> Holding:
    """The memory that these objects keep alive.

    Args:
        roots: Registered functions, or tuples with tensors.
        tensor: The class of eager tensors.
    """
    seen_ids: set[int] = set()
    arrays = nbytes = container_bytes = 0
    pending: list[tuple[Any, int]] = [(root, 0) for root in roots]
    while pending and len(seen_ids) < _MOST:
        value, depth = pending.pop()
        if id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        kind = type(value)
        if isinstance(value, np.ndarray):
            base = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
            if base is value or id(base) not in seen_ids:
                seen_ids.add(id(base))
                arrays, nbytes = arrays + 1, nbytes + int(base.nbytes)
        elif issubclass(kind, tensor):
            arrays, nbytes = arrays + 1, nbytes + _size_of(value)
        elif depth < _DEEPEST:
            inner = _referents(value, kind)
            if inner is not None:
                container_bytes += sys.getsizeof(value, 0) if kind in _SIZED else 0
                pending += [(item, depth + 1) for item in inner]
    return Holding(arrays, nbytes, container_bytes, not pending)


_SIZED = frozenset((FunctionType, MethodType, partial, dict, list, tuple, set, frozenset))
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), type, type(sys)))


def _referents(value: Any, kind: type) -> list[Any] | None:
    """The objects that an object refers to; None for one that is not visited."""
    if kind in _PLAIN or isinstance(value, type):
        return None
    if kind is FunctionType:
        held = [content for _, content in closure_variables(value)]
        return [*held, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if kind is MethodType:
        return [value.__self__, value.__func__]
    if kind is partial:
        return [value.func, *value.args, *value.keywords.values()]
    if kind is dict:
        return list(value.values())[:_ITEMS]
    if kind in (list, tuple, set, frozenset):
        return list(value)[:_ITEMS]
    try:
        held = object.__getattribute__(value, '__dict__')
    except AttributeError:
        return None
    return list(held.values())[:_ITEMS] if type(held) is dict else None


def _size_of(tensor: Any) -> int:
    """Bytes of the elements of an eager tensor; strings and resources count as 0."""
    try:
        return int(np.prod(tuple(tensor._shape_tuple()), dtype=np.int64)) * int(tensor.dtype.size)
    except Exception:                           # a resource or variant has no size
        return 0
