"""Tracebacks as the program's author reads them: without the frames of this package, as TensorFlow leaves out its own.

Called where an error leaves the package for the program, on the thread that raised it. `PYFUNCDBG_FULL_TRACEBACK=1` in the
environment keeps all frames. The debugger has them all: `whole_traceback`.
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
_ATTRIBUTE = '_pyfuncdbg_whole'


def leave_out_ours(error: Exception) -> None:
    """Leave frames of the package out of an error's traceback.

    To be called where it is caught and raised again by a bare `raise`: then the frame that does so is left out too.
    """
    if os.environ.get('PYFUNCDBG_FULL_TRACEBACK', '0') in ('', '0'):
        whole, shown = whole_traceback(error), _of_program(error.__traceback__)
        try:
            setattr(error, _ATTRIBUTE, _Whole(whole, shown))
        except AttributeError:                  # a class with slots: what cannot be remembered is not left out
            return
        error.__traceback__ = shown


def whole_traceback(error: BaseException) -> TracebackType | None:
    """The traceback with the frames that were left out."""
    known: _Whole | None = getattr(error, _ATTRIBUTE, None)
    entry = error.__traceback__
    if known is None:
        return entry
    above: list[TracebackType] = []             # it went through these since
    while entry is not None and entry is not known.shown:
        above.append(entry)
        entry = entry.tb_next
    if entry is not known.shown:                # somebody gave it another one
        return error.__traceback__
    return _joined(above, known.traceback)


class _Whole:
    """A traceback, and the first entry of it that is shown. What is pickled with an error is nothing of it."""

    __slots__ = ('shown', 'traceback')

    def __init__(self, traceback: TracebackType | None = None, shown: TracebackType | None = None) -> None:
        self.traceback = traceback
        self.shown = shown

    def __reduce__(self) -> tuple[type[_Whole], tuple[()]]:
        return _Whole, ()


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if not filename.startswith((_PACKAGE, _PLAN)) or filename.startswith(_DEMO):
            kept.append(traceback)
        traceback = traceback.tb_next
    return _joined(kept, None)


def _joined(entries: list[TracebackType], rest: TracebackType | None) -> TracebackType | None:
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


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
