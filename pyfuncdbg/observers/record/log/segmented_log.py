"""The log of one process as one sequence of records, whatever number of segments it is cut into.

Used by the index of a trace and by copies of one, one thread at a time. A place in it is one number: the segment above, the
byte in its file below, so that places stay the same when other segments come or go.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from pyfuncdbg.errors import TraceError, TraceVersionError
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack
from pyfuncdbg.observers.record.log.log_file import HEADER_SIZE, REMOVED, LogFrame, LogReader
from pyfuncdbg.observers.record.log.log_names import ProcessLog

_OFFSET_BITS = 40
"""Bytes of a segment that have places: 1 TB."""
LARGEST_SEGMENT = 1 << _OFFSET_BITS


class SegmentedLog:
    """The records of one process, as far as its segments are there and whole.

    Args:
        log: The files.
        keep: Asked whether another file may stay open.

    Attributes:
        open_files: How many stay open.
        stop_reason: Why the last `frames` stopped before the end of the last segment, '' if it did not.
    """

    __slots__ = ('_before', '_keep', '_log', '_readers', '_removed', 'open_files', 'stop_reason')

    def __init__(self, log: ProcessLog, keep: Callable[[], bool] = lambda: True) -> None:
        """Open the first segment that can be.

        Raises:
            NotATraceError, TraceVersionError, TraceError: None is a log, one is from a newer version, or all are unreadable.
        """
        self._log = log
        self._keep = keep
        self._readers: dict[int, LogReader] = {}
        self.open_files = 0
        self._before = (0, 0)
        """A segment, and the bytes in those before it, which do not change."""
        self._removed = 0
        """The last segment that its process has removed, of those behind the first."""
        self.stop_reason = ''
        failure: TraceError | None = None
        for number in log.segments:
            try:
                self._reader(number)
                return
            except TraceVersionError:
                raise
            except TraceError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _reader(self, number: int) -> LogReader:
        reader = self._readers.get(number)
        if reader is None:
            path = self._log.segments.get(number)
            if path is None:
                raise TraceError(f'{self._log.path}: its segment {number} is missing')
            keep = self._keep()
            reader = self._readers[number] = LogReader(path, keep=keep)
            self.open_files += keep
        return reader

    def grow(self, log: ProcessLog) -> bool:
        """Take up the segments that were added.

        Args:
            log: The files that are there now.

        Returns:
            False if one that was there is gone, or the first was written anew: then places are worth nothing.
        """
        known, self._log = self._log, log
        return known.segments.keys() <= log.segments.keys() and self.is_current()

    def is_current(self) -> bool:
        """Whether the first segment is the one that was opened.

        Returns:
            False if its process has removed another, and thus written the first anew.
        """
        first = next(iter(self._readers.values()))
        return len(self._log.segments) == 1 or first.is_in_place()

    @property
    def size(self) -> int:
        """Bytes in its files now."""
        return sum(self._size(number) for number in self._log.segments)

    def _size(self, number: int) -> int:
        try:
            return self._reader(number).size
        except TraceVersionError:
            raise
        except TraceError:
            return 0

    def bytes_before(self, position: int) -> int:
        """Bytes in its files before a place.

        Args:
            position: The place.

        Returns:
            How many.
        """
        number, offset = divmod(position, LARGEST_SEGMENT)
        if self._before[0] != number:
            self._before = number, sum(self._size(one) for one in self._log.segments if one < number)
        return offset + self._before[1]

    def reaches(self, position: int) -> bool:
        """Whether it still has bytes up to a place.

        Args:
            position: The place.

        Returns:
            False if the file is shorter.
        """
        number, offset = divmod(position, LARGEST_SEGMENT)
        return self._size(number) >= offset

    def locate(self, position: int) -> tuple[str, int, int]:
        """The file and the byte of a place, for messages.

        Args:
            position: The place.

        Returns:
            The name of the file, the byte in it, and the bytes of the file.
        """
        number, offset = divmod(position, LARGEST_SEGMENT)
        return self._log.segments.get(number, self._log.path).name, offset, self._size(number)

    def frames(self, start: int, report: Callable[[int, str], None]) -> Iterator[LogFrame]:
        """Read whole records; stops, and sets `stop_reason`, at the first of the last segment that is torn or damaged.

        Args:
            start: Place of the first.
            report: Called with the place and a sentence for an earlier segment that is not whole, or is missing; the next
                one is read all the same.

        Yields:
            Each record.

        Raises:
            TraceError: The last segment cannot be opened, or a file was replaced.
        """
        self.stop_reason = ''
        number, offset = divmod(start, LARGEST_SEGMENT)
        segments = [one for one in self._log.segments if one >= number]
        for one in segments:
            if 0 < one <= self._removed:        # its process was killed while it removed that
                number = one + 1
                continue
            first = max(number, self._removed + 1) if self._removed else number
            if one > first:
                self._report_missing(first, one - 1, report)
            try:
                reader = self._reader(one)
            except TraceError as error:
                if one == segments[-1] or isinstance(error, TraceVersionError):
                    raise
                report(one * LARGEST_SEGMENT, str(error))
                number, offset = one + 1, 0
                continue
            # A later segment is begun when this one is complete, so what is torn here stays so.
            position = one * LARGEST_SEGMENT + max(offset, HEADER_SIZE)
            for frame in reader.frames(offset, one * LARGEST_SEGMENT):
                position = frame.position + frame.length
                if frame.kind == REMOVED:
                    with contextlib.suppress(ValueError):       # damaged, which the index reports
                        self._removed = removed_segments(frame.payload)[0]
                yield frame
            if one == segments[-1]:
                self.stop_reason = reader.stop_reason
            elif reader.stop_reason:
                report(position, f'{reader.path.name}: {reader.stop_reason} at byte {position % LARGEST_SEGMENT} of '
                                 f'{reader.size}; the records behind it are lost')
            number, offset = one + 1, 0

    def _report_missing(self, first: int, last: int, report: Callable[[int, str], None]) -> None:
        which = f'segment {first} is' if first == last else f'segments {first} to {last} are'
        report(first * LARGEST_SEGMENT, f'{self._log.path.name}: {which} missing; its calls are lost')

    def read(self, position: int, length: int) -> bytes:
        """Read bytes.

        Args:
            position: Place of the first.
            length: How many.

        Returns:
            The bytes; fewer at the end of the segment.

        Raises:
            TraceError: The segment is missing, or was replaced.
        """
        number, offset = divmod(position, LARGEST_SEGMENT)
        return self._reader(number).read(offset, length)

    def record(self, start: int) -> LogFrame:
        """Read the record at a known place.

        Args:
            start: Its place.

        Returns:
            The record.

        Raises:
            TraceError: There is no whole record.
        """
        number, offset = divmod(start, LARGEST_SEGMENT)
        return self._reader(number).record(offset)

    def close(self) -> None:
        """Close the files; closing twice is allowed."""
        for reader in self._readers.values():
            reader.close()


def removed_segments(payload: bytes) -> tuple[int, int]:
    """Decode the record of what a process has removed of its log.

    Args:
        payload: Of the record.

    Returns:
        The number of the last segment that was removed, and the calls in all that were.

    Raises:
        ValueError: It is damaged.
    """
    content = decode_msgpack(payload)
    if not isinstance(content, list) or [type(number) for number in content] != [int, int] or min(content) < 0:
        raise ValueError('expected a segment and a number of calls')
    return content[0], content[1]
