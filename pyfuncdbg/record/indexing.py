"""Reads what was appended to the logs of a trace and puts it into its index, a batch of calls at a time.

Streams: the memory it takes does not depend on the length of the trace. Called by `Trace.open` and `Trace.refresh`.
"""
from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from pyfuncdbg.errors import TraceError, TraceVersionError
from pyfuncdbg.record import folder, frames
from pyfuncdbg.record.batch import Batch, unpacked
from pyfuncdbg.record.decode import listed, number, site_record, stats_from, tensor_fields, text, texts
from pyfuncdbg.record.frames import FoundFrame, LogReader
from pyfuncdbg.record.index import BAD, FAILED, PRINTED, Index, StaleIndexError, finish_schema, site_key
from pyfuncdbg.record.snapshot import array_from
from pyfuncdbg.record.statistics import all_finite

_MOST_PROCESSES = 1 << 20
_MOST_DAMAGE = 20


def update(index: Index) -> bool:
    """Index what the logs hold beyond what is indexed; True if there was anything.

    Raises:
        TraceError: No log can be read.
        sqlite3.DatabaseError: The index is damaged or locked.
    """
    found = False
    failure: TraceError | None = None
    paths = folder.logs(index.path)
    index.database.execute('BEGIN IMMEDIATE')
    try:
        for process, path in paths:
            if process >= _MOST_PROCESSES:
                continue
            try:
                reader = index.readers.get(process) or LogReader(path)
            except TraceVersionError:
                raise
            except TraceError as error:
                failure = error
                _note_damage(index, process, 0, str(error))
                continue
            index.readers[process] = reader
            found |= _LogIndexing(index, process, reader).run()
        finish_schema(index.database)
    except BaseException:
        index.database.execute('ROLLBACK')
        raise
    index.database.execute('COMMIT')
    if failure is not None and not index.readers:
        raise failure
    return found


def _note_damage(index: Index, process: int, position: int, what: str) -> None:
    (count,) = index.database.execute('SELECT count(*) FROM damage WHERE process = ?', (process,)).fetchone()
    if count < _MOST_DAMAGE:
        index.database.execute('INSERT OR REPLACE INTO damage VALUES (?, ?, ?)', (process, position, what))


class _LogIndexing:
    """One pass over the new part of one log."""

    def __init__(self, index: Index, process: int, reader: LogReader) -> None:
        self.index = index
        self.database = index.database
        self.process = process
        self.reader = reader
        self.finite = lru_cache(maxsize=4096)(self._is_finite)

    def run(self) -> bool:
        held = self.database.execute('SELECT position, wall, clock, last FROM logs WHERE process = ?',
                                     (self.process,)).fetchone()
        if held is None:
            held = (frames.HEADER_SIZE, self.index.manifest.created, 0, 0)
            self.database.execute('INSERT INTO logs VALUES (?, ?, ?, 0, ?, 0, ?, ?, ?, NULL, 0, ?, 0)', (
                self.process, self.reader.path.name, frames.HEADER_SIZE, self.index.manifest.created, '[]', '', '', '{}'))
        position, wall, clock, self.last = held
        self.offset = round((wall - self.index.manifest.created) * 1e9) - clock
        start = position
        if self.reader.size < position > frames.HEADER_SIZE:
            raise StaleIndexError(f'{self.reader.path} is shorter than it was when it was indexed')
        for found in self.reader.frames(position):
            try:
                self._take(found)
            except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError) as error:
                _note_damage(self.index, self.process, found.start,
                             f'{self.reader.path.name}: record at byte {found.start} cannot be read: {error}')
            position = found.position + found.length
        if position != start:
            self.database.execute('UPDATE logs SET position = ?, last = ? WHERE process = ?',
                                  (position, self.last, self.process))
        return bool(position != start)

    def _take(self, found: FoundFrame) -> None:
        if found.kind == frames.BLOB:
            if len(found.payload) == frames.KEY_SIZE:
                self.database.execute('INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?)', (
                    found.payload, self.process, found.position + frames.KEY_SIZE, found.length - frames.KEY_SIZE))
        elif found.kind in (frames.CALLS, frames.RUNNING):
            self._take_calls(found)
        elif found.kind == frames.NOTE:
            self.database.execute('INSERT OR IGNORE INTO notes VALUES (?, ?)', (self.process, found.start))
        else:
            self._take_fact(found.kind, found.payload)

    def _take_fact(self, kind: int, payload: bytes) -> None:
        fields = unpacked(payload)
        if kind == frames.PROCESS:
            pid, _, argv, python, host, wall, clock, facts = listed(fields, 8)
            wall = float(wall)
            self.offset = round((wall - self.index.manifest.created) * 1e9) - number(clock)
            self.database.execute(
                'UPDATE logs SET pid = ?, wall = ?, clock = ?, argv = ?, python = ?, host = ?, ops = ? WHERE process = ?',
                (_small(pid), wall, _small(clock), json.dumps(texts(argv)), text(python), text(host),
                 isinstance(facts, dict) and facts.get('ops') is True, self.process))
        elif kind == frames.SITE:
            site = site_record(fields, self.process)
            self.database.execute('INSERT OR IGNORE INTO sites VALUES (?, ?, ?, ?, ?, ?)', (
                site_key(self.process, site.id), _storable(site.name), _storable(site.op_type), _storable(site.function),
                site.kind, payload))
        elif kind == frames.PLAN:
            self.database.execute('INSERT OR IGNORE INTO plans VALUES (?, ?, ?)', (
                self.process, _small(listed(fields, 6)[0]), payload))
        elif kind == frames.RUNS:
            self.database.executemany('INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?)', [
                (self.process, _small(run), _small(plan), self._since(started), _small(element[0]) if element else None)
                for run, plan, started, *element in map(listed, listed(fields))])
        elif kind == frames.DROPPED:
            if not isinstance(fields, dict):
                raise ValueError('wrong counts')
            counts = {text(what): number(count) for what, count in fields.items()}
            self.database.execute('UPDATE logs SET dropped = ? WHERE process = ?', (json.dumps(counts), self.process))
        elif kind == frames.END:
            at = self._since(listed(fields, 2)[1])
            self.last = max(self.last, at)
            self.database.execute('UPDATE logs SET ended = ? WHERE process = ?', (at, self.process))

    def _since(self, clock: Any) -> int:
        """Nanoseconds since the trace began."""
        return _small(number(clock) + self.offset)

    def _take_calls(self, found: FoundFrame) -> None:
        batch = Batch(found.payload)
        bad = batch.rows_of_scalars(lambda numbers: ~np.isfinite(numbers))
        for row, entry in batch.general_tensors():
            if row not in bad and self._is_bad(entry):
                bad.add(row)
        ids, runs, sites, ordinals, threads, started, finished, forward, _ = [column.tolist() for column in batch.columns]
        sizes = batch.output_sizes().tolist()
        flags = [0] * batch.count
        for row in bad:
            flags[row] |= BAD
        for row in batch.error:
            flags[row] |= FAILED
        for row in batch.output:
            flags[row] |= PRINTED
        running = found.kind == frames.RUNNING
        begun = [_small(at + self.offset) for at in started]
        ends = [None if running or not end else _small(end - at) for end, at in zip(finished, started, strict=True)]
        self.last = max(self.last, *[at + (length or 0) for at, length in zip(begun, ends, strict=True)])
        process, position = self.process, found.start
        entries: Iterable[tuple[Any, ...]] = (
            (process, ids[i], runs[i], site_key(process, sites[i]), ordinals[i], begun[i], ends[i], flags[i], forward[i],
             position, i, threads[i], sizes[i]) for i in range(batch.count))
        # What began a call never replaces what ended it; a retried call stands as it ended last.
        self.database.executemany(_INSERT_RUNNING if running else _INSERT, entries)

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
        place = self.database.execute('SELECT process, position, length FROM blobs WHERE key = ?', (key,)).fetchone()
        if place is None:
            return True
        reader = self.reader if place[0] == self.process else self.index.reader(place[0])
        return all_finite(array_from(reader.read(place[1], place[2]), dtype, shape))


_INSERT = 'INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
_INSERT_RUNNING = """INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(process, id) DO UPDATE SET flags = excluded.flags, position = excluded.position, place = excluded.place
    WHERE duration IS NULL"""


def _small(value: Any) -> int:
    """A number that SQLite can hold."""
    return max(-(1 << 63), min(number(value), (1 << 63) - 1))


def _storable(value: str) -> str:
    """Text that SQLite can hold: without lone surrogates."""
    return value if value.isascii() else value.encode('utf-8', 'replace').decode('utf-8')
