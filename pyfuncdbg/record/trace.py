"""A trace for reading: one query interface for a live recording, a finished one and one from another machine.

Used by views, commands and front ends, on any thread; a lock lets one work at a time.
"""
from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pyfuncdbg.errors import CommandError, TraceError, nearest
from pyfuncdbg.hooks.call import KINDS
from pyfuncdbg.hooks.op_cost import OpCost
from pyfuncdbg.record import decode
from pyfuncdbg.record.display import mimebundle
from pyfuncdbg.record.folder import read_manifest
from pyfuncdbg.record.index import Index, StaleIndexError, site_key
from pyfuncdbg.record.indexing import update
from pyfuncdbg.record.ordering import Ordering
from pyfuncdbg.record.query import condition, order
from pyfuncdbg.record.reading import LostError, Reading
from pyfuncdbg.record.records import (
    OPS,
    CallRecord,
    EdgeRecord,
    NoteRecord,
    PlanRecord,
    RunRecord,
    SiteRecord,
    TensorRecord,
    TraceInfo,
)
from pyfuncdbg.record.spans import FIELDS, SpanRecord, Spans, records
from pyfuncdbg.record.usage import SiteTime, SiteUse, profile, time_of, usage

_NUMBER = re.compile(r'#?(?:(\d{1,7})\.)?(-?\d{1,18})')
_ORDINAL = re.compile(r'(.+)\[(\d{1,18})\]')
_Answer = TypeVar('_Answer')


class Trace:
    """An open trace. Close it after use, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._manifest = read_manifest(path)
        self._index = Index(path, self._manifest)
        self._reading = Reading(path, self._manifest, self._index, self._lock)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Trace:
        """Open a trace and bring its index up to date.

        Raises:
            NotATraceError: There is no trace at `path`.
            TraceVersionError: It was written by a newer version.
            TraceError: It cannot be read.
        """
        trace = cls(Path(path))
        try:
            trace.refresh()
        except BaseException:
            trace.close()
            raise
        return trace

    def close(self) -> None:
        """Close the files; closing twice is allowed."""
        with self._lock:
            self._index.close()

    _repr_mimebundle_ = mimebundle

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def refresh(self) -> bool:
        """Read what was appended since; True if anything was."""
        with self._lock:
            for attempt in range(4):
                try:
                    return update(self._index)
                except StaleIndexError:
                    self._index.rebuild()
                except sqlite3.OperationalError:
                    self._index.move_on()       # locked by another reader for long, or no room for it
                except (sqlite3.DatabaseError, UnicodeDecodeError):
                    self._index.rebuild() if attempt == 0 else self._index.move_on()
                self._reading.renew()
            raise TraceError(f'{self.path}: its index cannot be built')

    def _answer(self, ask: Callable[[], _Answer]) -> _Answer:
        """What `ask` gives; once more with a fresh index if this one turns out to be damaged."""
        with self._lock:
            try:
                return ask()
            except (sqlite3.DatabaseError, UnicodeDecodeError, LostError):
                self._index.rebuild()
                self._reading.renew()
                self.refresh()
            try:
                return ask()
            except (sqlite3.DatabaseError, UnicodeDecodeError, LostError) as error:
                raise TraceError(f'{self.path}: cannot be read: {error}') from error

    def info(self) -> TraceInfo:
        """What the trace is and how much it holds."""
        return self._answer(self._info)

    def _info(self) -> TraceInfo:
        logs = self._reading.rows('SELECT process, pid, argv, python, host, ended, last, dropped, ops, position FROM logs '
                                  'ORDER BY process')
        dropped: dict[str, int] = {}
        damage = [text for (text,) in self._reading.rows('SELECT text FROM damage ORDER BY process, position')]
        nbytes = 0
        for process, *_, counts, _, position in logs:
            for kind, count in json.loads(counts).items():
                dropped[kind] = dropped.get(kind, 0) + count
            reader = self._index.readers.get(process)
            if reader is not None:
                nbytes += reader.size
                if reader.tail:
                    damage.append(f'{reader.path.name}: {reader.tail} at byte {position} of {reader.size}')
        first = logs[0] if logs else (1, 0, '[]', '', '', None, 0, '{}', 0, 0)
        (calls,) = self._reading.rows('SELECT count(*) FROM calls WHERE id > 0')[0]
        (runs,) = self._reading.rows('SELECT count(*) FROM runs')[0]
        (sites,) = self._reading.rows('SELECT count(*) FROM sites')[0]
        return TraceInfo(str(self.path), self._manifest.version, tuple(json.loads(first[2])), first[3], first[4],
                         self._manifest.created, max([log[6] for log in logs], default=0) / 1e9,
                         tuple([log[1] for log in logs]), runs, calls, sites, nbytes, self._manifest.budget, dropped,
                         tuple(damage),
                         bool(logs) and all(log[5] is not None for log in logs), self._op_cost(),
                         any(log[8] for log in logs))

    def _op_cost(self) -> OpCost | None:
        """The sum of what the processes noted."""
        found = [note.data for note in self._notes(OPS)]
        if not found:
            return None
        calls, seconds, nbytes = (sum(number for data in found if isinstance(number := data.get(name), (int, float)))
                                  for name in ('calls', 'seconds', 'nbytes'))
        return OpCost(int(calls), float(seconds), int(nbytes))

    def sites(self) -> list[SiteRecord]:
        """All sites, by process and id."""
        return self._answer(self._reading.sites)

    def runs(self) -> list[RunRecord]:
        """All runs, in order of their start."""
        return self._answer(lambda: [self._reading.run(*row) for row in self._reading.rows(
            'SELECT process, id, plan, started, element FROM runs ORDER BY started, process, id')])

    def run(self, id: int, process: int = 1) -> RunRecord:
        """One run.

        Raises:
            CommandError: There is none of this number.
        """
        rows = self._answer(lambda: [self._reading.run(*row) for row in self._reading.rows(
            'SELECT process, id, plan, started, element FROM runs WHERE process = ? AND id = ?', (process, id))])
        if not rows:
            known = self._reading.rows('SELECT id FROM runs WHERE process = ? ORDER BY abs(id - ?) LIMIT 3', (process, id))
            near = ', '.join(str(row[0]) for row in known)
            raise CommandError(f'There is no run {id}' + (f'; near it: {near}.' if near else '; no run was recorded.'))
        return rows[0]

    def calls(self, *, kind: str | None = None, site: str | None = None, run: int | None = None, failed: bool | None = None,
              bad: bool | None = None, printed: bool | None = None, process: int | None = None, limit: int | None = None,
              offset: int = 0, newest_first: bool = False, sort: str | None = None) -> list[CallRecord]:
        """The calls that pass all filters given. Runs count as calls only with `kind='run'`.

        Args:
            kind: 'python', 'op', 'gradient' or 'run'.
            site: Glob on node name, op type or function name.
            run, process: Of this run, of this process.
            failed: Raised an exception, or not.
            bad: Some recorded input or output has a NaN or infinity, or none has.
            printed: Said something (prints, warnings, log records), or not.
            limit, offset: The part of the sorted list to give.
            newest_first: Sort downwards.
            sort: One of `query.SORTS`; by time of start if None.

        Raises:
            CommandError: No such kind or sort key.
        """
        where, parameters = condition(kind=kind, site=site, run=run, failed=failed, bad=bad, printed=printed,
                                      process=process, walk=limit is not None and site is None and run is None)
        few = failed is True or bad is True or printed is True
        sql = (f'SELECT process, position, place FROM calls WHERE {where} ORDER BY {order(sort, newest_first, few=few)} '
               'LIMIT ? OFFSET ?')
        parameters += [-1 if limit is None else limit, offset]
        return self._answer(lambda: [self._reading.call(row) for row in self._reading.rows(sql, parameters)])

    def ordered(self, *, sort: str | None = None, newest_first: bool = False, **filters: Any) -> Ordering:
        """An empty list for the calls that pass the filters of `calls`, in an order; `build` fills it, on a worker thread.

        Raises:
            CommandError: No such kind or sort key.
        """
        few = any(filters.get(name) for name in ('failed', 'bad', 'printed'))
        where, parameters = condition(**self._needed(filters), walk=True)
        return Ordering(self._index.place, where, parameters, order(sort, newest_first, few=few), self._records,
                        self._payload)

    def spans(self, site: str | None = None) -> Spans:
        """The calls by time and thread, for a timeline; `site` is a glob. Close it after use."""
        return Spans(self._index.place, site)

    def _needed(self, filters: dict[str, Any]) -> dict[str, Any]:
        """The filters without that of a kind which all sites have: to test it for each call takes most of the time."""
        kind = filters.get('kind')
        if kind not in KINDS or kind == 'run' or self._answer(
                lambda: self._reading.rows("SELECT 1 FROM sites WHERE kind NOT IN (?, 'run') LIMIT 1", (kind,))):
            return filters
        return filters | {'kind': None}

    def _payload(self, process: int, position: int) -> bytes:
        return self._answer(lambda: self._index.reader(process).record(position).payload)

    def _records(self, places: Sequence[tuple[int, int]]) -> list[CallRecord]:
        def ask() -> list[CallRecord]:
            return [call for place in places for call in self._call_rows('process = ? AND id = ?', place)]
        return self._answer(ask)

    def count(self, **filters: Any) -> int:
        """How many calls pass the filters, as for `calls`."""
        where, parameters = condition(**filters)
        return int(self._answer(lambda: self._reading.rows(f'SELECT count(*) FROM calls WHERE {where}', parameters))[0][0])

    def call(self, number: str | int) -> CallRecord:
        """One call: 17, '17', '#17', '2.17' of the second process, or 'norm[3]', the fourth call of site norm (or of
        one whose name ends in /norm).

        Raises:
            CommandError: There is none; the message names the nearest.
        """
        asked = str(number).strip()
        match = _NUMBER.fullmatch(asked)
        if match is not None:
            process, id_ = int(match[1] or 1), int(match[2])
            rows = self._answer(lambda: self._call_rows('process = ? AND id = ?', (process, id_)))
            if not rows:
                raise CommandError(self._no_number(asked, process, id_))
            return rows[0]
        match = _ORDINAL.fullmatch(asked)
        if match is not None:
            for same, values in (('name = ?', [match[1]]), ('substr(name, -?) = ?', [len(match[1]) + 1, '/' + match[1]])):
                where = f'site IN (SELECT key FROM sites WHERE {same}) AND ordinal = ? AND id > 0 ORDER BY process, site'
                rows = self._answer(partial(self._call_rows, where, [*values, int(match[2])]))
                if rows:
                    return rows[0]
        raise CommandError(self._no_site(asked, match[1] if match is not None else asked))

    def _call_rows(self, where: str, parameters: Sequence[Any]) -> list[CallRecord]:
        return [self._reading.call(row) for row in self._reading.rows(
            f'SELECT process, position, place FROM calls WHERE {where}', parameters)]

    def _no_number(self, asked: str, process: int, id_: int) -> str:
        near = self._reading.rows('SELECT process, id FROM calls WHERE process = ? AND id > 0 ORDER BY abs(id - ?) LIMIT 3',
                                  (process, id_))
        names = ', '.join(decode.call_number(*row) for row in near)
        return f'There is no call {asked}' + (f'; near it: {names}.' if names else '; no call was recorded.')

    def _no_site(self, asked: str, site: str) -> str:
        known = self._reading.rows('SELECT name, count(*), max(ordinal) FROM calls JOIN sites ON key = site WHERE id > 0 '
                                   'GROUP BY name')
        for name, count, last in known:
            if name == site:
                return f'There is no call {asked!r}: {site!r} was called {count} times, the last is {site}[{last}].'
        return f'There is no call {asked!r}; expected a number such as 17, or a site and an ordinal such as norm[3].' \
            + nearest(site, [row[0] for row in known])

    def tensors(self, *, run: int | None = None, call: str | int | None = None, site: str | None = None,
                kind: str | None = None, bad: bool | None = None, process: int | None = None,
                limit: int | None = None) -> list[tuple[CallRecord, TensorRecord]]:
        """Recorded tensors with the call they belong to: what runs were fed, what calls gave, what else runs fetched.

        Args:
            run, process, site, kind: Of these calls only, as for `calls`.
            call: Of this call only: its inputs and outputs.
            bad: With a NaN or infinity, or without.
            limit: How many at most.
        """
        pairs: list[tuple[CallRecord, TensorRecord]] = []
        if call is not None:
            one = self.call(call)
            pairs = [(one, tensor) for tensor in (*one.inputs, *one.outputs)]
        else:
            around = self.calls(kind='run', run=run, process=process) if kind in (None, 'run') and site is None else []
            inner = self.calls(kind=kind, site=site, run=run, process=process) if kind != 'run' else []
            pairs = [(fed, tensor) for fed in around for tensor in fed.inputs]
            pairs += [(made, tensor) for made in inner for tensor in made.outputs]
            seen = {(made.process, made.run, tensor.name) for made, tensor in pairs}
            pairs += [(fed, tensor) for fed in around for tensor in fed.outputs
                      if (fed.process, fed.run, tensor.name) not in seen]
        if bad is not None:
            pairs = [pair for pair in pairs if (pair[1].stats is not None and pair[1].stats.bad > 0) == bad]
        return pairs[:limit]

    def usage(self) -> list[SiteUse]:
        """How often each site was called, and for how long; the one with the most time first."""
        return self._answer(lambda: usage(self._reading))

    def profile(self, run: int | None = None) -> list[SiteTime]:
        """What every site that was called cost, of one run if given; most time of its own first."""
        return self._answer(lambda: profile(self._reading, run))

    def time_of(self, site: SiteRecord, run: int | None = None) -> SiteTime | None:
        """What one site cost, what ran inside of its calls included; None if it was not called."""
        return self._answer(lambda: time_of(self._reading, site_key(site.process, site.id), run))

    def plans(self) -> list[PlanRecord]:
        """What runs have in common: each set of nodes that ran together, the newest first."""
        return self._answer(self._reading.plans)

    def newest(self, site: SiteRecord, *, run: int | None = None, limit: int = 1) -> list[CallRecord]:
        """The newest calls of just this site, of one run if given."""
        where, parameters = 'site = ? AND id > 0', [site_key(site.process, site.id)]
        if run is not None:
            where += ' AND run = ? AND process = ?'
            parameters += [run, site.process]
        return self._answer(lambda: self._call_rows(f'{where} ORDER BY ordinal DESC LIMIT ?', [*parameters, limit]))

    def during(self, start: float, end: float, *, kind: str | None = None, site: str | None = None, run: int | None = None,
               limit: int = 5_000) -> tuple[int, list[SpanRecord]]:
        """How many calls ran between two times in seconds, and the longest of them in order of their start."""
        where, parameters = condition(kind=kind, site=site, run=run)
        where += ' AND started <= ? AND (duration IS NULL OR started + duration >= ?)'
        parameters += [round(end * 1e9), round(start * 1e9)]

        def ask() -> tuple[int, list[SpanRecord]]:
            (total,) = self._reading.rows(f'SELECT count(*) FROM calls WHERE {where}', parameters)[0]
            order = 'ORDER BY duration IS NULL DESC, duration DESC ' if total > limit else ''
            found = self._reading.rows(f'SELECT {FIELDS} FROM calls WHERE {where} {order}LIMIT ?', [*parameters, limit])
            return total, sorted(records(found), key=lambda call: (call.started, -(call.duration or 0.0)))
        return self._answer(ask)

    def extent(self, run: int | None = None) -> tuple[float, float]:
        """When the first call began and the last one was over, in seconds; (0, 0) if there is none."""
        where, parameters = condition(run=run)
        rows = self._answer(lambda: self._reading.rows(
            f'SELECT min(started), max(started + coalesce(duration, 0)) FROM calls WHERE {where}', parameters))
        first, last = rows[0]
        return (0.0, 0.0) if first is None else (first / 1e9, last / 1e9)

    def edges(self, *, run: int | None = None, process: int | None = None) -> list[EdgeRecord]:
        """The backward steps: which gradient call differentiates which call, and the gradients it gave."""
        return [EdgeRecord(step.run, step.number, step.forward, step.sources, step.outputs)
                for step in self.calls(kind='gradient', run=run, process=process)]

    def notes(self, kind: str | None = None) -> list[NoteRecord]:
        """What `Recorder.note` put into the trace, in order; of one kind if given."""
        return self._answer(lambda: self._notes(kind))

    def _notes(self, kind: str | None) -> list[NoteRecord]:
        rows = self._reading.rows('SELECT process, position FROM notes ORDER BY process, position')
        return [note for row in rows if (note := self._reading.note(*row)) is not None and kind in (None, note.kind)]
