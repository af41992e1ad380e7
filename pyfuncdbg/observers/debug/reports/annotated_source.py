"""A source file with what a trace knows of its lines, as plain data: what `ps` shows.

Filled by the command, which reads the text; the trace may be of another machine, or the file another than was recorded.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.observers.debug.reports.source_files import LineMark, MissingLines
from pyfuncdbg.observers.record.records import TensorRecord


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """Relation of a line to a node, with the last value of the node's first output."""

    mark: LineMark
    value: TensorRecord | None


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """A source line with its nodes.

    Attributes:
        number: From 1.
        text: '' if unknown; `known` says whether it is known.
        own: Seconds that its nodes took; functions count at the line that made them.
        nodes: Those that are listed; `more` further ones are not.
    """

    number: int
    text: str
    known: bool
    own: float
    nodes: tuple[MarkedNode, ...]
    more: int


@dataclass(frozen=True, slots=True)
class AnnotatedSource:
    """Some lines of a file.

    Attributes:
        filename: As recorded.
        read: The local file that the text is from; '' if it is from the trace, or unknown.
        warnings: How that differs from what was recorded.
        lines: In order; gaps are lines that have nothing to tell.
        length: Lines of the whole file; 0 if unknown.
        marked: How many lines have something to tell; `shown` of them are among `lines`.
        nodes, calls, own: Of the whole file.
        current: Line that runs next, 0 if none is here.
        breakpoints: Lines with a breakpoint.
    """

    filename: str
    read: str
    warnings: tuple[str, ...]
    lines: tuple[AnnotatedLine, ...]
    length: int
    marked: int
    shown: int
    nodes: int
    calls: int
    own: float
    current: int
    breakpoints: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedListing:
    """A file and the options of its listing; `missing` nodes belong to no file."""

    source: AnnotatedSource
    missing: MissingLines
    filters: dict[str, object]
