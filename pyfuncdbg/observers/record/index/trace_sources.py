"""Source text of a trace: lines in the trace itself, else of a local file with the recorded hash.

Asked by records for their own lines and by `Trace.source` for a whole file, under the lock of the trace.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.index.decode import list_of, number, text
from pyfuncdbg.observers.record.index.trace_index import Index
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack
from pyfuncdbg.observers.record.log.log_file import KEY_SIZE
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.sources.local_source import candidate, lines_if_equal
from pyfuncdbg.observers.record.sources.source_text import (
    CHANGED,
    DIFFERS,
    NOT_HERE,
    NOT_RECORDED,
    FileText,
    SourceReader,
    SourceText,
    file_excerpt,
    known_excerpt,
    lines_of,
    text_with_line,
)

_MOST_LINES = 1 << 20
"""Lines of a file that are remembered; the longest file that is recorded has fewer."""
_LONGEST_FUNCTION = 64 << 10
"""Characters; of longer ones no recorder keeps the text."""
_DEEPEST = 4
"""Folders of a recorded path that are looked for below the current one."""
_CLOSED = 'the trace is closed'


@dataclass(slots=True)
class _Version:
    """One text of one file, as one process loaded it."""

    filename: str
    size: int
    key: bytes
    lines: dict[int, str] = field(default_factory=dict)

    def local(self) -> tuple[str, tuple[str, ...]] | str:
        """Path and lines of the local file that equals it; why there is none."""
        if not self.key:
            return CHANGED
        present = False
        for name in (self.filename, *_candidate_paths(self.filename)):
            file = candidate(name)
            if file is None:
                continue
            present = True
            if file.size == self.size and (lines := lines_if_equal(file, self.key)) is not None:
                return (name if name == self.filename else file.path), lines
        return DIFFERS if present else NOT_HERE


class TraceSources:
    """The source texts that the logs of one trace hold; each query first reads the records that were added.

    Args:
        index: Of the trace.
        lock: Of the trace.
    """

    def __init__(self, index: Index, lock: threading.RLock) -> None:
        self._index = index
        self._lock = lock
        self._versions: dict[int, dict[int, _Version]] = {}
        """By process and number."""
        self._read: dict[int, int] = {}

    def clear(self) -> None:
        """Forget everything: the index starts over."""
        self._versions.clear()
        self._read.clear()

    def function(self, process: int, version: int, line: int, count: int) -> str:
        """The text of a function.

        Args:
            process: Number of its process.
            version: Number of the text of its file.
            line: Its first line.
            count: Its number of lines.

        Returns:
            '' if the trace does not hold all of it.
        """
        text = self._versions_of(process).get(version)
        lines = text.lines if text is not None else {}
        if not 0 < count <= len(lines) or any(at not in lines for at in range(line, line + count)):
            return ''
        if sum(len(lines[at]) for at in range(line, line + count)) > _LONGEST_FUNCTION:
            return ''
        return ''.join(f'{lines[at]}\n' for at in range(line, line + count))

    def reader(self, site: SiteRecord, versions: tuple[int, ...] | None = None) -> SourceReader:
        """The reader of the lines that a record of a site names.

        Args:
            site: Whose function may hold the line.
            versions: Numbers of the texts that its process had loaded; None if the trace has none.

        Returns:
            A function of file name and line.
        """
        return site.source_at if versions is None else partial(self._read_around, site, versions)

    def _read_around(self, site: SiteRecord, versions: tuple[int, ...], filename: str, line: int) -> SourceText:
        if site.source and filename == site.filename and (own := text_with_line(site.line, site.source, line)) is not None:
            return own
        try:
            with self._lock:                    # another thread may be reading on
                texts = self._versions_of(site.process)
                loaded = [texts[version] for version in versions if version in texts and texts[version].filename == filename]
                version = loaded[-1] if loaded else next(
                    (one for one in reversed(texts.values()) if one.filename == filename), None)
                excerpt = known_excerpt(version.lines, line) if version is not None else None
        except (TraceError, OSError, ValueError):
            return SourceText(missing=_CLOSED)
        if version is None:
            return SourceText()
        if excerpt is None:
            local = version.local()
            excerpt = SourceText(missing=local) if isinstance(local, str) else file_excerpt(local[1], line)
        return excerpt if excerpt is not None else SourceText()

    def file(self, filename: str) -> FileText:
        """The last text of one file.

        Args:
            filename: As the trace names it.

        Returns:
            The text, as far as it is known.
        """
        versions = [version for process in sorted(self._index.sources) for version in self._versions_of(process).values()
                 if version.filename == filename]
        if not versions:
            return FileText()
        version, keys = versions[-1], {version.key for version in versions}
        local = version.local()
        if isinstance(local, str):
            lines = {at: text for other in versions if other.key == version.key for at, text in other.lines.items()}
            return FileText(lines, 0, '', _missing_reason(version, lines, local), len(keys))
        return FileText(dict(enumerate(local[1], 1)), len(local[1]), local[0], '', len(keys))

    def _versions_of(self, process: int) -> dict[int, _Version]:
        """The texts of a process, by number."""
        versions = self._versions.setdefault(process, {})
        positions = self._index.sources.get(process, [])
        for position in positions[self._read.get(process, 0):]:
            self._read[process] = self._read.get(process, 0) + 1
            try:
                _add_version(versions, decode_msgpack(self._index.reader(process).record(position).payload))
            except (ValueError, TypeError, OverflowError):
                continue                        # damaged or hostile: treat the source as not recorded
        return versions


def source_fields(fields: Any) -> tuple[int, str, int, bytes, list[tuple[int, str]]]:
    """Check a record of source lines.

    Args:
        fields: The record, decoded from msgpack.

    Returns:
        The number of the text in its log, its file's name, size and hash, and lines: each run of them with its first number.

    Raises:
        ValueError: It is something else.
    """
    version, filename, size, key, parts = list_of(fields, 5)
    if not isinstance(key, bytes) or len(key) not in (0, KEY_SIZE):
        raise ValueError('wrong hash of a source file')
    return (number(version), text(filename), number(size), key,
            [(number(first), text(part)) for first, part in (list_of(part, 2) for part in list_of(parts))])


def _add_version(versions: dict[int, _Version], fields: Any) -> None:
    number_, filename, size, key, parts = source_fields(fields)
    version = versions.setdefault(number_, _Version(filename, size, key))
    if (version.filename, version.key) != (filename, key):
        raise ValueError('two files under one number')
    for first, part in parts:
        lines = lines_of(part)
        if first < 1 or len(version.lines) + len(lines) > _MOST_LINES:
            raise ValueError('wrong lines')
        version.lines.update(enumerate(lines, first))


def _candidate_paths(filename: str) -> Iterator[str]:
    """Candidate paths of the file on this machine: under the current folder by the end of its path, the longest first."""
    try:
        directory = os.getcwd()
    except OSError:                             # it was removed
        return
    parts = [part for part in filename.replace('\\', '/').split('/') if part not in ('', '.', '..')]
    for start in range(max(0, len(parts) - _DEEPEST), len(parts)):
        yield os.path.join(directory, *parts[start:])


def _missing_reason(version: _Version, lines: dict[int, str], missing: str) -> str:
    """The reason why lines may be missing; '' of a text that the trace holds from end to end, such as a cell's."""
    size = sum(len(line.encode('utf-8', 'surrogatepass')) + 1 for line in lines.values())
    return '' if lines and size >= version.size and max(lines) == len(lines) else missing or NOT_RECORDED
