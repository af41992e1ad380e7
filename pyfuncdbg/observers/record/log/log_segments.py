"""The log that a process is writing, in segments: where one has its size, the next is begun.

Used by the journal, and by copies of a trace, one thread at a time.
"""
from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log.compaction import Compaction, remove_segment
from pyfuncdbg.observers.record.log.log_file import LogFile
from pyfuncdbg.observers.record.log.log_names import MOST_SEGMENTS, segment_path
from pyfuncdbg.observers.record.log.segmented_log import LARGEST_SEGMENT

USUAL_SEGMENT = 1 << 30
SMALLEST_SEGMENT = 64 << 10
_FEWEST, _USUAL_NUMBER = 4, 8
"""Segments of a log that keeps its newest calls, while its process is the only one."""


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Limits of the log of one process.

    Attributes:
        budget: Bytes on disk, shared by the processes of the trace.
        segment: Bytes from which on a segment is complete.
        keep_newest: Remove the oldest segment where room is short, rather than leave out new calls.
    """

    budget: int
    segment: int = USUAL_SEGMENT
    keep_newest: bool = False


def log_limits(budget: int, segment: int | None, keep_newest: bool) -> LogLimits:
    """The limits of the logs of a trace.

    Args:
        budget: As of `LogLimits`.
        segment: The same; by default 1 GiB, and with `keep_newest` an eighth of the budget if that is less.
        keep_newest: The same.

    Returns:
        The limits.

    Raises:
        TraceError: A segment of this size is too small or too large.
    """
    largest = max(budget // _FEWEST, SMALLEST_SEGMENT) if keep_newest else LARGEST_SEGMENT
    if segment is None:
        segment = fair_segment(budget) if keep_newest else USUAL_SEGMENT
    if not SMALLEST_SEGMENT <= segment <= largest:
        why = ', a quarter of what the budget has for logs, where the newest calls are kept,' if keep_newest else ''
        raise TraceError(f'segments of {segment:,} bytes: expected {SMALLEST_SEGMENT:,} to {largest:,}{why}')
    return LogLimits(budget, segment, keep_newest)


def fair_segment(room: int, largest: int = USUAL_SEGMENT) -> int:
    """The size of a segment where the oldest is removed for want of room.

    Args:
        room: Bytes that the log may take.
        largest: Bytes of a segment, at most.

    Returns:
        An eighth of the room, if that is neither too small nor too large.
    """
    return min(largest, max(room // _USUAL_NUMBER, SMALLEST_SEGMENT))


class LogSegments:
    """The end of a log.

    Attributes:
        number: Of the segment that is being written.
        file: The file of that segment.
        segment: Bytes from which on a segment is complete.
    """

    __slots__ = ('_compaction', '_first', '_next', '_sizes', '_written', 'file', 'number', 'segment')

    def __init__(self, path: Path, segment: int = USUAL_SEGMENT) -> None:
        """Create the first segment.

        Args:
            path: Its path.
            segment: Bytes from which on a segment is complete.

        Raises:
            OSError: It exists or cannot be written.
        """
        self._first = path
        self.segment = segment
        self._sizes: dict[int, int] = {}
        """Bytes of the segments that are complete."""
        self._compaction = Compaction()
        self._written = self.number = 0
        self._next = 1
        self.file = LogFile(path)

    @property
    def written(self) -> int:
        """Bytes given to the system so far, those of a record in the making included."""
        return self._written + self.file.written

    @property
    def is_full(self) -> bool:
        """Whether the segment has its size."""
        return self.file.size >= self.segment and self._next < MOST_SEGMENTS

    def begin_segment(self) -> None:
        """Go on in the next segment.

        Raises:
            OSError: It cannot be made; the segment goes on.
        """
        path = segment_path(self._first, self._next)
        try:
            following = LogFile(path)
        except FileExistsError:                 # of a signal handler that raised just here: it has no record
            self._sizes[self._next] = 0
            self._next += 1
            raise
        except OSError:                         # its header had no room
            path.unlink(missing_ok=True)
            raise
        before, self.file = self.file, following
        self._sizes[self.number] = before.size
        self.number, self._next = self._next, self._next + 1
        self._written += before.written
        before.close()

    def largest_size(self) -> tuple[int, int]:
        """The size of all segments together to which the disk lets them grow, as far as is known.

        Returns:
            The size in bytes, and the `errno` of what would prevent more.
        """
        size, why = self.file.largest_size()
        return sum(self._sizes.values()) + size, why

    @property
    def oldest(self) -> int | None:
        """Number of the oldest segment with calls, if it is complete."""
        number = self._compaction.number + 1
        return number if number in self._sizes else None

    def remove_oldest(self, states: Container[int] | None) -> int:
        """Remove the oldest segment with calls.

        Args:
            states: Numbers of the states that later calls may name; None if that is not known.

        Returns:
            How many bytes less the log has now.

        Raises:
            OSError, TraceError: It cannot be, for want of room, say.
        """
        before = sum(self._sizes.values())
        self._compaction = remove_segment(self._first, self._compaction, states)
        if self._compaction.number:
            del self._sizes[self._compaction.number]
        self._sizes[0] = self._compaction.size
        return before - sum(self._sizes.values())
