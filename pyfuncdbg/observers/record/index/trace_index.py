"""In-memory index of a trace: where everything is in its logs, and what calls can be found by.

It is derived from the logs and kept in memory only: an index file that comes with a trace is untrusted input. One of ten
million calls takes two seconds and 200 MB. Filled by `index.indexing`; used by `Trace` under its lock.
"""
from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.index.tables import call_table, run_table
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.log.log_names import ProcessLog, logs
from pyfuncdbg.observers.record.log.segmented_log import SegmentedLog
from pyfuncdbg.observers.record.log.trace_folder import Manifest

_PLACE = struct.Struct('<QQQ')
_MOST_RECENT = 4096
_MOST_OPEN = 64
"""Files of a trace that stay open. A pool that renews its workers leaves thousands, and a process may open 1,024 files."""


@dataclass(slots=True)
class LogState:
    """State of indexing of one log.

    Attributes:
        position: Place up to which it is indexed.
        nbytes: Bytes before that place.
        offset: Nanoseconds from its clock to time since the trace began.
        ended: Its closing record was read.
        last: When something happened in it last, in nanoseconds since the trace began.
        dropped: What the process could not keep.
        removed: Calls that it has removed, to keep newer ones.
        ops: A recorder was asked for the nodes of graphs.
        versions, machine, settings, compiled: As of `TraceInfo`.
    """

    position: int = log_file.HEADER_SIZE
    nbytes: int = 0
    offset: int = 0
    pid: int = 0
    argv: tuple[str, ...] = ()
    python: str = ''
    host: str = ''
    ended: bool = False
    last: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    removed: int = 0
    ops: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ''
    settings: dict[str, str] = field(default_factory=dict)
    compiled: bool | None = None


@dataclass(frozen=True, slots=True)
class SiteEntry:
    """Search keys of a site; `payload` is the whole record, decoded when the site is shown."""

    name: str
    op_type: str
    function: str
    kind: str
    payload: bytes


class BlobPlaces:
    """Places of blobs by content hash. A million take 40 MB; in a dictionary five times that."""

    def __init__(self) -> None:
        self._keys = bytearray()
        self._places = bytearray()
        self._recent: dict[bytes, int] = {}
        """Numbers of those that are not sorted yet: sorting after each would take quadratic time."""
        self._heads: np.ndarray = np.empty(0, np.uint64)
        self._tails: np.ndarray = self._heads
        self._order: np.ndarray = np.empty(0, np.int64)

    def add(self, key: bytes, process: int, position: int, length: int) -> None:
        """Add a blob; of several under one key the first is used.

        Args:
            key: Content hash.
            process: Number of the process in whose log it is.
            position, length: Its first byte there, and how many bytes it has.
        """
        self._recent.setdefault(key, len(self._keys) // log_file.KEY_SIZE)
        self._keys += key
        self._places += _PLACE.pack(process, position, length)
        if len(self._recent) > max(_MOST_RECENT, len(self._order)):
            self._sort()

    def find(self, key: bytes) -> tuple[int, int, int] | None:
        """Find a blob.

        Args:
            key: Content hash.

        Returns:
            Process, first byte and length; None if there is none.
        """
        number = self._sorted_number(key)
        if number is None:
            number = self._recent.get(key)
        return None if number is None else _PLACE.unpack_from(self._places, number * _PLACE.size)

    def _sorted_number(self, key: bytes) -> int | None:
        head, tail = np.frombuffer(key, np.uint64)
        low, high = (int(np.searchsorted(self._heads, head, side)) for side in ('left', 'right'))
        at = low + int(np.searchsorted(self._tails[low:high], tail))
        return int(self._order[at]) if at < high and self._tails[at] == tail else None

    def _sort(self) -> None:
        words = np.frombuffer(bytes(self._keys), np.uint64)
        self._order = np.lexsort((words[1::2], words[::2]))
        self._heads, self._tails = words[::2][self._order], words[1::2][self._order]
        self._recent.clear()


class StatePlaces:
    """Places of the state records of one log, by number. A call may have one of its own: 16 bytes each."""

    def __init__(self) -> None:
        self._numbers = array('q')
        self._positions = array('q')
        self._order: np.ndarray = np.empty(0, np.int64)

    def add(self, number: int, position: int) -> None:
        """Add a record.

        Args:
            number: Of the state.
            position: Byte of its record in the log.
        """
        self._numbers.append(number)
        self._positions.append(position)

    def find(self, number: int) -> int | None:
        """Find a record.

        Args:
            number: Of the state.

        Returns:
            Byte of its record; None if there is none.
        """
        numbers = np.array(self._numbers)
        if len(self._order) != len(numbers):
            self._order = np.argsort(numbers, kind='stable')
        at = int(np.searchsorted(numbers, number, sorter=self._order))
        if at == len(numbers) or numbers[self._order[at]] != number:
            return None
        return self._positions[int(self._order[at])]


class Index:
    """The index and the open logs of one trace. One thread at a time.

    Args:
        path: Folder of the trace.
        manifest: Of the trace.

    Attributes:
        unread: Bytes of the logs that the last `indexing.update` left for the next.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.readers: dict[int, SegmentedLog] = {}
        self._open_files = 0
        self._closed = False
        self.clear()

    def clear(self) -> None:
        """Forget everything, to start over."""
        self.unread = 0
        self.logs: dict[int, LogState] = {}
        self.sites: dict[int, SiteEntry] = {}
        self.plans: dict[tuple[int, int], bytes] = {}
        self.runs = run_table()
        self.calls = call_table()
        self.blobs = BlobPlaces()
        self.notes: dict[tuple[int, int], None] = {}
        self.sources: dict[int, list[int]] = {}
        self.states: dict[int, StatePlaces] = {}
        self.damage: dict[tuple[int, int], str] = {}
        self.damage_counts: dict[int, int] = {}

    def reader(self, process: int) -> SegmentedLog:
        """The log of a process.

        Args:
            process: Number of the process.

        Returns:
            Its reader.

        Raises:
            TraceError: It is gone or unreadable.
        """
        if self._closed:
            raise TraceError(f'{self.path}: the trace is closed')
        reader = self.readers.get(process)
        if reader is None:
            for log in logs(self.path):
                if log.process == process:
                    reader = self.open_log(log)
        if reader is None:
            raise TraceError(f'{self.path}: the log of process {process} is gone')
        return reader

    def open_log(self, log: ProcessLog) -> SegmentedLog:
        """Open the log of a process.

        Args:
            log: Its files.

        Returns:
            Its reader, new.

        Raises:
            NotATraceError, TraceVersionError, TraceError: It is no log, from a newer version, or unreadable.
        """
        reader = self.readers[log.process] = SegmentedLog(log, self._may_keep)
        return reader

    def _may_keep(self) -> bool:
        may = self._open_files < _MOST_OPEN
        self._open_files += may
        return may

    def close_log(self, process: int) -> None:
        """Close the log of a process; it is opened again when it is asked for.

        Args:
            process: Number of the process.
        """
        if (reader := self.readers.pop(process, None)) is not None:
            reader.close()
            self._open_files -= reader.open_files

    def close(self) -> None:
        """Close the logs; closing twice is allowed."""
        self._closed = True
        for reader in self.readers.values():
            reader.close()
        self.readers.clear()


class StaleIndexError(Exception):
    """The index holds more than the logs do; it must be made anew."""
