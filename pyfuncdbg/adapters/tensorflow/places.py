"""The line of the program that a thing of TensorFlow's comes from, read off the stack of the thread that does it."""
from __future__ import annotations

from types import FrameType
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.machinery import is_library, is_machinery

NOWHERE = Frame('', 0, '')
_GENERATED = '__autograph_generated_file'


def program_line(frame: FrameType | None, stacks: Any) -> Frame | None:
    """The innermost line of the program from a frame on outwards; that of a library where the program has none.

    Args:
        frame: Where to begin.
        stacks: TensorFlow's `tf_stack`, which knows the lines behind AutoGraph's generated code.
    """
    library = None
    while frame is not None:
        code = frame.f_code
        if not is_machinery(code.co_filename):
            if _GENERATED in code.co_filename:
                return _behind(stacks)
            found = Frame(code.co_filename, frame.f_lineno, code.co_name)
            if not is_library(code.co_filename):
                return found
            library = library or found
        frame = frame.f_back
    return library


def _behind(stacks: Any) -> Frame | None:
    for frame in reversed(list(stacks.extract_stack())):
        if not is_machinery(frame.filename) and not is_library(frame.filename) and _GENERATED not in frame.filename:
            return Frame(frame.filename, frame.lineno, frame.name)
    return None
