"""Indexing: reads what was appended to the logs of a trace and puts it into its index, a batch of calls at a time.

Streams: the values of calls are not decoded. Called by `Trace.open` and `Trace.refresh` under the trace's lock.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyfuncdbg.errors import TraceError, TraceVersionError
from pyfuncdbg.observers.record.index.decode import listed, number, site_record, stats_from, tensor_fields, text, texts
from pyfuncdbg.observers.record.index.sqlite_index import Index, LogState, SiteEntry, StaleIndexError
from pyfuncdbg.observers.record.index.tables import NO_ELEMENT, SITE_BITS, UNFINISHED, site_key
from pyfuncdbg.observers.record.log import log_file, trace_folder
from pyfuncdbg.observers.record.log.call_batch import COLUMNS, summary_of, unpacked
from pyfuncdbg.observers.record.log.log_file import FoundFrame, LogReader
from pyfuncdbg.observers.record.snapshots.snapshot import array_from
from pyfuncdbg.observers.record.snapshots.statistics import all_finite

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how many bytes of the logs are read, and how many there are."""

_PROGRESS_BYTES = 1 << 20
_MOST_PROCESSES = 1 << 20
_MOST_DAMAGE = 20
_FAR = 1 << 60
"""Nanoseconds, 36 years: sums of four such times do not overflow, whatever a log says."""


def update(index: Index, progress: Progress | None = None) -> bool:
    """Index what the logs hold beyond what is indexed; True if there was anything.

    Args:
        index: Of the trace.
        progress: Is told about every megabyte.

    Raises:
        TraceError: No log can be read.
        StaleIndexError: A log became shorter.
    """
    found = False
    failure: TraceError | None = None
    logs = [(process, path) for process, path in trace_folder.logs(index.path) if process < _MOST_PROCESSES]
    reading = _Reading(progress, logs) if progress is not None else None
    for process, path in logs:
        try:
            reader = index.readers.get(process) or index.open_log(process, path)
            found |= _LogIndexing(index, process, reader).run(reading)
        except TraceVersionError:
            raise
        except TraceError as error:
            failure = error
            _note_damage(index, process, 0, str(error))
        except OSError as error:                # too many open files, or a disk that fails
            failure = TraceError(f'{path}: cannot be read: {error.strerror}')
            _note_damage(index, process, 0, str(failure))
    if failure is not None and not index.readers:
        raise failure
    return found


class _Reading:
    """How far the logs are read, told to somebody."""

    def __init__(self, progress: Progress, logs: list[tuple[int, Path]]) -> None:
        self._progress = progress
        self._before = self._told = 0
        self._total = sum(path.stat().st_size for _, path in logs if path.exists())

    def at(self, position: int) -> None:
        """So far this log is read."""
        if self._before + position >= self._told + _PROGRESS_BYTES:
            self._told = self._before + position
            self._progress(self._told, max(self._total, self._told))

    def end(self, position: int) -> None:
        """This log is read."""
        self.at(position)
        self._before += position


def _note_damage(index: Index, process: int, position: int, what: str) -> None:
    count = index.damaged.get(process, 0)
    if count < _MOST_DAMAGE and (process, position) not in index.damage:
        index.damaged[process] = count + 1
        index.damage[process, position] = what


class _LogIndexing:
    """One pass over the new part of one log."""

    def __init__(self, index: Index, process: int, reader: LogReader) -> None:
        self.index = index
        self.process = process
        self.reader = reader
        self.log = index.logs.setdefault(process, LogState())
        self.finite = lru_cache(maxsize=4096)(self._is_finite)

    def run(self, reading: _Reading | None) -> bool:
        log = self.log
        start = log.position
        if self.reader.size < start > log_file.HEADER_SIZE:
            raise StaleIndexError(f'{self.reader.path} is shorter than it was when it was indexed')
        for found in self.reader.frames(start):
            try:
                self._take(found)
            except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError) as error:
                _note_damage(self.index, self.process, found.start,
                             f'{self.reader.path.name}: record at byte {found.start} cannot be read: {error}')
            log.position = found.position + found.length
            if reading is not None:
                reading.at(log.position)
        if reading is not None:
            reading.end(log.position)
        return log.position != start

    def _take(self, found: FoundFrame) -> None:
        if found.kind == log_file.BLOB:
            if len(found.payload) == log_file.KEY_SIZE:
                self.index.blobs.add(found.payload, self.process, found.position + log_file.KEY_SIZE,
                                     found.length - log_file.KEY_SIZE)
        elif found.kind in (log_file.CALLS, log_file.RUNNING):
            self._take_calls(found)
        elif found.kind == log_file.NOTE:
            self.index.notes[self.process, found.start] = None
        elif found.kind == log_file.SOURCE:
            self.index.sources.setdefault(self.process, []).append(found.start)
        else:
            self._take_fact(found.kind, found.payload)

    def _take_fact(self, kind: int, payload: bytes) -> None:
        fields, log = unpacked(payload), self.log
        if kind == log_file.PROCESS:
            pid, _, argv, python, host, wall, clock, facts = listed(fields, 8)
            log.offset = _near(round((float(wall) - self.index.manifest.created) * 1e9) - number(clock))
            log.pid, log.argv, log.python, log.host = number(pid), texts(argv), text(python), text(host)
            log.ops = isinstance(facts, dict) and facts.get('ops') is True
        elif kind == log_file.SITE:
            site = site_record(fields, self.process)
            self.index.sites.setdefault(site_key(self.process, site.id), SiteEntry(
                site.name, site.op_type, site.function, site.kind, payload))
        elif kind == log_file.PLAN:
            self.index.plans.setdefault((self.process, number(listed(fields, 6)[0])), payload)
        elif kind == log_file.RUNS:
            self._take_runs(listed(fields))
        elif kind == log_file.DROPPED:
            if not isinstance(fields, dict):
                raise ValueError('wrong counts')
            log.dropped = {text(what): number(count) for what, count in fields.items()}
        elif kind == log_file.END:
            at = self._since(listed(fields, 2)[1])
            log.last = max(log.last, at)
            log.ended = True

    def _take_runs(self, runs: list[Any]) -> None:
        """Runs of number, plan, start, and for some the element; a batch of one form is taken at once."""
        if not runs:
            return
        if set(map(type, runs)) != {list} or min(map(len, runs)) < 3:
            raise ValueError('expected runs')
        if len(runs[0]) not in (3, 4) or len(set(map(len, runs))) != 1:
            runs = [[*run, NO_ELEMENT][:4] for run in runs]
        fields = _integers(list(chain.from_iterable(runs))).reshape(len(runs), -1)
        ids, plans, starts = fields.T[:3]
        self.index.runs.append(len(runs), {
            'process': self.process, 'id': ids, 'plan': plans, 'started': _bounded(starts) + self.log.offset,
            'element': fields[:, 3] if fields.shape[1] == 4 else NO_ELEMENT})

    def _since(self, clock: Any) -> int:
        """Nanoseconds since the trace began."""
        return _near(number(clock)) + self.log.offset

    def _take_calls(self, found: FoundFrame) -> None:
        summary = summary_of(found.payload, self._is_bad)
        columns = dict(zip(COLUMNS, summary.columns, strict=True))
        started, finished = columns['started'], columns.pop('finished')
        begun = _bounded(started) + self.log.offset
        if found.kind == log_file.RUNNING:
            lengths: np.ndarray = np.full(len(begun), UNFINISHED)
        else:
            lengths = np.where(finished != 0, np.maximum(_bounded(finished) - _bounded(started), 0), UNFINISHED)
        self.log.last = max(self.log.last, int((begun + np.maximum(lengths, 0)).max()))
        self.index.calls.append(len(begun), {
            **columns, 'process': self.process, 'site': _site_keys(self.process, columns['site']), 'started': begun,
            'duration': lengths, 'flags': summary.flags, 'size': summary.sizes, 'position': found.start,
            'place': np.arange(len(begun))})

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
            return not self.finite(payload, dtype, shape)
        except ValueError:
            return False                        # shown as damaged when it is read

    def _is_finite(self, key: bytes, dtype: str, shape: tuple[int, ...]) -> bool:
        place = self.index.blobs.find(key)
        if place is None:
            return True
        process, position, length = place
        reader = self.reader if process == self.process else self.index.reader(process)
        return all_finite(array_from(reader.read(position, length), dtype, shape))


def _site_keys(process: int, sites: np.ndarray) -> np.ndarray:
    known = (sites >= 0) & (sites < 1 << SITE_BITS)
    return np.where(known, sites, 0) + site_key(process, 0)


def _integers(column: list[Any]) -> np.ndarray:
    if set(map(type, column)) != {int}:
        raise ValueError('expected numbers')
    return np.array(column, np.int64)


def _bounded(times: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(np.maximum(times, -_FAR), _FAR))


def _near(value: int) -> int:
    return max(-_FAR, min(value, _FAR))
