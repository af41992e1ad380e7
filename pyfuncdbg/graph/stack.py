"""Where in the user's program something was made: a list of plain frames, taken when an op or tensor is created.

No frame object is kept, so no local of the user lives longer for it.
"""
from __future__ import annotations

import os.path
import sys

from pyfuncdbg.hooks.call import Frame

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))     # pathlib takes 3 ms to import
_MACHINERY = tuple(os.path.join(_PACKAGE, room)
                   for room in ('graph', 'runtime', 'ops', 'tf', 'hooks', 'commands', 'cli.py', '__main__.py'))
_DEEPEST = 64
_ours: dict[str, bool] = {}


def is_machinery(filename: str) -> bool:
    """Whether a source file is part of what runs the graph, not of the user's program."""
    known = _ours.get(filename)
    if known is None:
        known = _ours[filename] = filename.startswith(_MACHINERY) or filename.startswith('<frozen ')
    return known


def creation_stack() -> tuple[Frame, ...]:
    """The user's frames above this call, innermost last; at most 64."""
    frames = []
    frame = sys._getframe(1)
    depth = 0
    while frame is not None and depth < _DEEPEST:
        code = frame.f_code
        if not is_machinery(code.co_filename):
            frames.append(Frame(code.co_filename, frame.f_lineno, code.co_name))
            depth += 1
        frame = frame.f_back  # type: ignore[assignment]
    frames.reverse()
    return tuple(frames)
