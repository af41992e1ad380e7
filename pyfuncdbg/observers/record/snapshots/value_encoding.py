"""Values of a program as plain data: numbers, text, arrays, containers of them, functions by name, objects of its classes.

Taken on the thread of a call. What is none of these is named by its type, never by its `repr`. A trace holds the result;
objects are made of it again by who replays a call, after checking it.
"""
from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.host import EAGER_TENSORS, is_on_device
from pyfuncdbg.hooks.own_files import is_host_class, is_library, is_machinery
from pyfuncdbg.hooks.patched_code import original_code, qualified_name_of

LARGEST = 64 << 10
"""Bytes of the largest array, text or container that is kept."""
DEEPEST = 6
_ITEMS = 1_000
_IN_64_BITS = range(-(1 << 63), 1 << 63)

PLAIN, INTEGER, COMPLEX, ARRAY, SCALAR, TENSOR = 'v', 'i', 'c', 'a', 'g', 'tensor'
LIST, TUPLE, SET, FROZENSET, DICT = 'l', 't', 's', 'f', 'd'
OBJECT, NAMED, FUNCTION, METHOD, PARTIAL, GENERATOR = 'object', 'name', 'function', 'method', 'partial', 'rng'
ITSELF, DECORATED, UNKNOWN = 'itself', 'decorated', '?'
"""Tags of encoded values: the first element of each. ITSELF is a function in its own closure, by qualified name; DECORATED a
framework's wrapper of a function of the program, by name, with that; an UNKNOWN says its type and why it was not kept."""
_CONTAINERS: dict[type, str] = {list: LIST, tuple: TUPLE, set: SET, frozenset: FROZENSET}
NAMESPACES = {('argparse', 'Namespace'), ('types', 'SimpleNamespace')}
"""Classes of the standard library whose objects are their attributes, and nothing more: settings of a program."""
_NAMED = (types.BuiltinFunctionType, np.ufunc, type, types.ModuleType)


class ValueEncoder:
    """Encodes values until a limit of bytes is reached.

    Args:
        read_tensor: Gives the array of a host's tensor.
        limit: Bytes; of what is beyond it only the types are kept.
    """

    __slots__ = ('_left', '_open', '_read_tensor')

    def __init__(self, read_tensor: Callable[[Any], np.ndarray], limit: int = LARGEST) -> None:
        self._read_tensor = read_tensor
        self._left = limit
        self._open: set[int] = set()
        """Containers, objects and functions that are being encoded: one that holds itself ends there."""

    def encode(self, value: Any, depth: int = 0) -> list[Any]:
        """Encode a value.

        Args:
            value: Anything.
            depth: Of the containers around it.

        Returns:
            A tag and plain data.
        """
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return [PLAIN, value]
        if kind is int:
            return [PLAIN, value] if value in _IN_64_BITS else [INTEGER, str(value)] if abs(value) < 1 << 4096 \
                else _unknown(value, 'too large')
        if kind is str or kind is bytes:
            return [PLAIN, value] if self._take(len(value)) else _unknown(value, 'too large')
        if kind is complex:
            return [COMPLEX, value.real, value.imag]
        if kind is np.ndarray or issubclass(kind, np.generic):
            return self._array(ARRAY if kind is np.ndarray else SCALAR, np.asarray(value))
        if kind in EAGER_TENSORS:
            return self._tensor(value) if not is_on_device(value) else _unknown(value, 'on a device')
        if kind is FunctionType and id(value) in self._open:
            return [ITSELF, original_code(value.__code__).co_qualname]
        if depth >= DEEPEST or id(value) in self._open or len(self._open) > _ITEMS:
            return _unknown(value, 'nested too deeply')
        self._open.add(id(value))
        try:
            return self._composite(value, kind, depth + 1)
        finally:
            self._open.discard(id(value))

    def _composite(self, value: Any, kind: type, depth: int) -> list[Any]:
        if kind in _CONTAINERS or kind is dict:
            if len(value) > _ITEMS or not self._take(8 * len(value)):
                return _unknown(value, 'too large')
            if kind is dict:
                return [DICT, [[self.encode(key, depth), self.encode(part, depth)] for key, part in list(value.items())]]
            return [_CONTAINERS[kind], [self.encode(part, depth) for part in list(value)]]
        if kind is FunctionType:
            return self._function(value, depth)
        if kind is MethodType:
            return [METHOD, self.encode(value.__func__, depth), self.encode(value.__self__, depth)]
        if kind is partial:
            return [PARTIAL, self.encode(value.func, depth), self.encode(list(value.args), depth),
                    self.encode(dict(value.keywords), depth)]
        if issubclass(kind, _NAMED):
            return _named(value)
        if (name := random_states.kind_of(value)) and (kind.__module__.startswith('numpy') or name == 'Random'):
            return [GENERATOR, name, random_states.plain_state(value)]
        return self._object(value, kind, depth)

    def _array(self, tag: str, array: np.ndarray) -> list[Any]:
        if array.dtype.hasobject or array.dtype.kind == 'V':
            return _unknown(array, f'of dtype {array.dtype}')
        if not self._take(array.nbytes):
            return _unknown(array, f'larger than {LARGEST >> 10} KB')
        return [tag, array.dtype.str, list(array.shape), array.tobytes()]

    def _tensor(self, value: Any) -> list[Any]:
        try:
            array = self._read_tensor(value)
        except Exception:                       # of the framework: it has no elements to read
            return _unknown(value, 'without a value that can be read')
        return self._array(TENSOR, array)

    def _function(self, function: FunctionType, depth: int) -> list[Any]:
        """A function by module, name and place, with what its closure and defaults hold."""
        code = original_code(function.__code__)
        wrapped = vars(function).get('__wrapped__')
        is_foreign = is_library(code.co_filename) or is_machinery(code.co_filename)
        if is_foreign and type(wrapped) is FunctionType:
            return [DECORATED, str(function.__module__ or ''), str(function.__qualname__), self.encode(wrapped, depth)]
        cells = []
        if not is_foreign:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
                cells.append([name, self._cell(cell, depth)])
        return [FUNCTION, str(function.__module__ or ''), str(qualified_name_of(function) or function.__name__),
                code.co_filename, code.co_firstlineno, code.co_qualname, cells,
                [self.encode(part, depth) for part in function.__defaults__ or ()],
                [[name, self.encode(part, depth)] for name, part in (function.__kwdefaults__ or {}).items()]]

    def _cell(self, cell: CellType, depth: int) -> list[Any]:
        try:
            content = cell.cell_contents
        except ValueError:
            return [UNKNOWN, '', 'not set yet']
        return self.encode(content, depth)

    def _object(self, value: Any, kind: type, depth: int) -> list[Any]:
        """An object of a class of the program whose state is its dictionary."""
        if not is_plain_object(value):
            return _unknown(value, 'neither plain data nor an object of a plain class of the program')
        attributes = list(attributes_of(value).items())
        if len(attributes) > _ITEMS or not self._take(8 * len(attributes)):
            return _unknown(value, 'too large')
        parts = [[str(name), self.encode(part, depth)] for name, part in attributes]
        return [OBJECT, kind.__module__, kind.__qualname__, parts]

    def _take(self, size: int) -> bool:
        if size > self._left:
            return False
        self._left -= size
        return True


def _unknown(value: Any, why: str) -> list[Any]:
    return [UNKNOWN, type(value).__qualname__, why]


def _named(value: Any) -> list[Any]:
    """What can be had by its name in a module."""
    if issubclass(type(value), types.ModuleType):
        return [NAMED, str(attributes_of(value).get('__name__', '')), '']
    if type(value) is np.ufunc:
        name = str(value.__name__)
        return [NAMED, 'numpy', name] if getattr(np, name, None) is value else _unknown(value, 'no name')
    owner = getattr(value, '__self__', None)
    if isinstance(value, types.BuiltinFunctionType) and not isinstance(owner, types.ModuleType | None):
        module = next((name for name in ('random', 'numpy.random') if random_states.global_generator(name) is owner), '')
        return [NAMED, module, value.__name__] if module else _unknown(value, 'a method of an object')
    return [NAMED, str(getattr(value, '__module__', None) or 'builtins'), str(value.__qualname__)]


def attributes_of(value: Any) -> dict[str, Any]:
    """The dictionary of an object or a module, past its class's own ways of looking attributes up.

    Args:
        value: One whose class has a plain dictionary: a lazy module does not load.
    """
    return object.__getattribute__(value, '__dict__')  # type: ignore[no-any-return]


def _has_plain_dictionary(kind: type) -> bool:
    """Whether the attributes of objects are in a dictionary that no code of the class gives."""
    found = next((vars(base)['__dict__'] for base in kind.__mro__ if '__dict__' in vars(base)), None)
    return type(found) is types.GetSetDescriptorType


def is_plain_object(value: Any) -> bool:
    """Whether an object can be made again from its class and its dictionary: no slots, nothing of a base in C.

    Args:
        value: Any object.

    Returns:
        False also for objects of libraries, whose dictionaries are theirs, but for `NAMESPACES`.
    """
    kind = type(value)
    if _is_namespace(kind):
        return True
    makes_plain: Any = kind.__new__
    if makes_plain is not object.__new__ or is_host_class(kind) or not _has_plain_dictionary(kind):
        return False
    if kind.__basicsize__ > _PlainClass.__basicsize__:      # it keeps more than its dictionary
        return False
    return all('__slots__' not in vars(base) and base.__flags__ & _HEAP and not base.__flags__ & _IMMUTABLE
               for base in kind.__mro__[:-1]) and _is_of_program(kind)


def _is_namespace(kind: type) -> bool:
    place = kind.__module__, kind.__qualname__
    return place in NAMESPACES and getattr(sys.modules.get(place[0]), place[1], None) is kind


class _PlainClass:
    """Class of objects that are a dictionary only."""


_IMMUTABLE, _HEAP = 1 << 8, 1 << 9
"""Flags of types: those of C cannot be changed, or are no objects of the heap."""


def _is_of_program(kind: type) -> bool:
    """Whether a class was written in the program's own files: its functions say where."""
    codes = list(_codes(kind))
    return not any(is_library(code.co_filename) or is_machinery(code.co_filename) for code in codes)


def _codes(kind: type) -> Iterator[types.CodeType]:
    for base in kind.__mro__[:-1]:
        for value in vars(base).values():
            if type(value) is FunctionType:
                yield value.__code__

