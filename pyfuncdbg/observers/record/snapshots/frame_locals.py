"""The variables of the program's frames that an exception went through, read so that the program cannot tell.

Called on the thread of a call that raised, by the recorder, and by the debugger for an error at a stop.

What is no plain value of Python is shown by its type alone: no `__repr__`, property or `__len__` of the program runs, so
that looking at variables can neither fail, nor hang, nor change anything.
"""
from __future__ import annotations

import gc
import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import EAGER_TENSORS, Host, is_on_device
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.source_map import block_frames, program_code, program_variables
from pyfuncdbg.hooks.tracing_notice import ADDED_PREFIX
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS

LONGEST = 200
"""Characters of a text."""
_LONGEST_STRING = 80
_MOST_ITEMS = 6
_DEEPEST = 2
_LARGEST_INT_BITS = 400
"""Most bits of an int that is written out: Python takes quadratic time, and refuses beyond 4,300 digits."""

_qualname = type.__dict__['__qualname__'].__get__
_PLAIN = frozenset((bool, float, complex, type(None), type(...), type(NotImplemented)))
_BRACKETS: dict[type, tuple[str, str]] = {list: ('[', ']'), tuple: ('(', ')'), set: ('{', '}'), frozenset: ('{', '}'),
                                          dict: ('{', '}')}
_BASES: tuple[type, ...] = (str, bytes, int, *_BRACKETS)
MOST_FRAMES = 10
"""Innermost frames of the program whose variables are kept."""
MOST_VARIABLES = 20
"""Most variables of one frame."""
LONGEST_NAME = 200


def type_name(kind: type) -> str:
    """The qualified name of a type, read past whatever a metaclass makes of names.

    Args:
        kind: The type.

    Returns:
        'Model', 'Outer.Inner'; at most 60 characters.
    """
    return str.__getitem__(_qualname(kind), slice(60))


def safe_text(value: Any, depth: int = _DEEPEST, special: Callable[[Any], str] = lambda value: '') -> str:
    """Format a value without running its code.

    Args:
        value: Anything.
        depth: Containers inside of containers that are looked into.
        special: The text of values that the caller knows more about, '' of others.

    Returns:
        At most about `LONGEST` characters.
    """
    return _shorten(_text(value, depth, special))


def _text(value: Any, depth: int, special: Callable[[Any], str]) -> str:
    said = special(value)
    if said:
        return said
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in SCALARS:
        return str(value)
    # `issubclass` of the type, never `isinstance`: that asks the value for its `__class__`.
    base = next((base for base in _BASES if issubclass(kind, base)), None)
    if base is not None:
        text = (_container(value, base, depth, special) if base in _BRACKETS else
                _int(value) if base is int else _string(value, base))
        return text if kind is base else f'{type_name(kind)}{text if base is tuple else f"({text})"}'
    if issubclass(kind, type):
        return f'<class {type_name(value)}>'
    if kind is FunctionType:
        return f'<function {program_code(value.__code__).co_qualname[:80]}>'
    if kind is MethodType:
        return f'<method {_text(value.__func__, 0, special).strip("<>").removeprefix("function ")}>'
    if kind is BuiltinFunctionType:
        return f'<built-in {value.__name__[:80]}>'
    return f'<{type_name(kind)} object>'


def _string(value: Any, base: Any) -> str:
    if base.__len__(value) <= _LONGEST_STRING:
        return repr(base.__getitem__(value, slice(None)))
    return f'{base.__getitem__(value, slice(_LONGEST_STRING))!r}... ({base.__len__(value):,} long)'


def _int(value: Any) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= _LARGEST_INT_BITS else f'an int of {bits:,} bits'


def _container(value: Any, base: Any, depth: int, special: Callable[[Any], str]) -> str:
    opening, closing = _BRACKETS[base]
    size = base.__len__(value)
    if not size and base in (set, frozenset):
        return f'{base.__name__}()'
    if depth <= 0 and size:
        return f'{opening}...{closing}'
    parts = [': '.join(_text(part, depth - 1, special) for part in item) if base is dict else _text(item, depth - 1, special)
             for item in itertools.islice(_items(value, base), _MOST_ITEMS)]
    if size > _MOST_ITEMS:
        parts.append(f'... {size - _MOST_ITEMS:,} more')
    return f'{opening}{", ".join(parts)}{"," if base is tuple and size == 1 else ""}{closing}'


def _items(value: Any, base: Any) -> Iterable[Any]:
    items: Iterable[Any] = dict.items(value) if base is dict else base.__iter__(value)
    return items


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f'{text[:LONGEST * 3 // 4]}...{text[-LONGEST // 4:]}'


@dataclass(frozen=True, slots=True)
class FrameVariable:
    """One variable: an array, or a text about something else."""

    name: str
    type: str
    text: str
    array: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class FrameVariables:
    """Those of one frame: its place among the frames of the exception, and how many more it has."""

    frame: int
    variables: tuple[FrameVariable, ...]
    hidden: int


def values_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame.

    Args:
        frame: Of a function; a module or class body has none, for its names are the program's own mapping.

    Returns:
        Names and values, parameters first.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return {}
    return dict(frame.f_locals) if sys.version_info >= (3, 13) else _read_without_trace(frame)


def variable_order(code: CodeType) -> dict[str, int]:
    """The place of each variable: parameters first, then as in the function's text; a captured parameter is one too.

    Args:
        code: Of the function.

    Returns:
        Places by name.
    """
    names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return {names[i]: i for i in range(len(names) - 1, -1, -1)}


def variables_of(frames: Sequence[FrameType], host: Host | None,
                 read: Callable[[FrameType], dict[str, Any]] = values_of) -> list[FrameVariables]:
    """The variables of the innermost frames of the program; of a block those of its function too.

    Args:
        frames: Of an exception, outermost first.
        host: Reads tensors.
        read: Gives names and values of a frame.

    Returns:
        By frame, outermost first.
    """
    by_frame: list[FrameVariables] = []
    for index in range(len(frames) - 1, -1, -1):
        filename = frames[index].f_code.co_filename
        if is_machinery(filename) or is_library(filename):
            continue
        values = {name: value for one in block_frames(frames[index]) for name,
                  value in program_variables(one.f_code, read(one)).items()}
        by_frame.append(_of_frame(index, frames[index], values, host))
        if len(by_frame) == MOST_FRAMES:
            break
    return by_frame[::-1]


def _read_without_trace(frame: FrameType) -> dict[str, Any]:
    """`f_locals` before Python 3.13: one dict for each frame, written anew by every look at it.

    It would keep the values alive after `traceback.clear_frames`, and it is the one that `locals()` gave to the program: it
    is put back as it was.
    """
    frame_dict: dict[str, Any] | None = None
    for owned in gc.get_referents(frame):       # what precedes the code is the frame's own: its dict, if it has one
        if owned is frame.f_code:
            break
        if type(owned) is dict:
            frame_dict = owned
    else:
        return {}                               # it still runs
    before = dict(frame_dict) if frame_dict is not None else {}
    names = frame.f_locals
    values = dict(names)
    names.clear()
    names.update(before)
    return values


_BUILTIN = frozenset((int, float, str, bytes, bool, type(None), list, tuple, dict, set))
"""Most values: not even asked what they are."""


def array_in(value: Any, host: Host | None) -> np.ndarray | None:
    """The array behind an array or a host's eager tensor; runs no code of the program.

    Args:
        value: Anything.
        host: Reads tensors; None reads none.

    Returns:
        The array; None of anything else.
    """
    kind = type(value)
    if kind in _BUILTIN:
        return None
    if issubclass(kind, np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    if host is None or not any(kind is tensor for tensor in EAGER_TENSORS):     # `in` may ask the program's metaclass
        return None
    if is_on_device(value):
        return None
    try:
        array = host.to_numpy(value)
    except Exception:                           # a deleted buffer: told by its type then
        return None
    return array if array.ndim or array.dtype != object else None


def _of_frame(index: int, frame: FrameType, values: dict[str, Any], host: Host | None) -> FrameVariables:
    values = {name: value for name, value in program_variables(frame.f_code, values).items()
              if type(name) is str and not name.startswith(('__', '.', ADDED_PREFIX)) and not issubclass(type(value),
                                                                                                         ModuleType)}
    order: dict[str, int] = {}
    for one in block_frames(frame):
        for name in sorted((known := variable_order(program_code(one.f_code))), key=known.__getitem__):
            order.setdefault(name, len(order))
    names = sorted(values, key=lambda name: order.get(name, len(order)))
    variables_kept = tuple([_variable(name, values[name], host) for name in names[:MOST_VARIABLES]])
    return FrameVariables(index, variables_kept, len(names) - len(variables_kept))


def _variable(name: str, value: Any, host: Host | None) -> FrameVariable:
    kind = type_name(type(value))
    array = array_in(value, host)
    if array is not None:
        return FrameVariable(name[:LONGEST_NAME], kind, '', array)
    try:
        text = safe_text(value, special=lambda part: _array_text(array_in(part, host)))
    except RuntimeError:                        # another thread has changed a dict or set meanwhile
        text = f'<{kind}, changed by another thread>'
    return FrameVariable(name[:LONGEST_NAME], kind, text)


def _array_text(array: np.ndarray | None) -> str:
    return '' if array is None else f'{dtype_name(array.dtype)}{list(array.shape)}'
