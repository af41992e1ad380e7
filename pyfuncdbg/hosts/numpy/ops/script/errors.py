"""Errors of user functions for the program: class and text are TensorFlow's, the original is the cause.

Kernels of the script ops call it on the thread of the call.
"""
from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pyfuncdbg.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import DEVICE

_CLASSES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], type[OpError]], ...] = (
    ((ValueError, TypeError), InvalidArgumentError), (StopIteration, OutOfRangeError), (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError))


class _Refusals:
    """Marker of errors that the op raises about a result, not the user's function."""

    mark = '_pyfuncdbg_refusal'


def refusal(kind: type[OpError], text: str) -> OpError:
    """An error about a returned value, which reaches the program unchanged."""
    error = kind(None, None, text)
    setattr(error, _Refusals.mark, True)
    return error


def is_refusal(error: BaseException) -> bool:
    """Whether an error is of `refusal`."""
    return hasattr(error, _Refusals.mark)


def op_error(error: BaseException) -> OpError:
    """The host's error for an exception of the user's function; to be raised `from` it.

    The traceback loses our frames before the user's. The exception's class maps to TensorFlow's by `isinstance`.
    """
    error.__traceback__ = _from_user_frame(error.__traceback__)
    kind = next((error_class for python_class, error_class in _CLASSES if isinstance(error, python_class)), UnknownError)
    import traceback  # only needed for an error message
    chunks = traceback.format_exception(type(error), error, error.__traceback__)
    return kind(None, None, f'{type(error).__name__}: {_text(error)}\n' + ''.join(f'{chunk}\n' for chunk in chunks))


def _from_user_frame(entry: TracebackType | None) -> TracebackType | None:
    while entry is not None and is_machinery(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    return entry


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:   # the user's __str__ fails: TensorFlow's process would die here
        return '<exception str() failed>'


def word_for_eager(error: OpError, inputs: Sequence[Any], outputs: int, name: str | None) -> None:
    """Complete the text of an error as TensorFlow's eager mode does: the op before it, its name after it."""
    op = f'{{{{function_node __wrapped__EagerPyFunc_Tin_{len(inputs)}_Tout_{outputs}_device_{DEVICE}}}}}'
    error.locate(None, None, f'{op} {error.message} [Op:EagerPyFunc] name: {name or ""}')
