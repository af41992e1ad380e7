"""Tracebacks as the program's author reads them: without the frames of this package, as TensorFlow leaves out its own.

Called where an error leaves the package for the program (`public_function`), on the thread that raised it.
`PYFUNCDBG_FULL_TRACEBACK=1` in the environment keeps all frames. The debugger has them all: `whole_traceback`.
"""
from __future__ import annotations

import contextlib
import os
from types import TracebackType

from pyfuncdbg.hooks.own_files import is_own_file

_PLAN = '<plan of '
"""How the names of plans' source begin."""
_ATTRIBUTE = '_pyfuncdbg_whole'


def drop_own_frames(error: Exception) -> None:
    """Leave frames of the package out of the traceback of an error, and of those that it is chained to.

    To be called where it is caught and raised again by a bare `raise`: then the frame that does so is left out too.
    """
    if os.environ.get('PYFUNCDBG_FULL_TRACEBACK', '0') not in ('', '0'):
        return
    waiting: list[BaseException | None] = [error]
    seen = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            _drop_from(one)
            waiting += one.__cause__, one.__context__


def _drop_from(error: BaseException) -> None:
    shown = _program_entries(error.__traceback__)
    if shown is not error.__traceback__:
        # Not by assignment: a class may have its own `__setattr__`.
        BaseException.__setattr__(error, _ATTRIBUTE, _WholeTraceback(whole_traceback(error), shown))
        BaseException.with_traceback(error, shown)


def whole_traceback(error: BaseException) -> TracebackType | None:
    """The traceback with the frames that were left out."""
    known: _WholeTraceback | None = getattr(error, _ATTRIBUTE, None)
    entry = error.__traceback__
    if known is None:
        return entry
    above: list[TracebackType] = []             # it went through these since
    while entry is not None and entry is not known.first_shown:
        above.append(entry)
        entry = entry.tb_next
    if entry is not known.first_shown:                # somebody gave it another one
        return error.__traceback__
    return _join_entries(above, known.traceback)


class _WholeTraceback:
    """A traceback, and the first entry of it that is shown. What is pickled with an error is nothing of it."""

    __slots__ = ('first_shown', 'traceback')

    def __init__(self, traceback: TracebackType | None = None, shown: TracebackType | None = None) -> None:
        self.traceback = traceback
        self.first_shown = shown

    def __reduce__(self) -> tuple[type[_WholeTraceback], tuple[()]]:
        return _WholeTraceback, ()


def _program_entries(traceback: TracebackType | None) -> TracebackType | None:
    """The entries that are the program's; the same traceback where all are."""
    kept, entry, ours, any_ours = [], traceback, False, False
    while entry is not None:
        filename = entry.tb_frame.f_code.co_filename
        # Of a context manager of ours contextlib calls the generator.
        ours = is_own_file(filename) or filename.startswith(_PLAN) or (ours and filename == contextlib.__file__)
        any_ours |= ours
        if not ours:
            kept.append(entry)
        entry = entry.tb_next
    return _join_entries(kept, None) if any_ours else traceback


def _join_entries(entries: list[TracebackType], rest: TracebackType | None) -> TracebackType | None:
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest
