"""Memory that a function keeps alive: arrays and tensors in its closure, defaults and bound object.

Asked when facts are gathered, on any thread. It only looks: no attribute of the program's objects is computed.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import closed_over

_MOST = 20_000
_DEEPEST = 8
_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Holding:
    """Memory that several objects keep alive, each thing counted once.

    Attributes:
        arrays: Arrays and tensors.
        nbytes: Of their elements.
        around: Bytes of the functions, cells and containers on the way there.
        whole: Whether everything was looked at.
    """

    arrays: int
    nbytes: int
    around: int
    whole: bool


def holding(roots: Iterable[Any], tensor: type) -> Holding:
    """Memory that these objects keep alive.

    Args:
        roots: Registered functions, or tuples with tensors.
        tensor: The class of eager tensors.
    """
    seen: set[int] = set()
    arrays = nbytes = around = 0
    waiting: list[tuple[Any, int]] = [(root, 0) for root in roots]
    while waiting and len(seen) < _MOST:
        value, depth = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = type(value)
        if isinstance(value, np.ndarray):
            whole = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
            if whole is value or id(whole) not in seen:
                seen.add(id(whole))
                arrays, nbytes = arrays + 1, nbytes + int(whole.nbytes)
        elif issubclass(kind, tensor):
            arrays, nbytes = arrays + 1, nbytes + _size_of(value)
        elif depth < _DEEPEST:
            inner = _inside(value, kind)
            if inner is not None:
                around += sys.getsizeof(value, 0) if kind in _SIZED else 0
                waiting += [(item, depth + 1) for item in inner]
    return Holding(arrays, nbytes, around, not waiting)


_SIZED = frozenset((FunctionType, MethodType, partial, dict, list, tuple, set, frozenset))
_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), type, type(sys)))


def _inside(value: Any, kind: type) -> list[Any] | None:
    """Things that a thing refers to; None for one that is not looked into."""
    if kind in _PLAIN or isinstance(value, type):
        return None
    if kind is FunctionType:
        held = [content for _, content in closed_over(value)]
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
    except Exception:                           # a resource or variant has no size that could be told
        return 0
