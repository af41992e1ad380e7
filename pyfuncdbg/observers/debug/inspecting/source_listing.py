"""Source text around a place, as plain data: what `list`, `longlist`, `source` and the card of a stop show.

Read from the file that runs, through Python's own cache of source lines, which also knows notebook cells.
"""
from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.record.sources.source_text import SourceText, file_excerpt


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of one file.

    Attributes:
        filename: The file.
        function: What the lines are of; '' if unknown.
        first: Number of the first line.
        lines: Their text, without line ends.
        current: Line that is to run next, 0 if none is here.
        raised: Line that an error went through, if that is another one, else 0.
        breakpoints: Lines with a breakpoint.
    """

    filename: str
    function: str
    first: int
    lines: tuple[str, ...]
    current: int = 0
    raised: int = 0
    breakpoints: tuple[int, ...] = ()

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self.first + len(self.lines) - 1


Marks = Callable[[str], tuple[int, ...]]
"""The lines of a file that have a breakpoint."""


def source_lines(filename: str, module: dict[str, Any] | None = None) -> list[str]:
    """All lines of a file as it is now; none if there is no source."""
    linecache.checkcache(filename)
    return [line.rstrip('\r\n') for line in linecache.getlines(filename, module)]


def line_of(filename: str, line: int, module: dict[str, Any] | None = None) -> str:
    """One line of a file as it is now, without its indentation; '' if there is none."""
    lines = source_lines(filename, module)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ''


def running_source(filename: str, line: int) -> SourceText:
    """The reader of records that are made of the program that runs here: their file names come from its own code."""
    return file_excerpt(source_lines(filename), line) or SourceText()


def listing(filename: str, first: int, last: int, *, function: str = '', current: int = 0, raised: int = 0,
            module: dict[str, Any] | None = None, marks: Marks = lambda filename: ()) -> Listing:
    """Some lines of a file.

    Raises:
        CommandError: There is no source, or it has no such lines.
    """
    lines = source_lines(filename, module)
    if not lines:
        raise CommandError(f'the source of {filename} is not available')
    first = max(1, first)
    if first > len(lines):
        raise CommandError(f'{filename} has {len(lines)} lines, no line {first}')
    return Listing(filename, function, first, tuple(lines[first - 1:max(first, last)]), current, raised, marks(filename))


class SourceContext:
    """Number of source lines that a stop shows; one per process.

    Attributes:
        lines: So many lines, the current one in the middle.
    """

    def __init__(self) -> None:
        self.lines = 5


context = SourceContext()


def lines_around(frame: FrameType, line: int, before: int, after: int, marks: Marks = lambda filename: ()) -> Listing | None:
    """The lines around the one that a frame is at, within its function; None without a source."""
    code = program_code(frame.f_code)
    first, last = function_extent(code)
    if code.co_name == '<module>' or code.co_name.startswith('<'):
        first, last = 1, line + after
    low = max(first, line - before)
    high = min(max(last, line), max(line + after, low + before + after))
    try:
        return listing(code.co_filename, low, high, function=code.co_name, current=line, module=frame.f_globals, marks=marks)
    except CommandError:
        return None


def function_head(function: Any, count: int, marks: Marks = lambda filename: ()) -> Listing | None:
    """The first lines of a function; None if it is not written in Python, or has no source."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, '__code__', None)
    if not isinstance(code, CodeType):
        return None
    code = program_code(code)
    first, last = function_extent(code)
    try:
        return listing(code.co_filename, first, min(last, first + count - 1), function=code.co_name, marks=marks)
    except CommandError:
        return None


def whole_listing(code: CodeType, current: int = 0, raised: int = 0, marks: Marks = lambda filename: ()) -> Listing:
    """All lines of a function, with its decorators; of a module, of the file.

    Raises:
        CommandError: There is no source.
    """
    code = program_code(code)
    first, last = function_extent(code)
    if code.co_name == '<module>':
        first, last = 1, max(1, len(source_lines(code.co_filename)))
    return listing(code.co_filename, first, last, function=code.co_name, current=current, raised=raised, marks=marks)


def function_extent(code: CodeType) -> tuple[int, int]:
    """First and last line of a function's text."""
    lines = source_lines(code.co_filename)
    first = code.co_firstlineno
    if 0 < first <= len(lines):
        block = inspect.getblock([line + '\n' for line in lines[first - 1:]])
        return first, first + max(len(block), 1) - 1
    return first, max((line for _, _, line in code.co_lines() if line is not None), default=first)
