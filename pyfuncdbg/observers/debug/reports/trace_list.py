"""The traces in a directory, each with what it holds and what went wrong in it: what `pyfuncdbg traces` lists.

Called by commands, on the main thread.
"""
from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.index.indexing import Progress
from pyfuncdbg.observers.record.log.log_names import logs
from pyfuncdbg.observers.record.log.trace_folder import Manifest, recording_process
from pyfuncdbg.observers.record.log.trace_folders import traces_in
from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One trace.

    Attributes:
        path: Its folder.
        program: Its command line, '' if it is not known.
        created: Unix time in seconds, None if it is not known.
        nbytes: Of its logs.
        calls: Python calls.
        died: The exception that ended the program, '' if none is known.
        failed: How many Python calls raised.
        bad: How many Python calls met NaN or infinity.
        bad_elsewhere: How many runs, nodes and gradient steps did.
        recording: Number of the process that records there, 0 if none does.
        damage: What cannot be read.
    """

    path: str
    program: str
    created: float | None
    nbytes: int
    calls: int = 0
    died: str = ''
    failed: int = 0
    bad: int = 0
    bad_elsewhere: int = 0
    recording: int = 0
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceList:
    """The traces in a directory, the newest first."""

    directory: str
    traces: tuple[TraceEntry, ...]


def trace_list(directory: Path, reading: Callable[[Path], Any]) -> TraceList:
    """Summarize every trace of a directory.

    Args:
        directory: Where to look; not into folders below it.
        reading: Gives a context for the time in which a trace is read, which gives a `Progress` or None.

    Raises:
        TraceError: The directory cannot be read.
    """
    entries = []
    for path, manifest in traces_in(directory):
        with reading(path) as progress:
            entries.append(_entry(path, manifest, progress))
    return TraceList(str(directory.resolve()), tuple(entries))


def _entry(path: Path, manifest: Manifest | TraceError, progress: Progress | None) -> TraceEntry:
    try:
        if not isinstance(manifest, Manifest):
            raise manifest
        recording = recording_process(path)
        with Trace.open(path, progress) as trace:
            info = trace.info()
            bad = trace.count(kind='python', bad=True)
            elsewhere = trace.count(bad=True) + trace.count(kind='run', bad=True) - bad
            return TraceEntry(str(path), shlex.join(info.argv), manifest.created, info.nbytes, trace.count(kind='python'),
                              trace.uncaught(), trace.count(kind='python', failed=True), bad, elsewhere, recording,
                              info.damage)
    except TraceError as error:
        created = manifest.created if isinstance(manifest, Manifest) else None
        return TraceEntry(str(path), '', created, size_of(path), damage=(str(error),))


def size_of(path: Path) -> int:
    """Bytes of a trace's logs."""
    try:
        return sum(log.nbytes for log in logs(path))
    except (TraceError, OSError):               # without the right to look, or gone
        return 0
