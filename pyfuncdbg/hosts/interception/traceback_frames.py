"""Tracebacks of exceptions that pass through our replacements, without our frames: as they are without us."""
from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hooks.transparent_frames import transparent


def drop_outermost_frame(error: BaseException) -> None:
    """Drop the outermost frame of an exception's traceback: that of a replacement that passes it on by a bare `raise`."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def drop_leading_own_frames(error: BaseException) -> None:
    """Drop our frames from the start of an exception's traceback."""
    entry = error.__traceback__
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is not None:
        error.__traceback__ = entry


def without_own_frames(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames: the exception looks as it does without us.

    A traceback of our frames alone stays: a framework's C++ code may crash on an exception without a traceback.
    """
    first = entry
    while entry is not None and is_own_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    if entry is None:
        return first
    step: TracebackType | None = entry
    while step is not None:
        while step.tb_next is not None and is_own_file(step.tb_next.tb_frame.f_code.co_filename):
            step.tb_next = step.tb_next.tb_next
        step = step.tb_next
    return entry


@transparent
def without_trace(replacement: Callable[..., Any]) -> Callable[..., Any]:
    """A replacement in whose errors none of our frames is; in compiled code it cannot take its own out itself.

    The frames of both are transparent.

    Args:
        replacement: Of a framework's function or method.
    """
    transparent(replacement)

    def replaced(*args: Any, **settings: Any) -> Any:
        try:
            return replacement(*args, **settings)
        except BaseException as error:
            error.__traceback__ = without_own_frames(error.__traceback__)
            raise
    return replaced
