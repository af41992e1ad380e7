"""Names of the logs in a trace: PID-PROCESS.log, and PID-PROCESS.SEGMENT.log of the segments that follow the first.

A log is cut into segments so that no file grows without end. Asked by the writer of a log, and by readers of a trace.
"""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import TraceError

MOST_SEGMENTS = 1 << 22
"""Segments of one log, at most; the last one grows without end."""
_LOG_NAME = re.compile(r'(\d{1,10})-(\d{4,9})(?:\.([1-9]\d{0,6}))?\.log', re.ASCII)


@dataclass(frozen=True, slots=True)
class ProcessLog:
    """The log of one process.

    Attributes:
        process: Number of the process.
        segments: Its files by number, in order; the first is 0.
    """

    process: int
    segments: dict[int, Path]

    @property
    def path(self) -> Path:
        """Path of the first segment that is there."""
        return next(iter(self.segments.values()))

    @property
    def nbytes(self) -> int:
        """Bytes of all segments.

        Raises:
            OSError: One is gone.
        """
        return sum(path.lstat().st_size for path in self.segments.values())


def log_path(folder: Path, process: int) -> Path:
    """The path for the log of this process.

    Args:
        folder: Of the trace.
        process: How many processes record into the trace, this one included.

    Returns:
        The path of its first segment.
    """
    return folder / f'{os.getpid()}-{process:04d}.log'


def segment_path(first: Path, number: int) -> Path:
    """The path of a segment.

    Args:
        first: The path of the first.
        number: 0 for that.

    Returns:
        The path.
    """
    return first.with_name(f'{first.name.partition(".")[0]}.{number}.log') if number else first


def logs(folder: Path) -> list[ProcessLog]:
    """The logs in a trace.

    Args:
        folder: Of the trace.

    Returns:
        One of each process, in order.

    Raises:
        TraceError: The folder cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise TraceError(f'{folder}: cannot be read: {error.strerror}') from error
    by_process: dict[int, dict[str, dict[int, Path]]] = {}
    for name in names:
        match = _LOG_NAME.fullmatch(name)
        if match is not None and int(match[3] or 0) < MOST_SEGMENTS:
            segments = by_process.setdefault(int(match[2]), {}).setdefault(name.partition('.')[0], {})
            segments[int(match[3] or 0)] = folder / name
    return [ProcessLog(process, dict(sorted(_log_of(found).items()))) for process, found in sorted(by_process.items())]


def _log_of(found: dict[str, dict[int, Path]]) -> dict[int, Path]:
    """Of two logs under one number that with a first segment counts, else the first by name: the other is a stray file."""
    return next((segments for segments in found.values() if 0 in segments), next(iter(found.values())))


def is_log(name: str) -> bool:
    """Whether a log of a trace could have this name.

    Args:
        name: Of a file.

    Returns:
        True for PID-PROCESS.log and PID-PROCESS.SEGMENT.log.
    """
    return _LOG_NAME.fullmatch(name) is not None


def draft_name(name: str) -> str:
    """The name under which a first segment is written before it takes the place of another.

    Args:
        name: Of that.

    Returns:
        PID-PROCESS.new.
    """
    return name.removesuffix('.log') + '.new'


def is_draft(name: str) -> bool:
    """Whether a first segment that was being written could have this name.

    Args:
        name: Of a file.

    Returns:
        True for PID-PROCESS.new.
    """
    return name.endswith('.new') and is_log(name.removesuffix('.new') + '.log')
