"""Flattening of nested Python sequences: their shape, leaves and kinds of values.

`convert` calls it for values that are neither scalars nor arrays. Level by level, so a list of a million floats
is checked by C code. Any thread may call it.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types.dimension import Dimension

_DEEPEST = 64  # NumPy's limit; it also ends the recursion of a list that contains itself
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ('b', (bool, np.bool_)), ('i', (int, np.integer, Dimension)), ('f', (float, np.floating)),
    ('c', (complex, np.complexfloating)), ('s', (str, bytes)),
)
_KIND_OF: dict[type, str] = {bool: 'b', int: 'i', float: 'f', complex: 'c', str: 's', bytes: 's'}
_PLAIN = frozenset((
    bool, int, float, complex, str, bytes, list, tuple, np.ndarray, np.float32, np.float64, np.int32, np.int64))
_ATOMS = (str, bytes, np.generic, Mapping, Set, type)


class TensorFoundError(Exception):
    """The sequence has tensors in it, so `convert` packs it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FlatSequence:
    """A nested sequence whose every level is of one length.

    Attributes:
        shape: One length per level.
        leaves: The innermost values in row-major order; an ndarray of the whole shape where the sequence was made of
            equal arrays.
        kinds: The kinds of its values: b, i, f, c or s for bool, int, float, complex and string.
        first: The first leaf, which decides the type; None if there is no leaf.
    """

    shape: tuple[int, ...]
    leaves: Sequence[Any] | np.ndarray[Any, Any]
    kinds: frozenset[str]
    first: Any


def tensor_value(item: Any) -> Any:
    """The NumPy value of an eager tensor (anything whose `_value` is one), or None."""
    value = getattr(item, '_value', None)
    return value if isinstance(value, (np.ndarray, np.generic)) else None


def is_sequence(item: Any) -> bool:
    """Whether TensorFlow converts an object as a row of values; strings, mappings, sets and scalars are no rows."""
    if isinstance(item, (list, tuple)):
        return True
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return (not isinstance(item, _ATOMS) and hasattr(item, '__len__') and hasattr(item, '__getitem__')
            and tensor_value(item) is None)


def unsupported_error(value: object) -> ValueError:
    """The error for a value that no tensor can hold."""
    return ValueError(f'Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.')


def mixed_types_error() -> ValueError:
    """The error for leaves that have no common type."""
    return ValueError("Can't convert Python sequence with mixed types to Tensor.")


def _ragged_error() -> ValueError:
    return ValueError("Can't convert non-rectangular Python sequence to Tensor.")


def flatten(value: Any) -> FlatSequence:
    """Flatten a nested sequence, or one scalar.

    Raises:
        TensorFoundError: It has an eager tensor in it.
        ValueError: Its rows differ in length, it is nested deeper than 64 levels, or no tensor can hold its first leaf.
    """
    shape: tuple[int, ...] = ()
    items: list[Any] = [value]
    while is_sequence(items[0]):
        if len(shape) == _DEEPEST:
            raise ValueError(f"Can't convert a sequence nested deeper than {_DEEPEST} levels to Tensor.")
        block = _stack_rows(items)
        if block is not None:
            return FlatSequence(shape + block.shape[1:], block.reshape(shape + block.shape[1:]),
                                frozenset(_kind(block.dtype.type)),
                                block.reshape(-1)[0])
        items, length = _next_level(items)
        shape += (length,)
        if not items:
            return FlatSequence(shape, (), frozenset(), None)
        if not _PLAIN.issuperset(map(type, items)) and any(tensor_value(i) is not None for i in items):
            raise TensorFoundError
    return _leaves(shape, items)


def _next_level(items: list[Any]) -> tuple[list[Any], int]:
    """The next level: the elements of all rows, and the length of a row."""
    if not set(map(type, items)) <= {list, tuple} and not all(map(is_sequence, items)):
        raise _ragged_error()
    length = len(items[0])
    if any(len(i) != length for i in items):
        raise _ragged_error()
    return list(chain.from_iterable(items)), length


def _stack_rows(items: list[Any]) -> np.ndarray[Any, Any] | None:
    """The rows as one array, if they are equal arrays of numbers."""
    first = items[0]
    if type(first) is not np.ndarray or first.dtype.kind not in 'biufc' or not first.size:
        return None
    alike = all(type(i) is np.ndarray and i.dtype == first.dtype and i.shape == first.shape for i in items)
    return np.stack(items) if alike else None


def _leaves(shape: tuple[int, ...], items: list[Any]) -> FlatSequence:
    types = set(map(type, items))
    if np.ndarray in types:  # arrays of rank 0 count as scalars
        items = [i[()] if type(i) is np.ndarray and not i.ndim else i for i in items]
        types = set(map(type, items))
    kinds = frozenset(map(_kind, types))
    first = items[0]
    if _kind(type(first)) == '?':
        raise unsupported_error(first)
    if '?' in kinds:
        raise mixed_types_error()
    return FlatSequence(shape, items, kinds, first)


def _kind(cls: type) -> str:
    cached_kind = _KIND_OF.get(cls)
    return cached_kind or next((kind for kind, classes in _KINDS if issubclass(cls, classes)), '?')


def holds_tensor(items: Iterable[Any]) -> bool:
    """Whether an eager tensor is anywhere in a nested sequence."""
    return any(tensor_value(i) is not None or (is_sequence(i) and not isinstance(i, (np.ndarray, range)) and holds_tensor(i))
               for i in items)
