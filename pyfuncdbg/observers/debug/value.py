"""Bounded description of a program's value as plain data, for `p`, `display` and the stop card.

Made on the thread that holds the value. An array is summarised, never given to its own repr; of everything else the repr is
bounded, and a repr that raises is reported.
"""
from __future__ import annotations

import dataclasses
import reprlib
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import HOSTS, OWNERS, Host, device_host, device_summary, is_on_device
from pyfuncdbg.hooks.source_map import is_generated, program_code
from pyfuncdbg.hooks.value_placeholders import (
    NOT_COMPUTED,
    NOT_KNOWN,
    LaterSummary,
    UnknownValue,
    ValueNotKnown,
    ValueSummary,
)
from pyfuncdbg.observers.record.dtypes import STRING, dtype_name
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.observers.record.snapshots.statistics import stats_of, stats_of_later

MOST_COUNTED = 1 << 24
"""Elements of the largest array that is summarised."""
_MOST_TEXTS = 10_000
"""Elements of the largest array of objects that is searched for text."""
_COMPOSITES = {'SparseTensor': ('indices', 'values', 'dense_shape'), 'RaggedTensor': ('values', 'row_splits'),
               'IndexedSlices': ('indices', 'values', 'dense_shape')}
"""Kinds of values that are made of tensors, in TensorFlow and here."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True, slots=True)
class Value:
    """One value.

    Attributes:
        type: Name of its type.
        text: Its repr, bounded; of a tensor and of what holds tensors, a line about it.
        tensor: Its summary, if it is an array or a tensor.
        array: The elements, if it is one.
        items: Of a list, tuple, dict or dataclass that holds arrays: label and value of the first ones.
    """

    type: str
    text: str
    tensor: TensorRecord | None = None
    array: np.ndarray | None = None
    items: tuple[tuple[str, Value], ...] = ()


def array_of(value: Any, host: Host | None = None) -> np.ndarray | None:
    """The array behind an array, a NumPy scalar or a host's tensor; None if it is none of them, or not known."""
    array = _read(value, host)
    return None if isinstance(array, UnknownValue) else array


def _read(value: Any, host: Host | None) -> np.ndarray | UnknownValue | None:
    """As `array_of`; what is certain of a tensor that is not computed yet: its own repr would wait for it."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if isinstance(value, (*_PLAIN, type)):
        return None
    try:
        host = HOSTS.get(OWNERS.get(type(value), ''), host) or device_host(value)
        if host is not None:
            array = host.to_numpy(value)
            if array.dtype != object or array.ndim:
                return array
        if hasattr(type(value), '__array__') and hasattr(value, 'dtype') and hasattr(value, 'shape'):
            return np.asarray(value)
    except ValueNotKnown as error:
        return error.value if error.value.reason == NOT_COMPUTED else None
    except Exception:                           # a deleted buffer, a symbolic tensor: shown by its repr then
        return None
    return None


def describe_value(value: Any, host: Host | None = None, *, items: int = 20, counted: int = MOST_COUNTED,
                   copied: bool = True) -> Value:
    """A value as data.

    Args:
        value: Anything.
        host: Reads tensors.
        items: Of a container of tensors, how many are described.
        counted: Arrays of more elements are not summarised.
        copied: Copy a tensor from the memory of a device; otherwise it is only counted there.
    """
    kind = type(value).__name__
    if not copied and (summary := device_summary(value, True)) is not None:
        return _on_device(kind, summary)
    array = _read(value, host)
    if isinstance(array, UnknownValue):
        return Value(kind, _unknown_text(array))
    if array is not None:
        texts = _texts(array)
        dtype, nbytes = (STRING, sum(map(len, texts))) if texts else (dtype_name(array.dtype), array.nbytes)
        tensor = TensorRecord('', dtype, array.shape, nbytes, 'full', stats_of(array) if array.size <= counted else None)
        return Value(kind, array_text(array), tensor, array)
    parts = _parts(value, items) if items else None
    if parts is not None and any(is_on_device(part) or _read(part, host) is not None for _, part in parts):
        return Value(kind, bounded(value, host), items=tuple(
            (label, describe_value(part, host, items=0, counted=counted, copied=copied)) for label, part in parts))
    return Value(kind, bounded(value, host))


def describe_tensor(value: Any, host: Host, *, copied: bool = True) -> Value:
    """A tensor of a run as data: a host may hold text without dimensions as Python does.

    Args:
        value: Of a run of `host`.
        host: Reads tensors.
        copied: As for `describe_value`.
    """
    return describe_value(np.array(value, object) if isinstance(value, bytes | str) else value, host, copied=copied)


def _on_device(kind: str, summary: ValueSummary | LaterSummary) -> Value:
    """A tensor that is not copied, by the counts that its device makes."""
    stats = stats_of_later(summary) if isinstance(summary, LaterSummary) else None
    about = summary.summary if isinstance(summary, LaterSummary) else summary
    tensor = TensorRecord('', dtype_name(about.dtype), about.shape, about.size * about.dtype.itemsize,
                          'none' if stats is None else 'stats', stats,
                          note=about.note)
    return Value(kind, f'{tensor.dtype}{list(tensor.shape)}  {tensor.note}', tensor)


def _unknown_text(value: UnknownValue) -> str:
    """'float32[3, 4]  not known: not computed yet'."""
    return f'{dtype_name(value.dtype)}{list(value.shape)}  {NOT_KNOWN}: {value.reason}'


def _texts(array: np.ndarray) -> list[bytes | str]:
    """The elements of an object array that holds nothing but text, as TensorFlow's strings are; none of any other."""
    if array.dtype != object or not 0 < array.size <= _MOST_TEXTS:
        return []
    elements = array.ravel().tolist()
    return elements if all(isinstance(element, bytes | str) for element in elements) else []


def array_text(array: np.ndarray) -> str:
    """'float32[3, 4]'; of a scalar with its value."""
    name = f'{dtype_name(array.dtype)}{list(array.shape)}'
    return f'{dtype_name(array.dtype)} {array.item()!r:.60}' if not array.ndim and array.dtype != object else name


def bounded(value: Any, host: Host | None = None, *, longest: int = 400) -> str:
    """The repr, at most about `longest` characters; arrays in it as 'float32[3, 4]'."""
    text = _Repr(host, longest).repr(value)
    return text if len(text) <= 2 * longest else f'{text[:longest]}...{text[-longest // 4:]}'


def _parts(value: Any, count: int) -> list[tuple[str, Any]] | None:
    """The first parts of a container, None if it is none."""
    if isinstance(value, list | tuple):
        names = getattr(type(value), '_fields', None)
        return [(names[i] if names and i < len(names) else f'[{i}]', part) for i, part in enumerate(value[:count])]
    if type(value) is dict:
        return [(f'[{bounded(key, longest=40)}]', part) for key, part in islice(value.items(), count)]
    composite = _composite(value)
    if composite:
        return [(f'.{name}', getattr(value, name, None)) for name in composite]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f'.{field.name}', getattr(value, field.name, None)) for field in dataclasses.fields(value)[:count]]
    return None


def _composite(value: Any) -> tuple[str, ...]:
    """Names of the tensors that a sparse or ragged tensor is made of; its own repr would print them whole."""
    return _COMPOSITES.get(type(value).__name__, ())


class _Repr(reprlib.Repr):
    """Python's own bounded repr, which never asks an array for its own, and tells when an object's raises."""

    def __init__(self, host: Host | None, longest: int) -> None:
        super().__init__()
        self._host = host
        self.maxstring = self.maxother = longest
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 20
        self.maxdict = 12
        self.maxlong = 100

    def repr1(self, x: Any, level: int) -> str:
        """One value, at some depth."""
        if (summary := device_summary(x, False)) is not None:
            return _on_device('', summary).text
        array = _read(x, self._host)
        if array is not None:
            return f'<{_unknown_text(array)}>' if isinstance(array, UnknownValue) else array_text(array)
        if composite := _composite(x):
            parts = (f'{name}={self.repr1(getattr(x, name, None), level - 1)}' for name in composite)
            return f'{type(x).__name__}({", ".join(parts)})'
        if dataclasses.is_dataclass(x) and not isinstance(x, type) and hasattr(type(x).__repr__, '__wrapped__'):
            if level <= 0:
                return f'{type(x).__qualname__}(...)'
            fields = [f'{f.name}={self.repr1(getattr(x, f.name, None), level - 1)}' for f in dataclasses.fields(x) if f.repr]
            return f'{type(x).__qualname__}({", ".join(fields[:12])}{", ..." if len(fields) > 12 else ""})'
        for base in (list, tuple, dict, set):   # show a subclass without its own repr as its base
            if isinstance(x, base) and type(x).__repr__ is base.__repr__:
                return str(getattr(super(), f'repr_{base.__name__}')(x, level))
        try:
            return super().repr1(x, level)
        except Exception as error:              # the program's own __repr__ may raise anything
            return self._failed(x, error)

    def repr_function(self, x: Any, level: int) -> str:
        """A function; one that a framework generated under the name that the program gave it."""
        if is_generated(x.__code__):
            return f'<function {program_code(x.__code__).co_qualname}>'
        return self.repr_instance(x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        """An object of a class that reprlib does not know."""
        try:
            text = repr(x)
        except Exception as error:              # the program's own __repr__, as above
            return self._failed(x, error)
        return text if len(text) <= self.maxother else f'{text[:self.maxother * 3 // 4]}...{text[-self.maxother // 4:]}'

    def _failed(self, x: Any, error: Exception) -> str:
        return f'<{type(x).__name__} object, its __repr__ raised {type(error).__name__}>'
