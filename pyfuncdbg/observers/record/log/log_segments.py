"""The log that a process is writing, in segments: where one has its size, the next is begun.

Used by the journal, and by copies of a trace, one thread at a time.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log.log_file import LogFile
from pyfuncdbg.observers.record.log.log_names import MOST_SEGMENTS, segment_path
from pyfuncdbg.observers.record.log.segmented_log import LARGEST_SEGMENT

USUAL_SEGMENT = 1 << 30
SMALLEST_SEGMENT = 64 << 10


def check_segment(size: int) -> None:
    """Refuse a size that no segment can have.

    Args:
        size: Bytes.

    Raises:
        TraceError: It is too small or too large.
    """
    if not SMALLEST_SEGMENT <= size <= LARGEST_SEGMENT:
        raise TraceError(f'segments of {size} bytes: expected {SMALLEST_SEGMENT} to {LARGEST_SEGMENT}')


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Limits of the log of one process.

    Attributes:
        budget: Bytes on disk, shared by the processes of the trace.
        segment: Bytes from which on a segment is complete.
    """

    budget: int
    segment: int = USUAL_SEGMENT


class LogSegments:
    """The end of a log. Each method as of `LogFile`.

    Attributes:
        number: Of the segment that is being written.
    """

    __slots__ = ('_before', '_file', '_first', '_segment', '_written', 'number')

    def __init__(self, path: Path, segment: int = USUAL_SEGMENT) -> None:
        """Create the first segment.

        Args:
            path: Its path.
            segment: Bytes from which on a segment is complete.

        Raises:
            OSError: It exists or cannot be written.
        """
        self._first = path
        self._segment = segment
        self._before = self._written = self.number = 0
        self._file = LogFile(path)

    @property
    def path(self) -> Path:
        """Path of the segment that is being written."""
        return self._file.path

    @property
    def written(self) -> int:
        """Bytes given to the system so far, those of a record in the making included."""
        return self._written + self._file.written

    @property
    def is_full(self) -> bool:
        """Whether the segment has its size."""
        return self._file.size >= self._segment and self.number + 1 < MOST_SEGMENTS

    def begin_segment(self) -> None:
        """Go on in the next segment.

        Raises:
            OSError: It cannot be made; the segment goes on.
        """
        path = segment_path(self._first, self.number + 1)
        try:
            following = LogFile(path)
        except FileExistsError:                 # of a signal handler that raised just here: it has no record
            self.number += 1
            raise
        except OSError:                         # its header had no room
            path.unlink(missing_ok=True)
            raise
        before, self._file = self._file, following
        self.number += 1
        self._before += before.size
        self._written += before.written
        before.close()

    def largest_size(self) -> tuple[int, int]:
        """The size of all segments to which the disk lets it grow."""
        size, why = self._file.largest_size()
        return self._before + size, why

    def is_in_place(self) -> bool:
        """Whether the path of the segment still leads to it."""
        return self._file.is_in_place()

    def append(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Write whole records; all or nothing stays in the file."""
        self._file.append(pieces)

    def append_blob(self, key: bytes, length: int, chunks: Iterable[bytes]) -> bool:
        """Write a blob whose bytes come in pieces."""
        return self._file.append_blob(key, length, chunks)

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        self._file.close()

