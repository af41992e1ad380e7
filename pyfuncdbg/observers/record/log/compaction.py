"""Compaction of a log that keeps its newest calls: the oldest segment is removed.

What describes later calls moves to the first segment: sites, plans, source lines, notes, runs that go on, states in force.
Used by the journal, on the writer's thread. The first segment is written anew beside the old one and then renamed, so that a
process that is killed leaves one or the other.
"""
from __future__ import annotations

import contextlib
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import msgpack
import numpy as np

from pyfuncdbg.observers.record.log import columns, log_file, run_batch
from pyfuncdbg.observers.record.log.call_batch import decode_msgpack, summary_of
from pyfuncdbg.observers.record.log.log_file import LogFile, LogReader
from pyfuncdbg.observers.record.log.log_names import draft_name, segment_path

_DESCRIPTIONS = (log_file.PROCESS, log_file.SITE, log_file.PLAN, log_file.SOURCE, log_file.NOTE, log_file.RUNS)


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
    oldest = first if not number else segment_path(first, number)
    segment = _contents(oldest, states)
    records = segment.descriptions
    if number:                                  # each segment begins with the same record of the process
        records = [*_contents(first, states).descriptions, *[one for one in records if one[0] != log_file.PROCESS]]
    draft = first.with_name(draft_name(first.name))
    draft.unlink(missing_ok=True)
    file = LogFile(draft)
    try:
        for kind, payload in records:
            body = _open_runs(payload, segment.ended_runs) if kind == log_file.RUNS else payload
            if body is not None:
                file.append(log_file.frame(kind, body))
        file.append(log_file.frame(log_file.REMOVED, msgpack.packb([number, before.calls + segment.calls])))
        draft.rename(first)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        file.close()
    if number:
        with contextlib.suppress(OSError):      # readers pass over it
            oldest.unlink()
    return Compaction(number, before.calls + segment.calls, file.size)


@dataclass(frozen=True, slots=True)
class _Contents:
    """Contents of a segment.

    Attributes:
        descriptions: Kind and content of the records that later calls may need.
        calls: How many there are.
        ended_runs: Numbers of the runs that end in it.
    """

    descriptions: list[tuple[int, bytes]]
    calls: int
    ended_runs: np.ndarray


def _contents(path: Path, states: Container[int] | None) -> _Contents:
    reader = LogReader(path)
    descriptions, ids = [], [np.empty(0, np.int64)]
    try:
        for frame in reader.frames(0):
            if frame.kind == log_file.CALLS:
                summary = summary_of(frame.payload, lambda entry: False)
                ids.append(columns.unpack([summary.columns[0]], [summary.count]))
            elif frame.kind in _DESCRIPTIONS or (frame.kind == log_file.STATE and (
                    states is None or decode_msgpack(frame.payload)[0] in states)):
                descriptions.append((frame.kind, frame.payload))
    finally:
        reader.close()
    numbers = np.concatenate(ids)
    return _Contents(descriptions, int(np.count_nonzero(numbers > 0)), -numbers[numbers < 0])


def _open_runs(payload: bytes, ended: np.ndarray) -> bytes | None:
    """A record of runs without those that have ended; None if there is no other."""
    count, packed = run_batch.decode(decode_msgpack(payload))
    table = [columns.unpack([column], [count]) for column in packed]
    rows = np.flatnonzero(~np.isin(table[0], ended)).tolist()
    if not rows:
        return None
    body: bytes = msgpack.packb(run_batch.encode([tuple(int(column[row]) for column in table) for row in rows]))
    return body
