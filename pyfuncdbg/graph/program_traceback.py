"""Tracebacks as the program's author reads them: without the frames of this package, as TensorFlow leaves out its own.

Called where an error leaves the package for the program, on the thread that raised it. `PYFUNCDBG_FULL_TRACEBACK=1` in the
environment keeps all frames.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FunctionType, TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec('P')
R = TypeVar('R')
T = TypeVar('T')

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_DEMO = _PACKAGE + 'demo' + os.sep
"""A user's program that comes with the package."""
_PLAN = '<plan of '
"""How the names of plans' source begin."""


def leave_out_ours(error: Exception) -> None:
    """Leave frames of the package out of an error's traceback.

    To be called where it is caught and raised again by a bare `raise`: then the frame that does so is left out too.
    """
    if os.environ.get('PYFUNCDBG_FULL_TRACEBACK', '0') in ('', '0'):
        error.__traceback__ = _of_program(error.__traceback__)


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if not filename.startswith((_PACKAGE, _PLAN)) or filename.startswith(_DEMO):
            kept.append(traceback)
        traceback = traceback.tb_next
    first = None
    for entry in reversed(kept):
        first = TracebackType(first, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return first


def for_program(function: Callable[P, R]) -> Callable[P, R]:
    """What a program calls: of its errors only the program's frames are shown."""
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:              # of any kind: it goes on to the program
            leave_out_ours(error)
            raise
    return call


def methods_for_program(kind: type[T]) -> type[T]:
    """The same for every public method of a class."""
    for name, method in [*vars(kind).items()]:
        if not name.startswith('_') and isinstance(method, FunctionType):
            setattr(kind, name, for_program(method))
        elif not name.startswith('_') and isinstance(method, classmethod):
            setattr(kind, name, classmethod(for_program(method.__func__)))
    return kind
