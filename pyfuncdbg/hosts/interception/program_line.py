"""The program's line behind an object of a framework's, from the stack of its thread."""
from __future__ import annotations

from types import CodeType, FrameType

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_cell_runner, is_library, is_machinery
from pyfuncdbg.hooks.source_map import place

NOWHERE = Frame('', 0, '')
_MOST = 1 << 12
_DEEPEST = 64
_BETWEEN, _PROGRAM, _LIBRARY = range(3)
_file_kinds: dict[str, int] = {}
"""Kinds of files, by name: between program and function, the program's, a library's."""
_lines: dict[tuple[int, int], tuple[CodeType, Frame]] = {}
"""Cache by id of the code and instruction: reading the line from a frame costs 1 µs."""


def program_line(frame: FrameType | None) -> Frame | None:
    """The innermost line of the program from a frame on outwards; that of a library where the program has none."""
    library_line = None
    sorts = _file_kinds
    while frame is not None:
        code = frame.f_code
        sort = sorts.get(code.co_filename)
        if sort is None:
            sort = sorts[code.co_filename] = _file_kind(code.co_filename)
        if sort:
            key = id(code), frame.f_lasti
            entry = _lines.get(key)
            line = entry[1] if entry is not None else _line(key, frame)
            if sort == _PROGRAM:
                return line
            library_line = library_line or line
        frame = frame.f_back
    return library_line


def program_frames(frame: FrameType | None) -> tuple[Frame, ...]:
    """The program's frames on a stack from a frame on outwards, innermost last."""
    frames: list[Frame] = []
    while frame is not None and len(frames) < _DEEPEST and not is_cell_runner(frame.f_code):
        if not is_machinery(frame.f_code.co_filename):
            frames.append(place(frame))
        frame = frame.f_back
    return tuple(reversed(frames))


def _file_kind(filename: str) -> int:
    if is_machinery(filename):
        return _BETWEEN
    return _LIBRARY if is_library(filename) else _PROGRAM


def _line(key: tuple[int, int], frame: FrameType) -> Frame:
    code = frame.f_code
    if len(_lines) >= _MOST:
        _lines.clear()
    line = place(frame)
    _lines[key] = code, line                   # the code stays alive, so that its id stays its own
    return line
