"""The variables of the program's frames that an exception went through, read so that the program cannot tell.

Called on the thread of a call that raised, by the recorder, and by the debugger for an error at a stop.
"""
from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import EAGER_TENSORS, Host
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.source_map import block_frames, program_code, program_variables
from pyfuncdbg.hooks.tracing_notice import ADDED_PREFIX
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.snapshots.safe_text import safe_text, type_name

MOST_FRAMES = 10
"""Innermost frames of the program whose variables are kept."""
MOST_VARIABLES = 20
"""Of one frame."""
LONGEST_NAME = 200
_BUILTIN = frozenset((int, float, str, bytes, bool, type(None), list, tuple, dict, set))
"""Most values: not even asked what they are."""


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
