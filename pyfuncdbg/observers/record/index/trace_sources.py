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
from pyfuncdbg.observers.record.index.decode import listed, number, text
from pyfuncdbg.observers.record.index.trace_index import Index
from pyfuncdbg.observers.record.log.call_batch import unpacked
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
    around,
    excerpt_of,
    lines_of,
    within,
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
        for name in (self.filename, *_near(self.filename)):
            file = candidate(name)
            if file is None:
                continue
            present = True
            if file.size == self.size and (lines := lines_if_equal(file, self.key)) is not None:
                return (name if name == self.filename else file.path), lines
        return DIFFERS if present else NOT_HERE


class TraceSources:
    """The texts that the logs of one trace hold; reads on where it has ended when it is asked again."""

    def __init__(self, index: Index, lock: threading.RLock) -> None:
        self._index = index
        self._lock = lock
        self._versions: dict[int, dict[int, _Version]] = {}
        """By process and number."""
        self._read: dict[int, int] = {}

    def clear(self) -> None:
        """Forget everything: the index is another now."""
        self._versions.clear()
        self._read.clear()

    def function(self, process: int, version: int, line: int, count: int) -> str:
        """The text of a function of so many lines, '' if the trace does not hold all of it."""
        known = self._of(process).get(version)
        lines = known.lines if known is not None else {}
        if not 0 < count <= len(lines) or any(at not in lines for at in range(line, line + count)):
            return ''
        if sum(len(lines[at]) for at in range(line, line + count)) > _LONGEST_FUNCTION:
            return ''
        return ''.join(f'{lines[at]}\n' for at in range(line, line + count))

    def reader(self, site: SiteRecord, versions: tuple[int, ...] | None = None) -> SourceReader:
        """The reader of what a record of a site names.

        Args:
            site: Whose function may hold the line.
            versions: Numbers of the texts that its process had loaded then; None: the trace says nothing of that.
        """
        return site.source_at if versions is None else partial(self._around, site, versions)

    def _around(self, site: SiteRecord, versions: tuple[int, ...], filename: str, line: int) -> SourceText:
        if site.source and filename == site.filename and (own := within(site.line, site.source, line)) is not None:
            return own
        try:
            with self._lock:                    # another thread may be reading on
                known = self._of(site.process)
                here = [known[version] for version in versions if version in known and known[version].filename == filename]
                version = here[-1] if here else next((one for one in reversed(known.values()) if one.filename == filename),
                                                     None)
                found = around(version.lines, line) if version is not None else None
        except (TraceError, OSError, ValueError):
            return SourceText(missing=_CLOSED)
        if version is None:
            return SourceText()
        if found is None:
            local = version.local()
            found = SourceText(missing=local) if isinstance(local, str) else excerpt_of(local[1], line)
        return found if found is not None else SourceText()

    def file(self, filename: str) -> FileText:
        """The last text of one file, as far as it is known."""
        found = [version for process in sorted(self._index.sources) for version in self._of(process).values()
                 if version.filename == filename]
        if not found:
            return FileText()
        version, keys = found[-1], {version.key for version in found}
        local = version.local()
        if isinstance(local, str):
            lines = {at: text for other in found if other.key == version.key for at, text in other.lines.items()}
            return FileText(lines, 0, '', _whole(version, lines, local), len(keys))
        return FileText(dict(enumerate(local[1], 1)), len(local[1]), local[0], '', len(keys))

    def _of(self, process: int) -> dict[int, _Version]:
        """The texts of a process, by number."""
        known = self._versions.setdefault(process, {})
        positions = self._index.sources.get(process, [])
        for position in positions[self._read.get(process, 0):]:
            self._read[process] = self._read.get(process, 0) + 1
            try:
                _take(known, unpacked(self._index.reader(process).record(position).payload))
            except (ValueError, TypeError, OverflowError):
                continue                        # damaged or hostile: treat the source as not recorded
        return known


def checked(fields: Any) -> tuple[int, str, int, bytes, list[tuple[int, str]]]:
    """The number of a text in its log, its file's name, size and hash, and some of its lines.

    Raises:
        ValueError: They are something else.
    """
    version, filename, size, key, parts = listed(fields, 5)
    if not isinstance(key, bytes) or len(key) not in (0, KEY_SIZE):
        raise ValueError('wrong hash of a source file')
    return (number(version), text(filename), number(size), key,
            [(number(first), text(part)) for first, part in (listed(part, 2) for part in listed(parts))])


def _take(known: dict[int, _Version], fields: Any) -> None:
    number_, filename, size, key, parts = checked(fields)
    version = known.setdefault(number_, _Version(filename, size, key))
    if (version.filename, version.key) != (filename, key):
        raise ValueError('two files under one number')
    for first, part in parts:
        lines = lines_of(part)
        if first < 1 or len(version.lines) + len(lines) > _MOST_LINES:
            raise ValueError('wrong lines')
        version.lines.update(enumerate(lines, first))


def _near(filename: str) -> Iterator[str]:
    """Candidate paths of the file on this machine: under the current folder by the end of its path, the longest first."""
    try:
        here = os.getcwd()
    except OSError:                             # it was removed
        return
    parts = [part for part in filename.replace('\\', '/').split('/') if part not in ('', '.', '..')]
    for start in range(max(0, len(parts) - _DEEPEST), len(parts)):
        yield os.path.join(here, *parts[start:])


def _whole(version: _Version, lines: dict[int, str], missing: str) -> str:
    """The reason why lines may be missing; '' of a text that the trace holds from end to end, such as a cell's."""
    size = sum(len(line.encode('utf-8', 'surrogatepass')) + 1 for line in lines.values())
    return '' if lines and size >= version.size and max(lines) == len(lines) else missing or NOT_RECORDED
