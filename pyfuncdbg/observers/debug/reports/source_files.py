"""Source files of a recorded program: the nodes, functions and calls of each file and line, with their costs.

Made from a trace, on any thread. Reads no file: the text is the views' and the commands' affair. An annotated source file,
which `ps` shows, is filled by the command, which reads the text; the trace may be of another machine, or the file another
than was recorded.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.debug.inspecting.creation_line import creation_line, forward_sites, twin_key, unlocated_reason
from pyfuncdbg.observers.record.index.site_usage import SiteTime
from pyfuncdbg.observers.record.records import SiteRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

Role = Literal['made', 'function']


@dataclass(frozen=True, slots=True)
class LineMark:
    """Relation of one line to one node.

    Attributes:
        role: The line made the node; or it begins the function that the node calls.
        site: Its site; of a wrapped function, the Python one.
        time: What its calls cost; None if it did not run.
    """

    role: Role
    site: SiteRecord
    time: SiteTime | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file of the recorded program.

    Attributes:
        filename: As recorded.
        users: Whether it is the program's own.
        nodes: How many were made there.
        functions: How many wrapped functions are in it.
        calls, failed: How often its nodes and functions ran, and raised.
        own: Seconds of their own.
        missing: Why lines of it may be missing, '' if all can be shown or the text was not requested.
    """

    filename: str
    users: bool
    nodes: int
    functions: int
    calls: int
    failed: int
    own: float
    missing: str = ''


@dataclass(frozen=True, slots=True)
class FileList:
    """Files that passed the filters: `total` in all; `libraries` more belong to libraries, `missing_lines` nodes to none."""

    rows: tuple[SourceFile, ...]
    total: int
    libraries: int
    missing: MissingLines
    filters: dict[str, object]
    sort: str


def marks_by_line(trace: Trace, run: int | None = None) -> dict[str, dict[int, list[LineMark]]]:
    """By file and line: the nodes that were made there, and the functions that begin there; most costly first."""
    sites = trace.sites()
    times = {(time.site.process, time.site.id): time for time in trace.profile(run)}
    forward = forward_sites(sites)
    found: dict[str, dict[int, list[LineMark]]] = {}
    for site in _without_twins(sites):
        time = times.get((site.process, site.id))
        frame = creation_line(site, forward)
        if frame is not None:
            found.setdefault(frame.filename, {}).setdefault(frame.line, []).append(LineMark('made', site, time))
        if site.function and site.filename and site.line:
            found.setdefault(site.filename, {}).setdefault(site.line, []).append(LineMark('function', site, time))
    for lines in found.values():
        for marks in lines.values():
            marks.sort(key=lambda mark: (mark.role != 'function', -(mark.time.own if mark.time is not None else -1.0)))
    return found


@dataclass(frozen=True, slots=True)
class MissingLines:
    """Counts of nodes without a line: made before their host was attached to, or read from a GraphDef."""

    before_attachment: int = 0
    imported: int = 0


NONE_MISSING = MissingLines()


def missing_lines(trace: Trace) -> MissingLines:
    """The nodes of a trace whose lines are not known."""
    reasons = [unlocated_reason(site.attrs) for site in _without_twins(trace.sites())]
    return MissingLines(reasons.count('before'), reasons.count('imported'))


def _without_twins(sites: Iterable[SiteRecord]) -> list[SiteRecord]:
    """Sites that are places of the program; a wrapped function represents the step of the graph around it."""
    known = list(sites)
    python = {twin_key(site) for site in known if site.kind == 'python'}
    return [site for site in known if site.kind in ('python', 'op', 'gradient')
            and not (site.kind == 'op' and 'token' in site.attrs and twin_key(site) in python)]


def files_of(marks: Mapping[str, Mapping[int, list[LineMark]]]) -> list[SourceFile]:
    """The files, most time first."""
    files = []
    for filename, lines in marks.items():
        marks_of_file = [mark for line in lines.values() for mark in line]
        created = [mark for mark in marks_of_file if mark.role == 'made' and mark.site.kind != 'gradient']
        times = {(mark.site.process, mark.site.id): mark.time for mark in marks_of_file if mark.time is not None}
        files.append(SourceFile(filename, is_program_file(filename),
                                len({(mark.site.process, mark.site.id) for mark in created}),
                                len({(mark.site.function, mark.site.line) for mark in marks_of_file
                                     if mark.role == 'function'}),
                                sum(time.calls for time in times.values()), sum(time.failed for time in times.values()),
                                sum(time.own for time in times.values())))
    return sorted(files, key=lambda file: (-file.own, file.filename))


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
        text: '' if unknown; `has_text` says whether it is known.
        own: Seconds that its nodes took; functions count at the line that made them.
        nodes: Those that are listed; `hidden_nodes` further ones are not.
    """

    number: int
    text: str
    has_text: bool
    own: float
    nodes: tuple[MarkedNode, ...]
    hidden_nodes: int


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
    """A file and the options of its listing; `missing_lines` nodes belong to no file."""

    source: AnnotatedSource
    missing: MissingLines
    filters: dict[str, object]
