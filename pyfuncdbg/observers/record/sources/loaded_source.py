"""Source files as the program loaded them: their texts, and which lines of them a trace keeps.

Only a text that is proven to be what was loaded is kept: a file may have been edited since. Used by the writer of one log,
one thread at a time.
"""
from __future__ import annotations

import inspect
import linecache
import os
import time
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.hooks.signal_handlers import raise_program_error
from pyfuncdbg.observers.record.array_bytes import digest
from pyfuncdbg.observers.record.sources.local_source import decode_lines, read_regular
from pyfuncdbg.observers.record.sources.matching_code import matches_code, matches_module

AROUND = 2
"""Lines kept before and after one that made a node, warned or raised."""
LONGEST = 64 << 10
"""Characters of the longest function or cell that is kept."""
_MOST = 512
"""Files whose text is held; of more the oldest are read again."""
_TICK = 20_000_000
"""Nanoseconds: how exact the start of a process is."""


class _FileVersion:
    """One text of one file: what of it is in the log, and what waits to be put there."""

    __slots__ = ('blocks', 'filename', 'is_announced', 'kept_lines', 'key', 'lines', 'matches_by_code', 'new_parts',
                 'number', 'proven', 'size', 'stamp')

    def __init__(self, number: int, filename: str, stamp: tuple[int, int] | None, data: bytes, lines: Sequence[str],
                 *, proven: bool) -> None:
        self.number = number
        self.filename = filename
        self.stamp = stamp
        self.lines = lines
        self.size = len(data)
        self.key = digest(data) if lines else b''
        self.proven = proven
        """Whether it is older than the process; else each function is compared with it."""
        self.matches_by_code: dict[CodeType, bool] = {}
        self.blocks: dict[int, int] = {}
        self.kept_lines: set[int] = set()
        self.new_parts: list[list[Any]] = []
        self.is_announced = False

    def keep(self, first: int, last: int) -> None:
        """Let these lines be in the log."""
        run: list[str] = []
        for number in range(max(first, 1), min(last, len(self.lines)) + 2):
            if number <= min(last, len(self.lines)) and number not in self.kept_lines:
                self.kept_lines.add(number)
                run.append(self.lines[number - 1])
            elif run:
                if sum(map(len, run)) <= LONGEST:
                    self.new_parts.append([number - len(run), '\n'.join(run) + '\n'])
                run = []

    def matches(self, code: CodeType) -> bool:
        """Whether a function was compiled from this text."""
        is_equal = True if self.proven else self.matches_by_code.get(code)
        if is_equal is None:
            is_equal = self.matches_by_code[code] = matches_code(code, self.lines)
        return is_equal

    def block(self, code: CodeType) -> int:
        """The number of lines in the text of a function; 0 if it is not there, or too long."""
        first = code.co_firstlineno
        count = self.blocks.get(first)
        if count is None:
            try:
                block = inspect.getblock([line + '\n' for line in self.lines[first - 1:]]) if first > 0 else []
            # A text that is not of this function fails in as many ways as tokenizing does.
            except (tokenize.TokenError, SyntaxError, IndexError, ValueError):
                block = []
            count = self.blocks[first] = len(block) if sum(map(len, block)) <= LONGEST else 0
        name = code.co_name
        if not name.startswith('<') and not any(name in line for line in self.lines[first - 1:first - 1 + count]):
            return 0
        return count


class LoadedSources:
    """The texts of one process, numbered as its log names them."""

    def __init__(self) -> None:
        self._texts: dict[str, _FileVersion] = {}
        self._checked: set[str] = set()
        self._lines: dict[tuple[str, int], int] = {}
        self._count = 0

    def renew(self) -> None:
        """Look again whether files have changed: once for each batch of records."""
        self._checked.clear()
        self._lines.clear()

    def function(self, code: CodeType) -> list[int]:
        """Keep the text of a function.

        Args:
            code: Of the function.

        Returns:
            Number of its file's text, and how many lines the function has there: [0, 0] if unknown.
        """
        text = self._text_of(code.co_filename, code)
        count = text.block(code) if text.matches(code) else 0
        text.keep(code.co_firstlineno, code.co_firstlineno + count - 1)
        return [text.number, count] if count else [0, 0]

    def frames(self, frames: Iterable[Sequence[Any]]) -> list[int]:
        """Keep the lines of the program in a stack.

        Args:
            frames: [file, line, ...] of each.

        Returns:
            Numbers of the texts of their files, each once.
        """
        return list(dict.fromkeys(number for frame in frames if (number := self.line(frame[0], frame[1]))))

    def line(self, filename: str, line: int) -> int:
        """Keep a line and those around it.

        Args:
            filename: Of the line.
            line: Its number, from 1.

        Returns:
            Number of its file's text; 0 if it is no line of the program's.
        """
        number = self._lines.get((filename, line))
        if number is None:
            number = 0
            if line > 0 and filename and is_program_file(filename):
                text = self._text_of(filename)
                text.keep(line - AROUND, line + AROUND)
                number = text.number
            self._lines[filename, line] = number
        return number

    def take_entries(self) -> Iterator[list[Any]]:
        """Take the entries to be put into the log now.

        Yields:
            Of each text its number, file, size, hash and new lines.
        """
        for text in self._texts.values():
            if text.new_parts or not text.is_announced:
                text.is_announced = True
                waiting, text.new_parts = text.new_parts, []
                yield [text.number, text.filename, text.size, text.key, waiting]

    def _text_of(self, filename: str, code: CodeType | None = None) -> _FileVersion:
        """The text that the program runs of a file; one without lines if that is not known."""
        text = self._texts.get(filename)
        if text is not None and filename in self._checked and (text.lines or code is None):
            return text
        self._checked.add(filename)
        stamp = _stamp(filename)
        if text is not None and stamp == text.stamp and (text.lines or code is None):
            return text
        data, lines, proven = _load_text(filename, stamp, code)
        if text is not None and text.lines:
            if digest(data) == text.key:
                text.stamp = stamp             # the time changed, not the text
                return text
            if not lines and (text.proven or _is_loaded_text(filename, text.lines, code)):
                return text                    # edited while the program runs, and not loaded again
        if text is not None and not text.lines and not lines:
            return text
        self._count += 1
        self._texts.pop(filename, None)
        if len(self._texts) >= _MOST:
            self._texts.pop(next(iter(self._texts)))
        text = self._texts[filename] = _FileVersion(self._count, filename, stamp, data, lines, proven=proven)
        if stamp is None and sum(map(len, lines)) <= LONGEST:
            text.keep(1, len(lines))            # a cell: no file will have its text later
        return text


def _load_text(filename: str, stamp: tuple[int, int] | None, code: CodeType | None) -> tuple[bytes, Sequence[str], bool]:
    """The text that the program runs, as bytes and lines, and whether all of its code is of that; no lines if unknown."""
    if stamp is None:                           # a cell of a notebook, or a module in an archive: its loader gives the text
        lines = [line.rstrip('\r\n') for line in linecache.getlines(filename)]
        return ''.join(f'{line}\n' for line in lines).encode('utf-8', 'surrogatepass'), lines, True
    file = read_regular(os.path.realpath(filename))
    if file is None:
        return b'', (), False
    lines, proven = decode_lines(file.data), file.changed <= STARTED + _TICK
    return (file.data, lines, proven) if proven or _is_loaded_text(filename, lines, code) else (b'', (), False)


def _is_loaded_text(filename: str, lines: Sequence[str], code: CodeType | None) -> bool:
    """Whether a function of a file has this text; without one, whether the functions of its module have."""
    return matches_code(code, lines) if code is not None else matches_module(filename, lines)


def _stamp(filename: str) -> tuple[int, int] | None:
    """The time at which a file was changed, and its size; None if there is no such file, or another loader has its text."""
    entry: Any = linecache.cache.get(filename)
    if entry is not None and len(entry) == 4 and entry[1] is None:
        return None
    try:
        status = os.stat(filename)
    except (OSError, ValueError) as error:
        raise_program_error(error)
        return None
    return status.st_mtime_ns, status.st_size


def _process_start() -> int:
    """The start of this process, in nanoseconds since 1970; where the system does not tell, when this module was loaded."""
    now = time.time_ns()
    try:
        with open('/proc/self/stat', 'rb') as file:
            ticks = int(file.read().rpartition(b')')[2].split()[19])
        since = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * 1_000_000_000 // os.sysconf('SC_CLK_TCK')
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(since, 0)


STARTED = _process_start()
"""Start of the first process: its forked children run what it has loaded."""
