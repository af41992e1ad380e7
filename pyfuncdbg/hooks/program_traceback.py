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
"""Prefix of the file names of plans' sources."""
_ATTRIBUTE = '_pyfuncdbg_whole'
_HOST_ERROR = '_pyfuncdbg_host_error'


def mark_host_error(error: BaseException) -> None:
    """Mark an error that a host has made of its cause, and raised at a line of the program."""
    BaseException.__setattr__(error, _HOST_ERROR, True)


def is_host_error(error: BaseException) -> bool:
    """Whether an error is marked so."""
    return BaseException.__getattribute__(error, '__dict__').get(_HOST_ERROR) is True


def drop_own_frames(error: Exception) -> None:
    """Drop frames of the package from the traceback of an error, and of those that it is chained to.

    To be called where it is caught and raised again by a bare `raise`: then that frame is dropped too.
    """
    if os.environ.get('PYFUNCDBG_FULL_TRACEBACK', '0') not in ('', '0'):
        return
    pending: list[BaseException | None] = [error]
    ids = set()
    while pending:
        chained = pending.pop()
        if chained is not None and id(chained) not in ids:
            ids.add(id(chained))
            _drop_from(chained)
            pending += chained.__cause__, chained.__context__


def _drop_from(error: BaseException) -> None:
    entries = _program_entries(error.__traceback__)
    if entries is not error.__traceback__:
        # Not by assignment: a class may have its own `__setattr__`.
        BaseException.__setattr__(error, _ATTRIBUTE, _WholeTraceback(whole_traceback(error), entries))
        BaseException.with_traceback(error, entries)


def whole_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an `error` with the dropped frames."""
    whole: _WholeTraceback | None = getattr(error, _ATTRIBUTE, None)
    entry = error.__traceback__
    if whole is None:
        return entry
    new_entries: list[TracebackType] = []             # added since
    while entry is not None and entry is not whole.first_shown:
        new_entries.append(entry)
        entry = entry.tb_next
    if entry is not whole.first_shown:                # another traceback was set
        return error.__traceback__
    return _join_entries(new_entries, whole.traceback)


class _WholeTraceback:
    """A traceback and its first entry that is shown. Pickled with an error, it is empty."""

    __slots__ = ('first_shown', 'traceback')

    def __init__(self, traceback: TracebackType | None = None, shown: TracebackType | None = None) -> None:
        self.traceback = traceback
        self.first_shown = shown

    def __reduce__(self) -> tuple[type[_WholeTraceback], tuple[()]]:
        return _WholeTraceback, ()


def _program_entries(traceback: TracebackType | None) -> TracebackType | None:
    """The entries that are the program's; the same traceback where all are."""
    entries, entry, is_ours, any_ours = [], traceback, False, False
    while entry is not None:
        filename = entry.tb_frame.f_code.co_filename
        # Of a context manager of ours contextlib calls the generator.
        is_ours = is_own_file(filename) or filename.startswith(_PLAN) or (is_ours and filename == contextlib.__file__)
        any_ours |= is_ours
        if not is_ours:
            entries.append(entry)
        entry = entry.tb_next
    return _join_entries(entries, None) if any_ours else traceback


def _join_entries(entries: list[TracebackType], rest: TracebackType | None) -> TracebackType | None:
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest
