"""The log that a process is writing, in segments: where one has its size, the next is begun.

Used by the journal, and by copies of a trace, one thread at a time.
"""
from __future__ import annotations

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
    """The end of a log.

    Attributes:
        number: Of the segment that is being written.
        file: The file of that segment.
    """

    __slots__ = ('_before', '_first', '_segment', '_written', 'file', 'number')

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
        self.file = LogFile(path)

    @property
    def written(self) -> int:
        """Bytes given to the system so far, those of a record in the making included."""
        return self._written + self.file.written

    @property
    def is_full(self) -> bool:
        """Whether the segment has its size."""
        return self.file.size >= self._segment and self.number + 1 < MOST_SEGMENTS

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
        before, self.file = self.file, following
        self.number += 1
        self._before += before.size
        self._written += before.written
        before.close()

    def largest_size(self) -> tuple[int, int]:
        """The size of all segments together to which the disk lets them grow, as far as is known.

        Returns:
            The size in bytes, and the `errno` of what would prevent more.
        """
        size, why = self.file.largest_size()
        return self._before + size, why
