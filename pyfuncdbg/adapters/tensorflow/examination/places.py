"""The line of the program that a thing of TensorFlow's comes from, read off the stack of the thread that does it."""
from __future__ import annotations

import sys
from types import FrameType
from typing import Any, NamedTuple

from pyfuncdbg.hooks.machinery import is_library, is_machinery


class Place(NamedTuple):
    """A line of the program."""

    filename: str
    line: int


NOWHERE = Place('', 0)
_GENERATED = '__autograph_generated_file'


def here(stacks: Any) -> Place:
    """The innermost frame of the program on this thread; that of a library where the program has none.

    Args:
        stacks: TensorFlow's `tf_stack`, which knows the lines behind AutoGraph's generated code.
    """
    frame: FrameType | None = sys._getframe(1)
    first = NOWHERE
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_machinery(name):
            if _GENERATED in name:
                return _behind(stacks)
            found = Place(name, frame.f_lineno)
            if not is_library(name):
                return found
            first = first if first is not NOWHERE else found
        frame = frame.f_back
    return first


def _behind(stacks: Any) -> Place:
    for frame in reversed(list(stacks.extract_stack())):
        if not is_machinery(frame.filename) and not is_library(frame.filename) and _GENERATED not in frame.filename:
            return Place(frame.filename, frame.lineno)
    return NOWHERE


def made_at(op: Any) -> Place:
    """Where the program made a node."""
    for frame in reversed(list(op.traceback or ())):
        if not is_machinery(frame.filename) and not is_library(frame.filename):
            return Place(frame.filename, frame.lineno)
    return NOWHERE
