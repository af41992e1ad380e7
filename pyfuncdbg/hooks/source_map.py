"""Source maps of code that a framework generates from the program's: the program's own code and line behind it.

A host installs the map of its framework; records, stops and stacks ask here before they name a file, line or function.
Any thread. What Python itself prints stays as the framework made it.
"""
from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, Protocol

from pyfuncdbg.hooks import tracing_notice
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.code_table import CodeTable


class SourceMap(Protocol):
    """Map from generated code to the program's source, declared by a framework's host.

    Attributes:
        maker: The name in messages of what generates the code.
    """

    maker: str

    def is_generated(self, filename: str) -> bool:
        """Whether the framework has written file `filename`."""

    def is_relay(self, filename: str) -> bool:
        """Whether functions of file `filename` call others on behalf of generated code."""

    def code(self, generated: CodeType) -> CodeType | None:
        """The program's code that `generated` was made from; None if unknown."""

    def is_block(self, generated: CodeType) -> bool:
        """Whether `generated` is a block of a function, such as a branch, that became a function of its own."""

    def is_unset(self, value: Any) -> bool:
        """Whether a value is the placeholder of a variable that has none."""

    def line(self, generated: CodeType, line: int) -> int:
        """The program's line behind a line of generated code; 0 if it is of none."""


_maps: tuple[SourceMap, ...] = ()
_relays: tuple[str, ...] = ()
"""Folders of hosts whose functions are between a function of the program and its blocks."""
_codes = CodeTable[CodeType]()


def install(source_map: SourceMap) -> None:
    """Ask `source_map`, too. It stays installed: generated code runs on after its framework is detached."""
    global _maps
    if not any(type(other) is type(source_map) for other in _maps):
        _maps = (*_maps, source_map)


def add_relays(package: str) -> None:
    """Count the files of `package`, one of ours, among the relays, also where it is reached through links."""
    global _relays
    _relays = *_relays, os.path.join(*package.split('.')) + os.sep


def _map_of(filename: str) -> SourceMap | None:
    for source_map in _maps:
        if source_map.is_generated(filename):
            return source_map
    return None


def is_generated_file(filename: str) -> bool:
    """Whether a framework has written file `filename`."""
    return bool(_maps) and _map_of(filename) is not None


def is_generated(code: CodeType) -> bool:
    """Whether a framework has generated this code from the program's."""
    return is_generated_file(code.co_filename)


def maker_of(code: CodeType) -> str:
    """The framework that generated this code from the program's; '' for code that is the program's own."""
    source_map = _map_of(code.co_filename)
    return source_map.maker if source_map is not None else ''


def program_code(code: CodeType) -> CodeType:
    """The program's code behind a code object; the same where it is the program's own, or unknown."""
    if not _maps or (source_map := _map_of(code.co_filename)) is None:
        return code
    own = _codes.get(code)
    if own is None:
        own = source_map.code(code)
        if own is None:
            return code                         # not cached: the conversion may not be finished
        _codes.put(code, own)
    return own


def program_line(code: CodeType, line: int) -> int:
    """The program's line behind a line of a code object; the same where the code is the program's own.

    A line that belongs to none of the program, such as the end of a scope of the framework, is the one before it.
    """
    own = program_code(code)
    if own is code or (source_map := _map_of(code.co_filename)) is None:
        return line
    mapped_line = source_map.line(code, line)
    if not mapped_line:
        lines_before = range(line - 1, code.co_firstlineno, -1)
        mapped_line = next((candidate for one in lines_before
                            if (candidate := source_map.line(code, one)) > own.co_firstlineno), 0)
    if not mapped_line:                         # the outermost scope, which is entered again at the end
        ends = sorted({one for _, _, one in code.co_lines() if one}, reverse=True)
        mapped_line = next((candidate for one in ends if (candidate := source_map.line(code, one))), 0)
    lines = [candidate for _, _, candidate in own.co_lines() if candidate]
    return mapped_line if mapped_line and min(lines) <= mapped_line <= max(lines) else own.co_firstlineno


def exact_line(code: CodeType, line: int) -> int:
    """The line as `program_line` gives it, but 0 for a line of generated code that belongs to none of the program."""
    own = program_code(code)
    if own is code:
        return line if not is_generated(code) else 0
    source_map = _map_of(code.co_filename)
    return program_line(code, line) if source_map is not None and source_map.line(code, line) else 0


def frame_line(frame: FrameType) -> int:
    """The program's line that a frame is at."""
    line = line_of(frame)
    return program_line(frame.f_code, line) if _maps else line


def line_of(frame: FrameType) -> int:
    """The line of its code that a frame is at; that of its `def` at an instruction without a line."""
    return frame.f_lineno or frame.f_code.co_firstlineno


def place(frame: FrameType, line: int | None = None) -> Frame:
    """The file, line and function of a frame as the program has them.

    Args:
        frame: The frame.
        line: In its code; by default the one that it is at.
    """
    code = program_code(frame.f_code)
    return Frame(code.co_filename, program_line(frame.f_code, line_of(frame) if line is None else line), code.co_name)


def is_block(code: CodeType) -> bool:
    """Whether code is a block of a function of the program that a host runs as a function of its own."""
    if not _maps or (source_map := _map_of(code.co_filename)) is None:
        return tracing_notice.is_block(code)
    return source_map.is_block(code)


def program_variables(code: CodeType, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `values` of a frame that belong to variables of the program's function: generated code has others too."""
    own = program_code(code)
    if own is code or (source_map := _map_of(code.co_filename)) is None:
        return values
    names = frozenset((*own.co_varnames, *own.co_cellvars, *own.co_freevars))
    return {name: value for name, value in values.items() if name in names and not source_map.is_unset(value)}


def function_frame(frame: FrameType) -> FrameType:
    """The frame of the program's function that a frame executes a block of; itself if it executes none."""
    return block_frames(frame)[0]


def block_frames(frame: FrameType) -> Sequence[FrameType]:
    """The frame of the program's function, then those of its blocks, down to that of this frame.

    Only this frame if it executes no block, or the function is not on the stack.
    """
    if not is_block(frame.f_code):
        return frame,
    code = program_code(frame.f_code)
    name = tracing_notice.function_name(code.co_qualname)
    frames = [frame]
    outer = frame.f_back
    while outer is not None:
        outer_code = program_code(outer.f_code)
        if outer_code is code or (outer_code.co_filename == code.co_filename
                             and tracing_notice.function_name(outer_code.co_qualname) == name):
            frames.append(outer)
            if not is_block(outer.f_code):
                return frames[::-1]
        outer = outer.f_back
    return frame,


def enclosing_frame_ids(frames: Iterable[FrameType]) -> frozenset[int]:
    """The ids of frames that for the program are the same as a later one: of its function and of enclosing blocks."""
    return frozenset(id(outer) for frame in frames if is_block(frame.f_code) for outer in block_frames(frame)[:-1])


def function_variables(frame: FrameType) -> dict[str, Any]:
    """The variables that the program's function has where a frame is, in a block also those of the function around it.

    Nothing that a framework has added.
    """
    return {name: value for one in block_frames(frame) for name, value in program_variables(one.f_code, one.f_locals).items()
            if not name.startswith(tracing_notice.ADDED_PREFIX)}


def is_relay(filename: str) -> bool:
    """Whether frames of file `filename` are between generated code and the functions that it calls."""
    return any(folder in filename for folder in _relays) or any(source_map.is_relay(filename) for source_map in _maps)


def frame_behind_relays(frame: FrameType | None) -> FrameType | None:
    """The frame of generated code on whose behalf a frame's function was called; the frame itself if it is no relay's."""
    if not _maps or frame is None or not is_relay(frame.f_code.co_filename):
        return frame
    outer: FrameType | None = frame
    while outer is not None and is_relay(outer.f_code.co_filename):
        outer = outer.f_back
    return outer if outer is not None and is_generated(outer.f_code) else frame
