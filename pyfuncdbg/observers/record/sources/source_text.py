"""Source lines of a recorded program as plain data: lines of one file, or why there are none.

Records answer with it, views draw it; neither opens a file. Any thread.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

NOT_RECORDED = 'source not recorded'
DIFFERS = 'source differs from the recording'
NOT_HERE = 'source not recorded, file not on this machine'
CHANGED = 'source not recorded, the file may have changed since the program loaded it'


@dataclass(frozen=True, slots=True)
class SourceText:
    """Lines of one file around the one that was asked for.

    Attributes:
        first: Number of the first of them.
        lines: Without line ends.
        missing: Why the line is not among them, '' if it is.
    """

    first: int = 0
    lines: tuple[str, ...] = ()
    missing: str = NOT_RECORDED

    def line(self, number: int) -> str:
        """One line without its indentation.

        Args:
            number: Of the line.

        Returns:
            '' if it is not among these.
        """
        return self.lines[number - self.first].strip() if 0 <= number - self.first < len(self.lines) else ''

    def only_line(self, number: int) -> SourceText:
        """One line alone, with its indentation.

        Args:
            number: Of the line.

        Returns:
            The line; this text itself if it is missing.
        """
        return self if self.missing else SourceText(number, self.lines[number - self.first:number - self.first + 1], '')


NOT_LOADED = SourceText(missing='source not loaded')


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of one file, as far as it is known.

    Attributes:
        lines: By number.
        length: Lines of the whole file, 0 if unknown.
        read: Path of the local file that the text is from, '' if it is from the trace.
        missing: Why lines may be missing, '' if all are here.
        versions: How many texts the file had while it was recorded.
    """

    lines: Mapping[int, str] = field(default_factory=dict)
    length: int = 0
    read: str = ''
    missing: str = NOT_RECORDED
    versions: int = 1


class SourceReader(Protocol):
    """Gives the lines around a line that a record names."""

    def __call__(self, filename: str, line: int) -> SourceText:
        """The lines, or why there are none."""


def not_recorded(filename: str, line: int) -> SourceText:
    """The reader of records that come with no text.

    Args:
        filename, line: Of any line.

    Returns:
        The reason why there is none.
    """
    return SourceText()


def lines_of(text: str) -> list[str]:
    """Split a text into lines as Python counts them: form feeds and Unicode's separators end none.

    Args:
        text: The text.

    Returns:
        Lines without line ends.
    """
    return text.removesuffix('\n').split('\n') if text else []


def text_with_line(first: int, text: str, line: int) -> SourceText | None:
    """A text as an excerpt, if it has a line.

    Args:
        first: Number of its first line.
        text: The text.
        line: The line.

    Returns:
        The whole text; None without the line.
    """
    lines = lines_of(text)
    return SourceText(first, tuple(lines), '') if 0 <= line - first < len(lines) else None


def known_excerpt(lines: Mapping[int, str], line: int, most: int = 100) -> SourceText | None:
    """The lines next to one that are known without a gap.

    Args:
        lines: The known ones, by number.
        line: The line.
        most: How many on each side at most.

    Returns:
        The lines; None if `line` is unknown.
    """
    if line not in lines:
        return None
    first = last = line
    while first - 1 in lines and line - first < most:
        first -= 1
    while last + 1 in lines and last - line < most:
        last += 1
    return SourceText(first, tuple(lines[number] for number in range(first, last + 1)), '')


def file_excerpt(lines: Sequence[str], line: int, most: int = 100) -> SourceText | None:
    """The lines of a file next to one.

    Args:
        lines: Of the whole file.
        line: The line.
        most: How many on each side at most.

    Returns:
        The lines; None if the file has no such line.
    """
    if not 0 < line <= len(lines):
        return None
    first = max(1, line - most)
    return SourceText(first, tuple(lines[first - 1:line + most]), '')
