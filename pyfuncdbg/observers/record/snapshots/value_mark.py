# cython: annotation_typing=False, auto_pickle=False
"""Mark of a value, which changes when what a trace keeps of it does.

Compared at each call, on its thread: what a function has beside its inputs is encoded only where the mark is another one.
Compiled by `value_mark.pxd`.
"""
from __future__ import annotations

import weakref
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.observers.record.snapshots.value_encoding import attributes_of, is_plain_object

FEW, SMALL = 32, 4 << 10
"""Items of a container, and bytes of an array, that are compared at each call; larger ones are kept as first seen."""
MISSING = object()
_MOST_CLASSES = 1 << 12
_PLAIN_TYPES = frozenset((int, float, bool, str, bytes, complex, type(None)))
_GENERATOR, _OBJECT, _OTHER = range(3)
_sorts: dict[int, tuple[weakref.ref[type], int]] = {}
"""Cache of `_sort_of`, by the id of the class, which stays free to go: to find it out takes 1 us."""


def has_values(function: FunctionType) -> bool:
    """Whether a function has a closure or defaults."""
    return bool(function.__closure__ or function.__defaults__ or function.__kwdefaults__)


def mark_of(value: Any, depth: int = 3) -> Any:
    """A mark of a value that changes when what a trace keeps of it does.

    Args:
        value: Anything.
        depth: Of objects and containers in it that are looked into.

    Returns:
        What compares equal as long as nothing has changed; of large arrays and containers only their identity.
    """
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return kind, value
    if kind is np.ndarray:
        return (kind, value.shape, value.tobytes()) if value.nbytes <= SMALL else (id(value), value.shape)
    if issubclass(kind, np.generic):
        return kind, value.tobytes()
    if kind is FunctionType:
        code = id(value.__code__)
        if not depth or not has_values(value):
            return code
        return code, mark_of(value.__defaults__, depth - 1), mark_of(value.__kwdefaults__, depth - 1), [
            _cell_mark(cell, depth - 1) for cell in value.__closure__ or ()]
    if not depth:
        return id(value)
    if kind in (list, tuple):
        return (kind, [mark_of(part, depth - 1) for part in value]) if len(value) <= FEW else (id(value), len(value))
    if kind is dict:
        return (kind, [(key if type(key) in _PLAIN_TYPES else id(key), mark_of(part, depth - 1))
                       for key, part in list(value.items())]) if len(value) <= FEW else (id(value), len(value))
    if kind is MethodType:
        return mark_of(value.__func__, depth - 1), mark_of(value.__self__, depth)
    if kind is partial:
        return mark_of(value.func, depth), mark_of(value.args, depth), mark_of(value.keywords, depth)
    entry = _sorts.get(id(kind))
    sort = entry[1] if entry is not None and entry[0]() is kind else _sort_of(value)
    if sort == _GENERATOR:
        return random_states.plain_state(value)
    if sort == _OBJECT:
        return kind, [(name, mark_of(part, depth - 1)) for name, part in list(attributes_of(value).items())[:FEW]]
    return id(value)


def _sort_of(value: Any) -> int:
    """What of a value is compared: the state of a generator, the attributes of an object, or which one it is."""
    sort = _GENERATOR if random_states.kind_of(value) else _OBJECT if is_plain_object(value) else _OTHER
    if len(_sorts) >= _MOST_CLASSES:
        _sorts.clear()
    _sorts[id(type(value))] = weakref.ref(type(value)), sort
    return sort


def _cell_mark(cell: Any, depth: int) -> Any:
    try:
        return mark_of(cell.cell_contents, depth)
    except ValueError:                          # not set yet
        return MISSING
