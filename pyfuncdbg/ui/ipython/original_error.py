"""`%debug` and `%pdb` after an error of a host: they begin in the function that raised the original.

A host raises its own error from that of a wrapped function. IPython's debugger, on the main thread, gets the original with
the frames of both: below is the function, `up` leads to the cell.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.observers.debug.inspecting.stack import original_error


class OriginalError:
    """Replacement for `shell.debugger`, which examines the program's original exception.

    Args:
        shell: IPython's.
        debugger: What it was before.
    """

    def __init__(self, shell: Any, debugger: Callable[..., Any]) -> None:
        self._shell = shell
        self._debugger = debugger

    def __call__(self, force: bool = False) -> Any:
        last_error = getattr(sys, 'last_exc', None) or getattr(sys, 'last_value', None)
        original = original_error(last_error) if isinstance(last_error, BaseException) else None
        if last_error is None or original is None or original is last_error:
            return self._debugger(force=force)
        with _in_place_of(last_error, original), self._without_traceback():
            return self._debugger(force=force)

    @contextmanager
    def _without_traceback(self) -> Iterator[None]:
        """IPython has kept the traceback of the error that it showed: it asks `sys` for the last one instead."""
        shower = self._shell.InteractiveTB
        if hasattr(shower, 'tb'):
            shower.tb = None
        yield


@contextmanager
def _in_place_of(shown: BaseException, original: BaseException) -> Iterator[None]:
    """The original is the last error, and has the frames of both."""
    names = [name for name in ('last_type', 'last_value', 'last_exc', 'last_traceback') if hasattr(sys, name)]
    before = {name: getattr(sys, name) for name in names}
    traceback = original.__traceback__
    original.__traceback__ = _join_tracebacks(shown.__traceback__, traceback) or traceback
    for name, value in (('last_type', type(original)), ('last_value', original), ('last_exc', original),
                        ('last_traceback', original.__traceback__)):
        if name in before:
            setattr(sys, name, value)
    try:
        yield
    finally:
        original.__traceback__ = traceback
        for name, value in before.items():
            setattr(sys, name, value)


def _join_tracebacks(outer: TracebackType | None, inner: TracebackType | None) -> TracebackType | None:
    """One traceback of the program's frames in two, without those of what runs and watches it."""
    entries = [entry for traceback in (outer, inner) for entry in _entries(traceback)
               if not is_machinery(entry.tb_frame.f_code.co_filename)]
    joined = None
    for entry in reversed(entries):
        joined = TracebackType(joined, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return joined


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
