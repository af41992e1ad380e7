"""Trace of one process of a worker, as the worker describes it to the client: sizes and numbers, no path.

What a worker says is data of another machine: the client checks it before anything is made of it. Pure.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log.log_names import MOST_SEGMENTS, segment_path
from pyfuncdbg.observers.record.processes.followed_process import LARGEST, LIST

TOKEN = re.compile('[0-9a-f]{32}', re.ASCII)
"""Random name of such a trace, and of a recording."""
LIST_FILE = (0, 0, 0)
"""The list of processes, among the files."""
_SPARE = 1 << 20
"""Bytes that the files may have beyond the budget: it counts the logs."""
_MOST_FILES = 10_000
_LATEST = 253_402_300_800.0

FileKey = tuple[int, int, int]
"""Process id, number of the process, and segment of a log; or `LIST_FILE`."""


@dataclass(frozen=True, slots=True)
class RemoteTrace:
    """One trace.

    Attributes:
        token: Its name.
        created: Unix time from which its times count, by the clock of its machine.
        files: Bytes of its files.
    """

    token: str
    created: float
    files: dict[FileKey, int]


def file_path(folder: Path, key: FileKey) -> Path:
    """The path of a file of a trace.

    Args:
        folder: Of the trace, on this machine.
        key: Which file.

    Returns:
        The path, made of numbers alone.
    """
    pid, process, segment = key
    return folder / LIST if key == LIST_FILE else segment_path(folder / f'{pid}-{process:04d}.log', segment)


def checked_trace(content: Any, budget: int) -> RemoteTrace:
    """Read what a worker says of a trace.

    Args:
        content: (token, created, {key: bytes}).
        budget: Bytes that the trace may have.

    Returns:
        The description, within its limits.

    Raises:
        TraceError: It makes no sense, or the trace is larger than it may be.
    """
    try:
        token, created, files = content
        if not (isinstance(token, str) and TOKEN.fullmatch(token) and type(created) is float and 0 <= created < _LATEST
                and isinstance(files, dict) and 0 < len(files) <= _MOST_FILES):
            raise ValueError
        sizes = {_checked_key(key): nbytes for key, nbytes in files.items()}
        if not all(type(nbytes) is int and nbytes >= 0 for nbytes in sizes.values()):
            raise ValueError
    except (ValueError, TypeError):
        raise TraceError('a worker describes a trace that cannot be one') from None
    total = sum(sizes.values())
    if total > budget + LARGEST + _SPARE:
        raise TraceError(f'a worker announces a trace of {total:,} bytes, and its budget is {budget:,}')
    return RemoteTrace(token, created, sizes)


def _checked_key(key: Any) -> FileKey:
    pid, process, segment = key
    if not all(type(number) is int for number in key):
        raise TypeError
    if (pid, process, segment) != LIST_FILE and not (
            0 < pid < 1 << 32 and 0 < process < 1_000_000_000 and 0 <= segment < MOST_SEGMENTS):
        raise ValueError
    return pid, process, segment
