"""Indexing: reads what was appended to the logs of a trace and adds it to the index, in batches.

Streams: the values of calls are not decoded. Called by `Trace.open` and `Trace.refresh` under the trace's lock.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from pyfuncdbg.errors import TraceError, TraceVersionError
from pyfuncdbg.observers.record.array_bytes import array_from
from pyfuncdbg.observers.record.index.decode import (
    list_of,
    number,
    plan_fields,
    site_record,
    stats_from,
    tensor_fields,
    text,
    text_by_name,
    texts,
)
from pyfuncdbg.observers.record.index.state_records import state_number
from pyfuncdbg.observers.record.index.tables import SITE_BITS, UNFINISHED, site_key
from pyfuncdbg.observers.record.index.trace_index import Index, LogState, SiteEntry, StaleIndexError, StatePlaces
from pyfuncdbg.observers.record.log import columns, log_file, log_names, run_batch
from pyfuncdbg.observers.record.log.call_batch import COLUMNS, BatchSummary, decode_msgpack, summary_of
from pyfuncdbg.observers.record.log.columns import Packed
from pyfuncdbg.observers.record.log.log_file import LogFrame
from pyfuncdbg.observers.record.log.log_names import ProcessLog
from pyfuncdbg.observers.record.log.segmented_log import SegmentedLog, removed_segments
from pyfuncdbg.observers.record.snapshots.statistics import all_finite

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how many bytes of the logs are read, and how many there are."""

_PROGRESS_BYTES = 1 << 20
_MOST_PROCESSES = 1 << 20
_MOST_DAMAGE = 20
_TOGETHER = 64
"""Records of calls that go into the table at once."""
_WRONG = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError)
_FAR = 1 << 60
"""Nanoseconds, 36 years: sums of four such times do not overflow, whatever a log says."""


def update(index: Index, progress: Progress | None = None, patience: float | None = None) -> bool:
    """Index what the logs hold beyond what is indexed.

    Args:
        index: Of the trace.
        progress: Called after about every megabyte.
        patience: Seconds after which it stops, if there is anything new; `index.unread` is what is left then.

    Returns:
        Whether there was anything new.

    Raises:
        TraceError: No log can be read.
        StaleIndexError: A log became shorter, or was written anew.
    """
    grown, deadline = False, None if patience is None else monotonic() + patience
    index.unread = 0
    failure: TraceError | None = None
    logs = [log for log in log_names.logs(index.path) if log.process < _MOST_PROCESSES]
    reading = _ReadProgress(progress, logs) if progress is not None else None
    for log in logs:
        process = log.process
        try:
            reader = index.readers.get(process) or index.open_log(log)
            if not reader.grow(log):
                raise StaleIndexError(f'{log.path} was written anew since it was indexed')
            if deadline is None or not grown or monotonic() < deadline:
                grown |= _LogIndexing(index, process, reader).run(reading, deadline)
                if not reader.is_current():
                    raise StaleIndexError(f'{log.path} was written anew while it was read')
            else:
                index.unread += max(0, reader.size - index.logs.setdefault(process, LogState()).nbytes)
        except StaleIndexError:
            index.close_log(process)
            raise
        except TraceVersionError:
            raise
        except TraceError as error:
            failure = error
            _note_damage(index, process, 0, str(error))
        except OSError as error:                # too many open files, or a disk that fails
            failure = TraceError(f'{log.path}: cannot be read: {error.strerror}')
            _note_damage(index, process, 0, str(failure))
    if failure is not None and not index.readers:
        raise failure
    return grown


class _ReadProgress:
    """Progress of reading the logs, reported to a callback."""

    def __init__(self, progress: Progress, logs: list[ProcessLog]) -> None:
        self._progress = progress
        self._before = self._reported = 0
        self._total = sum(path.stat().st_size for log in logs for path in log.segments.values() if path.exists())

    def at(self, nbytes: int) -> None:
        """So much of this log is read."""
        if self._before + nbytes >= self._reported + _PROGRESS_BYTES:
            self._reported = self._before + nbytes
            self._progress(self._reported, max(self._total, self._reported))

    def end(self, nbytes: int) -> None:
        """This log is read."""
        self.at(nbytes)
        self._before += nbytes


def _note_damage(index: Index, process: int, position: int, what: str) -> None:
    count = index.damage_counts.get(process, 0)
    if count < _MOST_DAMAGE and (process, position) not in index.damage:
        index.damage_counts[process] = count + 1
        index.damage[process, position] = what


class _LogIndexing:
    """One pass over the new part of one log."""

    def __init__(self, index: Index, process: int, reader: SegmentedLog) -> None:
        self.index = index
        self.process = process
        self.reader = reader
        self.log = index.logs.setdefault(process, LogState())
        self._waiting_calls: list[tuple[int, int, BatchSummary]] = []
        """Kind, place and summary of records of calls that are not in the table yet."""
        self._waiting_runs: list[tuple[int, tuple[int, list[Packed]]]] = []
        """Place and decoded content of records of runs that are not in the table yet."""
        self.is_blob_finite = lru_cache(maxsize=4096)(self._is_finite)

    def run(self, reading: _ReadProgress | None, deadline: float | None) -> bool:
        log, reader = self.log, self.reader
        start = position = log.position
        if start > log_file.HEADER_SIZE and not reader.reaches(start):
            raise StaleIndexError(f'{reader.locate(start)[0]} is shorter than it was when it was indexed')
        try:
            for frame in reader.frames(start, self._note_gap):
                try:
                    self._index_frame(frame)
                except _WRONG as error:
                    self._note_damaged(frame.start, error)
                position = frame.position + frame.length
                if reading is not None:
                    reading.at(reader.bytes_before(position))
                if deadline is not None and monotonic() >= deadline:
                    self.index.unread += max(0, reader.size - reader.bytes_before(position))
                    break
        finally:                                # reading may fail, or be broken off by Ctrl-C
            self._index_waiting()
            log.position, log.nbytes = position, reader.bytes_before(position)
        if reading is not None:
            reading.end(log.nbytes)
        return position != start

    def _note_gap(self, position: int, what: str) -> None:
        _note_damage(self.index, self.process, position, what)

    def _note_damaged(self, position: int, error: Exception) -> None:
        name, offset, _ = self.reader.locate(position)
        _note_damage(self.index, self.process, position, f'{name}: record at byte {offset} cannot be read: {error}')

    def _index_frame(self, frame: LogFrame) -> None:
        if frame.kind == log_file.BLOB:
            if len(frame.payload) == log_file.KEY_SIZE:
                self.index.blobs.add(frame.payload, self.process, frame.position + log_file.KEY_SIZE,
                                     frame.length - log_file.KEY_SIZE)
        elif frame.kind in (log_file.CALLS, log_file.RUNNING):
            self._waiting_calls.append((frame.kind, frame.start, summary_of(frame.payload, self._is_bad)))
            if len(self._waiting_calls) == _TOGETHER:
                self._index_waiting()
        elif frame.kind == log_file.RUNS:
            self._waiting_runs.append((frame.start, run_batch.decode(decode_msgpack(frame.payload))))
            if len(self._waiting_runs) == _TOGETHER:
                self._index_waiting()
        elif frame.kind == log_file.NOTE:
            self.index.notes[self.process, frame.start] = None
        elif frame.kind == log_file.STATE:
            self.index.states.setdefault(self.process, StatePlaces()).add(state_number(frame.payload), frame.start)
        elif frame.kind == log_file.SOURCE:
            self.index.sources.setdefault(self.process, []).append(frame.start)
        else:
            self._index_fact(frame.kind, frame.payload)

    def _index_fact(self, kind: int, payload: bytes) -> None:
        log = self.log
        if kind == log_file.REMOVED:
            log.removed = removed_segments(payload)[1]
            return
        fields = decode_msgpack(payload)
        if kind == log_file.PROCESS:
            self._index_waiting()                # by the clock that they were written by
            pid, _, argv, python, host, wall, clock, facts = list_of(fields, 8)
            begun = float(wall) + self.index.manifest.clock_of(self.process) - self.index.manifest.created
            log.offset = _clamp(round(begun * 1e9) - number(clock))
            log.pid, log.argv, log.python, log.host = number(pid), texts(argv), text(python), text(host)
            facts = facts if isinstance(facts, dict) else {}
            log.ops, log.machine = facts.get('ops') is True, text(facts.get('machine', ''))
            log.compiled = facts['compiled'] is True if 'compiled' in facts else None
            log.versions, log.settings = text_by_name(facts.get('versions', {})), text_by_name(facts.get('settings', {}))
        elif kind == log_file.SITE:
            site = site_record(fields, self.process)
            self.index.sites.setdefault(site_key(self.process, site.id), SiteEntry(
                site.name, site.op_type, site.function, site.kind, payload))
        elif kind == log_file.PLAN:
            self.index.plans.setdefault((self.process, number(plan_fields(fields)[0])), payload)
        elif kind == log_file.DROPPED:
            if not isinstance(fields, dict):
                raise ValueError('wrong counts')
            log.dropped = {text(what): number(count) for what, count in fields.items()}
        elif kind == log_file.END:
            at = self._trace_time(list_of(fields, 2)[1])
            log.last = max(log.last, at)
            log.ended = True

    def _trace_time(self, clock: Any) -> int:
        """Nanoseconds since the trace began."""
        return _clamp(number(clock)) + self.log.offset

    def _index_waiting(self) -> None:
        """Put the calls and runs of the records read last into their tables, together."""
        calls, self._waiting_calls = self._waiting_calls, []
        runs, self._waiting_runs = self._waiting_runs, []
        try:
            if calls:
                self._index_calls(calls)
        except (ValueError, MemoryError) as error:
            self._note_damaged(calls[0][1], error)
        try:
            if runs:
                self._index_runs([content for _, content in runs])
        except (ValueError, MemoryError) as error:
            self._note_damaged(runs[0][0], error)

    def _index_runs(self, batches: list[tuple[int, list[Packed]]]) -> None:
        counts = [count for count, _ in batches]
        ids, plans, starts, elements = (columns.unpack(packed, counts) for packed in zip(
            *(packed for _, packed in batches), strict=True))
        self.index.runs.append(sum(counts), {'process': self.process, 'id': ids, 'plan': plans, 'element': elements,
                                             'started': _clamp_times(starts) + self.log.offset})

    def _index_calls(self, batches: list[tuple[int, int, BatchSummary]]) -> None:
        kinds, positions, summaries = zip(*batches, strict=True)
        counts = np.array([summary.count for summary in summaries])
        ends = np.cumsum(counts)
        numbers = {name: columns.unpack(packed, counts) for name, packed in zip(
            COLUMNS, zip(*(summary.columns for summary in summaries), strict=True), strict=True)}
        started, finished = _clamp_times(numbers['started']), numbers.pop('finished')
        started_at = started + self.log.offset
        running = np.repeat(np.array(kinds) == log_file.RUNNING, counts)
        lengths = np.where((finished != 0) & ~running, np.maximum(_clamp_times(finished) - started, 0), UNFINISHED)
        self.log.last = max(self.log.last, int((started_at + np.maximum(lengths, 0)).max()))
        self.index.calls.append(int(ends[-1]), {
            **numbers, 'process': self.process, 'site': _site_keys(self.process, numbers['site']), 'started': started_at,
            'duration': lengths, 'flags': np.frombuffer(b''.join(summary.flags for summary in summaries), np.uint8),
            'size': _sizes([summary.sizes for summary in summaries], counts),
            'position': np.repeat(positions, counts), 'head': self.index.calls.count + np.repeat(ends - counts, counts)})

    def _is_bad(self, entry: Any) -> bool:
        try:
            dtype, shape, _, _, payload, _, _, stats = tensor_fields(entry)
            if stats is not None:
                summary = stats_from(stats)
                return summary is not None and summary.bad > 0
            if payload is None:
                return False
            if isinstance(payload, list):
                return not all_finite(array_from(payload[0], dtype, shape))
            return not self.is_blob_finite(payload, dtype, shape)
        except ValueError:
            return False                        # shown as damaged when it is read

    def _is_finite(self, key: bytes, dtype: str, shape: tuple[int, ...]) -> bool:
        place = self.index.blobs.find(key)
        if place is None:
            return True
        process, position, length = place
        reader = self.reader if process == self.process else self.index.reader(process)
        return all_finite(array_from(reader.read(position, length), dtype, shape))


def _sizes(packed: list[Packed], counts: np.ndarray) -> np.ndarray:
    """Bytes, of a hostile log too none below 0."""
    sizes = columns.unpack(packed, counts)
    return sizes if sizes.strides == (0,) and sizes[0] >= 0 else np.maximum(sizes, 0)


def _site_keys(process: int, sites: np.ndarray) -> np.ndarray:
    known = (sites >= 0) & (sites < 1 << SITE_BITS)
    return np.where(known, sites, 0) + site_key(process, 0)


def _clamp_times(times: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(np.maximum(times, -_FAR), _FAR))


def _clamp(value: int) -> int:
    return max(-_FAR, min(value, _FAR))
