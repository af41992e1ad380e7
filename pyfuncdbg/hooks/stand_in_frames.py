# cython: annotation_typing=False, auto_pickle=False
"""Stand-in frames: replicas of the program's frames around a call, for warnings.

A warning names the file, line and module of the frame that called what warns, and is shown once for each; C code takes the
innermost frame, Python code one further out. Where a host's replacement in Python calls on, that would be our frame. A
stand-in has globals and line of the frame that called the replacement, and a file of ours, by which stacks and tracebacks
leave it out; the file is made the program's before the warning is shown. One for C code is transparent: further out the
frame itself is counted. On the thread of the call. Compiled by `stand_in_frames.pxd`.
"""
from __future__ import annotations

import os.path
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hooks.source_map import line_of
from pyfuncdbg.hooks.transparent_frames import TRANSPARENT, transparent

if TYPE_CHECKING:
    from warnings import WarningMessage  # the program may have a `warnings.py` of its own

_FOLDER = os.path.splitext(__file__)[0] + os.sep
"""What the names of files of stand-ins begin with; the program's name follows."""
_CODE: CodeType = compile('def stand_in(function, args, kwargs): return function(*args, **kwargs)', '', 'exec').co_consts[0]
_MOST = 1 << 12
_NO_KEYWORDS: dict[str, Any] = {}
_lines: dict[tuple[int, int, bool], _Line] = {}
"""What is known of the program's lines, by id and instruction of their code, and whether the stand-in is for C code."""


class _Line:
    """A line of the program.

    Attributes:
        code: Of the program, which stays alive, so that its id stays its own.
        stand_in: Code of the stand-in; None for a frame of ours.
        function: The stand-in of a line of a module; None elsewhere, for it keeps the globals alive.
        module: The globals of that function.
    """

    __slots__ = ('code', 'function', 'module', 'stand_in')

    function: Any

    def __init__(self, frame: FrameType, for_c: bool) -> None:
        self.code = code = frame.f_code
        self.stand_in = self.function = self.module = None
        if not is_own_file(code.co_filename):
            filename = _FOLDER + code.co_filename + (TRANSPARENT if for_c else '')
            self.stand_in = _CODE.replace(co_filename=filename, co_firstlineno=line_of(frame))
            names = frame.f_globals
            module = sys.modules.get(names.get('__name__', ''))
            if module is not None and getattr(module, '__dict__', None) is names:
                self.function, self.module = FunctionType(self.stand_in, names), names


def call_behind(frame: FrameType | None, levels: int, function: Callable[..., Any], args: Sequence[Any],
                kwargs: Mapping[str, Any]) -> Any:
    """Call a function behind stand-ins of a frame and of those that called it.

    Args:
        frame: That called what was replaced.
        levels: How many frames are replicated: 1 for what is written in C.
        function, args, kwargs: The call.

    Returns:
        The result of the function.
    """
    for_c = levels == 1
    while levels and frame is not None:
        key = id(frame.f_code), frame.f_lasti, for_c
        line = _lines.get(key) or _new_line(key, frame)
        if line.stand_in is not None:
            names = frame.f_globals
            args, kwargs = (function, args, kwargs), _NO_KEYWORDS
            function = line.function if names is line.module else FunctionType(line.stand_in, names)
            levels -= 1
        frame = frame.f_back
    return function(*args, **kwargs)


def _new_line(key: tuple[int, int, bool], frame: FrameType) -> _Line:
    if len(_lines) >= _MOST:
        _lines.clear()
    line = _lines[key] = _Line(frame, key[2])
    return line


def name_program_file(message: WarningMessage) -> None:
    """Give a warning that names a stand-in the program's file.

    Args:
        message: Of the warning, which is changed.
    """
    if type(message.filename) is str:
        message.filename = message.filename.removeprefix(_FOLDER).removesuffix(TRANSPARENT)


def with_program_file(show: Callable[[WarningMessage], None]) -> Callable[[WarningMessage], None]:
    """A replacement of `warnings._showwarnmsg`, by which warnings that name a stand-in have the program's file.

    Args:
        show: What it replaces.

    Returns:
        The replacement.
    """
    def _showwarnmsg(message: WarningMessage) -> None:
        name_program_file(message)
        show(message)
    return _showwarnmsg


transparent(call_behind)                        # where it is not compiled, which would take no decorator
