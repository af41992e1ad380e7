"""Creation stack of an op or tensor: the user's frames as plain data.

No frame object is kept, so it keeps no local of the user alive.
"""
from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_cell_runner, is_machinery, machinery_by_file

_DEEPEST = 64


class StackTrace(tuple[traceback.FrameSummary, ...]):
    """Frames in the form of the module `traceback`; source lines are read on demand."""

    __slots__ = ()

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> StackTrace:
        """A stack trace of these frames."""
        return cls(traceback.FrameSummary(f.filename, f.line, f.function, lookup_line=False) for f in frames)


def creation_stack() -> tuple[Frame, ...]:
    """The user's frames above this call, innermost last; at most 64."""
    frames = []
    frame = sys._getframe(1)
    depth = 0
    while frame is not None and depth < _DEEPEST:
        code = frame.f_code
        filename = code.co_filename
        own_file = machinery_by_file.get(filename)     # a call per frame would double the time
        if not (is_machinery(filename) if own_file is None else own_file):
            frames.append(Frame(filename, frame.f_lineno, code.co_name))
            depth += 1
        elif code.co_name == 'run_code' and is_cell_runner(code):
            break
        frame = frame.f_back  # type: ignore[assignment]
    frames.reverse()
    return tuple(frames)
