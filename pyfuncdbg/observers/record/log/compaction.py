"""Compaction of a log that keeps its newest calls: the oldest segment is removed.

What describes later calls moves to the first segment: sites, plans, source lines, notes, runs that go on, states in force.
Used by the journal, on the writer's thread. The first segment is written anew beside the old one and then renamed, so that a
process that is killed leaves one or the other.
"""
from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgpack
import numpy as np

from pyfuncdbg.observers.record.log import columns, log_file, run_batch
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack, summary_of
from pyfuncdbg.observers.record.log.log_file import LogFile, LogFrame, LogReader
from pyfuncdbg.observers.record.log.log_names import draft_name, segment_path

_DESCRIPTIONS = (log_file.SITE, log_file.PLAN, log_file.SOURCE, log_file.NOTE)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Amount that was removed from a log so far.

    Attributes:
        number: Of the last segment that is removed; -1 for none.
        calls: In all that are.
        size: Bytes of the first segment now.
    """

    number: int = -1
    calls: int = 0
    size: int = 0


def remove_segment(first: Path, before: Compaction, states: Container[int] | None) -> Compaction:
    """Remove the oldest segment of a log that is not the last.

    Args:
        first: Path of the first segment.
        before: What was removed so far.
        states: Numbers of the states that later calls may name; None if that is not known.

    Returns:
        What is removed now.

    Raises:
        OSError, TraceError: The disk has no room for the new first segment, say; nothing is removed then.
    """
    number = before.number + 1
    sources = [first] if not number else [first, segment_path(first, number)]
    calls, runs = _calls_in(sources[-1])
    draft = first.with_name(draft_name(first.name))
    draft.unlink(missing_ok=True)
    file = LogFile(draft)
    try:
        for path in sources:
            for kind, payload in _descriptions(path, states, runs, with_process=path == first):
                file.append(log_file.frame(kind, payload))
        file.append(log_file.frame(log_file.REMOVED, msgpack.packb([number, before.calls + calls])))
        draft.rename(first)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        file.close()
    if number:
        with contextlib.suppress(OSError):      # readers pass over it
            sources[-1].unlink()
    return Compaction(number, before.calls + calls, file.size)


def _records(path: Path) -> Iterator[LogFrame]:
    reader = LogReader(path)
    try:
        yield from reader.frames(0)
    finally:
        reader.close()


def _calls_in(path: Path) -> tuple[int, np.ndarray]:
    """How many calls a segment holds, and the numbers of the runs that end in it."""
    ids = [columns.unpack([summary.columns[0]], [summary.count]) for frame in _records(path) if frame.kind == log_file.CALLS
           for summary in [summary_of(frame.payload, lambda entry: False)]]
    numbers = np.concatenate(ids) if ids else np.empty(0, np.int64)
    return int(np.count_nonzero(numbers > 0)), -numbers[numbers < 0]


def _descriptions(path: Path, states: Container[int] | None, ended_runs: np.ndarray, *,
                  with_process: bool) -> Iterator[tuple[int, bytes]]:
    """Kind and content of the records that later calls need."""
    for frame in _records(path):
        if frame.kind in _DESCRIPTIONS or (frame.kind == log_file.PROCESS and with_process):
            yield frame.kind, frame.payload
            with_process &= frame.kind != log_file.PROCESS
        elif frame.kind == log_file.STATE and (states is None or decode_msgpack(frame.payload)[0] in states):
            yield frame.kind, frame.payload
        elif frame.kind == log_file.RUNS:
            yield from _open_runs(frame.payload, ended_runs)


def _open_runs(payload: bytes, ended: np.ndarray) -> Iterator[tuple[int, bytes]]:
    count, packed = run_batch.decode(decode_msgpack(payload))
    table = [columns.unpack([column], [count]) for column in packed]
    rows = np.flatnonzero(~np.isin(table[0], ended)).tolist()
    if rows:
        runs = [tuple(int(column[row]) for column in table) for row in rows]
        yield log_file.RUNS, msgpack.packb(run_batch.encode(runs))

