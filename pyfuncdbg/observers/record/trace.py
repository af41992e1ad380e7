"""A trace for reading: one query interface for a live recording, a finished one and one from another machine.

Used by views, commands and front ends, on any thread; a lock lets one work at a time.
"""
# long: one class whose methods are the queries; a third of it is their documentation
from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from pyfuncdbg.errors import CommandError, TraceError, nearest
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.op_cost import OpCost
from pyfuncdbg.observers.record import replay_slot
from pyfuncdbg.observers.record.display import mimebundle
from pyfuncdbg.observers.record.index import decode
from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls, group
from pyfuncdbg.observers.record.index.indexing import Progress, update
from pyfuncdbg.observers.record.index.log_reader import DecodedLog, LostRecordError
from pyfuncdbg.observers.record.index.process_tree import list_is_full, program_processes
from pyfuncdbg.observers.record.index.query import CallFilter, check_sort, sort_rows
from pyfuncdbg.observers.record.index.site_usage import SiteTime, SiteUse, profile, site_time, usage
from pyfuncdbg.observers.record.index.sorted_calls import SortedCalls
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.index.tables import UNFINISHED, site_key
from pyfuncdbg.observers.record.index.time_spans import SpanRecord, Spans, span_records
from pyfuncdbg.observers.record.index.trace_index import Index, LogState, StaleIndexError
from pyfuncdbg.observers.record.log.call_batch import RETRY
from pyfuncdbg.observers.record.log.trace_folder import read_manifest
from pyfuncdbg.observers.record.records import (
    HOST,
    OLDEST,
    OPS,
    SWITCH,
    TRIP,
    UNCAUGHT,
    CallRecord,
    EdgeRecord,
    NoteRecord,
    PlanRecord,
    RunRecord,
    SiteRecord,
    TensorRecord,
)
from pyfuncdbg.observers.record.sources.source_text import FileText
from pyfuncdbg.observers.record.trace_info import TraceInfo, pauses_of, trip_of

_NUMBER = re.compile(r'#?(?:(\d{1,7})\.)?(-?\d{1,18})')
_ORDINAL = re.compile(r'(.+)\[(\d{1,18})\]')
_MOST_COST = 1 << 60
_Answer = TypeVar('_Answer')


@dataclass(frozen=True, slots=True)
class NumberedCalls:
    """Numbers of calls: columns of equal length.

    Attributes:
        processes: Of the process of each.
        ids: Of each in its process.
        runs: Of the run of each.
    """

    processes: np.ndarray
    ids: np.ndarray
    runs: np.ndarray


class Trace:
    """An open trace. Close it after use, or use it as a context manager.

    Args:
        path: Its folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = new_rlock()
        self._manifest = read_manifest(path)
        self._index = Index(path, self._manifest)
        self._reading = DecodedLog(self._index, self._lock, self)

    @classmethod
    def open(cls, path: str | os.PathLike[str], progress: Progress | None = None, *, patience: float | None = None) -> Trace:
        """Open a trace and bring its index up to date.

        Args:
            path: The folder.
            progress: Called with the progress of the reading.
            patience: As of `refresh`.

        Returns:
            The trace; close it after use.

        Raises:
            NotATraceError: There is no trace at `path`.
            TraceVersionError: It was written by a newer version.
            TraceError: It cannot be read.
        """
        trace = cls(Path(path))
        try:
            trace.refresh(progress, patience=patience)
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

    def refresh(self, progress: Progress | None = None, *, patience: float | None = None) -> bool:
        """Read what was appended since.

        Args:
            progress: Called with the progress of the reading.
            patience: Seconds after which it stops, to be called again: queries know what was read by then, and `share_read`
                is less than 1. At least one record is read.

        Returns:
            Whether anything was.

        Raises:
            TraceError: The trace is closed or cannot be read.
        """
        with self._lock:
            try:
                return update(self._index, progress, patience)
            except StaleIndexError:
                self._renew()
            try:
                return update(self._index, progress, patience)
            except StaleIndexError as error:
                raise TraceError(f'{error}; another process may be writing to it') from error

    @property
    def share_read(self) -> float:
        """The share of the logs that is read: 1.0, unless the last `refresh` has stopped for want of patience."""
        unread = self._index.unread
        return 1.0 if not unread else 1 - unread / (unread + sum(log.nbytes for log in list(self._index.logs.values())))

    def _renew(self) -> None:
        self._index.clear()
        self._reading.renew()

    def _answer(self, ask: Callable[[], _Answer]) -> _Answer:
        """The result of `ask`; once more from the beginning of the logs if they turn out to have changed."""
        with self._lock:
            try:
                return ask()
            except LostRecordError:
                self._renew()
                self.refresh()
            try:
                return ask()
            except LostRecordError as error:
                raise TraceError(f'{self.path}: cannot be read: {error}') from error

    def _rows(self, condition: CallFilter, sort: str | None = None, newest_first: bool = False) -> np.ndarray:
        calls, sites = self._reading.calls(), self._reading.entries()
        return sort_rows(condition.rows(calls, sites), calls, sites, sort, newest_first)

    def info(self) -> TraceInfo:
        """Facts about the whole trace.

        Returns:
            Program, times, and counts of the contents.
        """
        return self._answer(self._info)

    def _info(self) -> TraceInfo:
        index, manifest = self._index, self._manifest
        logs = [log for _, log in sorted(index.logs.items())]
        dropped, nbytes = Counter[str](), 0
        damage = [text for _, text in sorted(index.damage.items())]
        for process, log in sorted(index.logs.items()):
            dropped.update(log.dropped)
            if log.removed:
                dropped[OLDEST] += log.removed
            if (reader := index.readers.get(process)) is not None:
                nbytes += reader.size
                if reader.stop_reason:
                    name, offset, length = reader.locate(log.position)
                    damage.append(f'{name}: {reader.stop_reason} at byte {offset} of {length}')
        tree = program_processes(self.path, {number: (log.pid, log.host) for number, log in index.logs.items()})
        first, runs = logs[0] if logs else LogState(), self._reading.run_counts()
        if tree:                                # which has the module's name, too, behind -m
            first = replace(first, argv=tree[0].command)
        if tree and 1 not in index.logs:        # the program itself had nothing to record, its children may have
            first = replace(first, pid=tree[0].pid, host=tree[0].host, python=tree[0].python)
        ended = max([one.ended - manifest.created for one in tree if one.ended is not None], default=0.0)
        return TraceInfo(str(self.path), manifest.version, first.argv, first.python, first.host, manifest.created,
                         max([ended, *[log.last / 1e9 for log in logs]]), _pids(first, index.logs),
                         runs['session'] + runs['function'] + runs['eager'], len(self._rows(CallFilter())),
                         len(index.sites), nbytes, manifest.budget, dict(dropped), tuple(damage),
                         (bool(logs) or any(one.ended for one in tree[:1])) and all(log.ended for log in logs),
                         self._op_cost(), any(log.ops for log in logs),
                         (self._retries(None), self._retries('run')),
                         runs['backward'], runs['element'], runs['inner'], self._reading.first_run(),
                         *self._environment(first), first.compiled, tuple([trip_of(note) for note in self._notes(TRIP)]),
                         pauses_of([note for note in self._notes(SWITCH) if note.process == 1]),
                         tuple([log.pid for log in logs if not log.ended]), manifest.parts, tree,
                         list_is_full(self.path), self._unlike_versions())

    def uncaught(self) -> str:
        """The exception that ended the program.

        Returns:
            One line; '' if none did, or the trace does not say.
        """
        noted = next((str(note.data.get('error', '')) for note in self.notes(UNCAUGHT)), '')
        return noted or next((process.error for process in program_processes(self.path, {})), '')

    def _retries(self, kind: str | None) -> int:
        return int(np.count_nonzero(self._reading.calls()['flags'][self._rows(CallFilter(kind))] & RETRY))

    def _environment(self, first: LogState) -> tuple[dict[str, str], str, dict[str, str]]:
        """Versions, machine and settings: those of the first process, and of the hosts of all."""
        versions, settings = dict(first.versions), dict(first.settings)
        for note in self._notes(HOST):
            name, version, variables = (note.data.get(field) for field in ('name', 'version', 'settings'))
            if isinstance(name, str) and isinstance(version, str) and version:
                versions.setdefault(name, version)
            for variable, value in variables.items() if isinstance(variables, dict) else ():
                settings.setdefault(str(variable), str(value))
        return versions, first.machine, settings

    def _unlike_versions(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Libraries whose version differs between processes: each version with the numbers of its processes."""
        found: dict[str, dict[str, set[int]]] = {}
        for process, log in self._index.logs.items():
            for name, version in {'Python': log.python, **log.versions}.items():
                found.setdefault(name, {}).setdefault(version, set()).add(process)
        for note in self._notes(HOST):
            host, of_host = note.data.get('name'), note.data.get('version')
            if isinstance(host, str) and isinstance(of_host, str):
                found.setdefault(host, {}).setdefault(of_host, set()).add(note.process)
        return {name: {version: tuple(sorted(processes)) for version, processes in versions.items()}
                for name, each in found.items() if len(versions := {one: some for one, some in each.items() if one}) > 1}

    def _op_cost(self) -> OpCost | None:
        """The sum of what the processes noted."""
        costs = [note.data for note in self._notes(OPS)]
        if not costs:
            return None
        calls, seconds, nbytes = (sum(number for data in costs if isinstance(number := data.get(name), int | float)
                                      and 0 <= number < _MOST_COST) for name in ('calls', 'seconds', 'nbytes'))
        return OpCost(int(calls), float(seconds), int(nbytes))

    def sites(self) -> list[SiteRecord]:
        """All sites.

        Returns:
            By process and id.
        """
        return self._answer(self._reading.sites)

    def runs(self) -> list[RunRecord]:
        """All runs.

        Returns:
            In order of their start.
        """
        def ask() -> list[RunRecord]:
            runs = self._reading.runs()
            rows = runs.rows[np.argsort(runs['started'][runs.rows], kind='stable')]
            return [self._reading.run(row) for row in rows.tolist()]
        return self._answer(ask)

    def run(self, id: int, process: int = 1) -> RunRecord:
        """One run.

        Args:
            id: Its number in its process.
            process: Number of the process, from 1.

        Returns:
            The run.

        Raises:
            CommandError: There is none of this number; the message names the nearest.
        """
        def ask() -> RunRecord:
            runs = self._reading.runs()
            row = runs.row(process, id)
            if row is None:
                near = ', '.join(map(str, runs.nearest_ids(process, id)))
                raise CommandError(f'There is no run {id}' + (f'; near it: {near}.' if near else '; no run was recorded.'))
            return self._reading.run(row)
        return self._answer(ask)

    def calls(self, *, kind: str | None = None, site: str | None = None, run: int | None = None, failed: bool | None = None,
              bad: bool | None = None, printed: bool | None = None, process: int | None = None,
              processes: tuple[int, ...] | None = None, changed: bool | None = None, limit: int | None = None,
              offset: int = 0, newest_first: bool = False, sort: str | None = None) -> list[CallRecord]:
        """The calls that pass all filters. Runs count as calls only with `kind='run'`.

        Args:
            kind: 'python', 'op', 'gradient' or 'run'.
            site: Glob on node name, op type or function name.
            run, process, processes: Of this run, of this process, of one of these.
            failed: Raised an exception, or not.
            bad: Some recorded input or output has a NaN or infinity, or none has.
            printed: Has output (prints, warnings, log records), or not.
            changed: Wrote to one of its inputs, or not. Unknown in traces of earlier versions.
            limit, offset: The part of the sorted list.
            newest_first: Sort downwards.
            sort: One of `query.SORTS`; by time of start if None.

        Returns:
            The calls in that order.

        Raises:
            CommandError: No such kind or sort key.
        """
        check_sort(sort)
        condition = CallFilter(kind, site, run, failed, bad, printed, process, changed, processes)

        def ask() -> list[CallRecord]:
            rows = self._rows(condition, sort, newest_first)[max(offset, 0):]
            return [self._reading.call(row) for row in rows[:limit].tolist()]
        return self._answer(ask)

    def call_numbers(self, **filters: Any) -> NumberedCalls:
        """The numbers of the calls that pass all filters, without reading their records.

        Args:
            **filters: As for `calls`.

        Returns:
            In order of their start.

        Raises:
            CommandError: No such kind.
        """
        condition = CallFilter(**filters)

        def ask() -> NumberedCalls:
            rows, calls = self._rows(condition), self._reading.calls()
            return NumberedCalls(calls['process'][rows].astype(np.int64), calls['id'][rows], calls['run'][rows])
        return self._answer(ask)

    def sorted_calls(self, *, sort: str | None = None, newest_first: bool = False, **filters: Any) -> SortedCalls:
        """A list of calls for a worker thread to build.

        Args:
            sort: One of `query.SORTS`; by time of start if None.
            newest_first: Sort downwards.
            **filters: As for `calls`.

        Returns:
            An empty list; its `build` fills it.

        Raises:
            CommandError: No such kind or sort key.
        """
        check_sort(sort)
        condition = CallFilter(**filters)
        with self._lock:
            return SortedCalls(self._reading.calls(), dict(self._reading.entries()), condition, sort, newest_first,
                               self._records, self._payload)

    def groups(self, run: int | None = None, progress: Progress | None = None,
               processes: tuple[int, ...] | None = None) -> tuple[GroupedCalls, GroupedCalls]:
        """The calls and runs by column, with digests of their contents, for a comparison.

        Args:
            run: Only this run, and its calls.
            progress: Told how many of how many calls are read.
            processes: Only these.

        Returns:
            Calls by site, and runs by plan.
        """
        return self._answer(lambda: group(self._reading, run, progress, processes))

    def grouped_call(self, row: int) -> CallRecord:
        """A call of `groups`.

        Args:
            row: In `rows` of the calls.

        Returns:
            The call, without statistics of values that are kept whole.
        """
        return self._answer(lambda: self._reading.call(row, stats=False))

    def grouped_state(self, row: int) -> CallState:
        """The state that a call of `groups` began in.

        Args:
            row: In `rows` of the calls.

        Returns:
            The state, as far as it was kept.
        """
        return self._answer(lambda: self._reading.call_state(row))

    def grouped_run(self, row: int) -> RunRecord:
        """A run of `groups`.

        Args:
            row: In `rows` of the runs.

        Returns:
            The run, without statistics of values that are kept whole.
        """
        return self._answer(lambda: self._reading.run(row, stats=False))

    def spans(self, site: str | None = None) -> Spans:
        """The calls by time and thread, for a timeline.

        Args:
            site: Glob on node name, op type or function name.

        Returns:
            The spans; close them after use.
        """
        with self._lock:
            return Spans(self._reading.calls(), dict(self._reading.entries()), site)

    def _payload(self, process: int, position: int) -> bytes:
        return self._answer(lambda: self._index.reader(process).record(position).payload)

    def _records(self, places: Sequence[tuple[int, int]]) -> list[CallRecord]:
        def ask() -> list[CallRecord]:
            rows = [self._reading.calls().row(*place) for place in places]
            return [self._reading.call(row) for row in rows if row is not None]
        return self._answer(ask)

    def count(self, **filters: Any) -> int:
        """Count calls.

        Args:
            **filters: As for `calls`.

        Returns:
            How many pass.
        """
        condition = CallFilter(**filters)
        return self._answer(lambda: len(self._rows(condition)))

    def call(self, number: str | int) -> CallRecord:
        """One call.

        Args:
            number: 17, '17', '#17', '2.17' of the second process, or 'norm[3]', the fourth call of site norm (or of one
                whose name ends in /norm).

        Returns:
            The call.

        Raises:
            CommandError: There is none; the message names the nearest.
        """
        reference = str(number).strip()
        match = _NUMBER.fullmatch(reference)
        if match is not None:
            process, id_ = int(match[1] or 1), int(match[2])
            calls = self._records([(process, id_)])
            if not calls:
                raise CommandError(self._answer(lambda: self._no_number(reference, process, id_)))
            return calls[0]
        match = _ORDINAL.fullmatch(reference)
        one = self._answer(partial(self._of_site, match[1], int(match[2]))) if match is not None else None
        if one is None:
            raise CommandError(self._answer(lambda: self._no_site(reference, match[1] if match is not None else reference)))
        return one

    def call_state(self, number: str | int) -> CallState:
        """The state that a Python call began in: random generators, its function with what that reads, surroundings.

        Args:
            number: As for `call`.

        Returns:
            The state, as far as it was kept.

        Raises:
            CommandError: There is no such call.
        """
        match = _NUMBER.fullmatch(self.call(number).number)
        assert match is not None
        process, id_ = int(match[1] or 1), int(match[2])

        def ask() -> CallState:
            row = self._reading.calls().row(process, id_)
            return CallState() if row is None else self._reading.call_state(row)
        return self._answer(ask)

    def _of_site(self, name: str, ordinal: int) -> CallRecord | None:
        """The call with this ordinal of the site of this name; of one whose name ends so if there is none.

        Of a call that was retried the last execution: it gave what the program got.
        """
        calls, sites = self._reading.calls(), self._reading.entries()
        rows = self._rows(CallFilter())
        rows = rows[calls['ordinal'][rows] == ordinal]
        names = [sites[key].name if key in sites else '' for key in calls['site'][rows].tolist()]
        for row, site in sorted(zip(rows.tolist(), names, strict=True), key=lambda pair: pair[1] != name):
            if site == name or site.endswith('/' + name):
                return self._reading.call(int(rows[calls['site'][rows] == calls['site'][row]][-1]))
        return None

    def _no_number(self, reference: str, process: int, id_: int) -> str:
        names = ', '.join(decode.call_number(process, one) for one in self._reading.calls().nearest_ids(process, id_))
        near = f'; near it: {names}.' if names else '; no call was recorded.'
        return f'There is no call {reference}{near}{self._lost()}'

    def _no_site(self, reference: str, site: str) -> str:
        calls, sites = self._reading.calls(), self._reading.entries()
        rows = self._rows(CallFilter())
        keys, counts = np.unique(calls['site'][rows], return_counts=True)
        called = {sites[key].name: (key, count) for key, count in zip(keys.tolist(), counts.tolist(), strict=True)
                  if key in sites}
        if site in called:
            key, count = called[site]
            last = int(calls['ordinal'][rows][calls['site'][rows] == key].max())
            return f'There is no call {reference!r}: {site!r} has {count} in the trace, the last is {site}[{last}].' \
                + self._lost()
        return f'There is no call {reference!r}; expected a number such as 17, or a site and an ordinal such as norm[3].' \
            + nearest(site, list(called)) + self._lost()

    def _lost(self) -> str:
        """A remark on calls that were made and are not in the trace."""
        lost = self._info().lost_calls
        return f' Not kept: {lost:,} call{"s" * (lost > 1)}.' if lost else ''

    def tensors(self, *, run: int | None = None, call: str | int | None = None, site: str | None = None,
                kind: str | None = None, bad: bool | None = None, process: int | None = None,
                limit: int | None = None) -> list[tuple[CallRecord, TensorRecord]]:
        """Recorded tensors: feeds of runs, outputs of calls, other fetches of runs.

        Args:
            run, process, site, kind: Of these calls only, as for `calls`.
            call: Of this call only: its inputs and outputs.
            bad: With a NaN or infinity, or without.
            limit: How many at most.

        Returns:
            Each with its call.
        """
        pairs: list[tuple[CallRecord, TensorRecord]] = []
        if call is not None:
            one = self.call(call)
            pairs = [(one, tensor) for tensor in (*one.inputs, *one.outputs)]
        else:
            runs = self.calls(kind='run', run=run, process=process) if kind in (None, 'run') and site is None else []
            inner = self.calls(kind=kind, site=site, run=run, process=process) if kind != 'run' else []
            pairs = [(fed, tensor) for fed in runs for tensor in fed.inputs]
            pairs += [(made, tensor) for made in inner for tensor in made.outputs]
            seen = {(made.process, made.run, tensor.name) for made, tensor in pairs}
            pairs += [(fed, tensor) for fed in runs for tensor in fed.outputs
                      if (fed.process, fed.run, tensor.name) not in seen]
        if bad is not None:
            pairs = [pair for pair in pairs if (pair[1].stats is not None and pair[1].stats.bad > 0) == bad]
        return pairs[:limit]

    def usage(self) -> list[SiteUse]:
        """Call counts and times by site.

        Returns:
            The site with the most time first.
        """
        return self._answer(lambda: usage(self._reading))

    def profile(self, run: int | None = None) -> list[SiteTime]:
        """The cost of each site that was called.

        Args:
            run: In this run only.

        Returns:
            The site with the most self time first.
        """
        return self._answer(lambda: profile(self._reading, run))

    def site_time(self, site: SiteRecord, run: int | None = None) -> SiteTime | None:
        """The cost of one site, with all that ran inside its calls.

        Args:
            site: The site.
            run: In this run only.

        Returns:
            The cost; None if it was not called.
        """
        return self._answer(lambda: site_time(self._reading, site_key(site.process, site.id), run))

    def plans(self) -> list[PlanRecord]:
        """The plans of runs: each set of nodes that ran together.

        Returns:
            The newest first.
        """
        return self._answer(self._reading.plans)

    def newest_calls(self, site: SiteRecord, *, run: int | None = None, limit: int = 1) -> list[CallRecord]:
        """The newest calls of one site.

        Args:
            site: The site.
            run: Of this run only.
            limit: How many at most.

        Returns:
            The newest first.
        """
        def ask() -> list[CallRecord]:
            calls = self._reading.calls()
            rows = self._rows(CallFilter(run=run, process=site.process))
            rows = rows[calls['site'][rows] == site_key(site.process, site.id)]
            rows = rows[::-1]                   # of a call that was retried the last execution first
            rows = rows[np.argsort(~calls['ordinal'][rows], kind='stable')]
            return [self._reading.call(row) for row in rows[:limit].tolist()]
        return self._answer(ask)

    def spread_calls(self, site: SiteRecord, limit: int) -> list[CallRecord]:
        """Calls of one site from all of the recording: the first, the last, and others at equal distances.

        Args:
            site: The site.
            limit: How many at most.

        Returns:
            The calls in order of their start; only those that ended.
        """
        def ask() -> list[CallRecord]:
            calls = self._reading.calls()
            rows = self._rows(CallFilter(process=site.process))
            rows = rows[calls['site'][rows] == site_key(site.process, site.id)]
            places = np.unique(np.linspace(0, max(len(rows) - 1, 0), min(limit, len(rows))).astype(np.int64))
            return [call for row in rows[places].tolist() if (call := self._reading.call(row)).duration is not None]
        return self._answer(ask)

    def audit(self, site: str = '', *, calls: int = 5, trust: bool = False) -> Any:
        """Find out what the recorded functions do beside computing outputs of inputs, by replays of some of their calls.

        Args:
            site: Glob on node name, op type or function name; '' for all.
            calls: How many calls of each are replayed at most: the first, the last, and others between.
            trust: Run the source that the trace holds where no file has the function.

        Returns:
            An `Audit`: of each site its `purity` ('pure', 'not pure' or 'not known') and its `findings`.

        Raises:
            CommandError: No site matches.
        """
        return replay_slot.audit(self, site=site, calls=calls, trust=trust)

    def spans_during(self, start: float, end: float, *, kind: str | None = None, site: str | None = None,
                     run: int | None = None, limit: int = 5_000) -> tuple[int, list[SpanRecord]]:
        """The calls in a window of time.

        Args:
            start, end: The window, in seconds since the trace began.
            kind, site, run: As for `calls`.
            limit: How many spans at most.

        Returns:
            The number of calls, and the longest of them in order of their start.
        """
        condition = CallFilter(kind, site, run)

        def ask() -> tuple[int, list[SpanRecord]]:
            calls, sites = self._reading.calls(), self._reading.entries()
            rows = self._rows(condition)
            started, duration = calls['started'][rows] / 1e9, calls['duration'][rows]
            rows = rows[(started <= end) & ((duration == UNFINISHED) | (started + duration / 1e9 >= start))]
            total, duration = len(rows), calls['duration'][rows]
            if total > limit:
                rows = rows[np.lexsort((~duration, duration != UNFINISHED))]
            spans = span_records(calls, sites, rows[:limit])
            return total, sorted(spans, key=lambda call: (call.started, -(call.duration or 0.0)))
        return self._answer(ask)

    def extent(self, run: int | None = None) -> tuple[float, float]:
        """The times of the first and last call.

        Args:
            run: Of this run only.

        Returns:
            Start of the first and end of the last, in seconds since the trace began; (0, 0) without calls.
        """
        def ask() -> tuple[float, float]:
            calls, rows = self._reading.calls(), self._rows(CallFilter(run=run))
            if not len(rows):
                return 0.0, 0.0
            started = calls['started'][rows]
            return int(started.min()) / 1e9, int((started + np.maximum(calls['duration'][rows], 0)).max()) / 1e9
        return self._answer(ask)

    def edges(self, *, run: int | None = None, process: int | None = None) -> list[EdgeRecord]:
        """The backward steps: which gradient call differentiates which call, and its gradients.

        Args:
            run, process: Of this run, of this process.

        Returns:
            The steps.
        """
        return [EdgeRecord(step.run, step.number, step.forward, step.sources, step.outputs)
                for step in self.calls(kind='gradient', run=run, process=process)]

    def source(self, filename: str) -> FileText:
        """The text of a file that the trace names: recorded, or a local file that equals it.

        Args:
            filename: As the trace names it.

        Returns:
            The text, as far as it is known.
        """
        return self._answer(lambda: self._reading.sources.file(filename))

    def notes(self, kind: str | None = None) -> list[NoteRecord]:
        """The notes of `Recorder.note`.

        Args:
            kind: Of this kind only.

        Returns:
            In order.
        """
        return self._answer(lambda: self._notes(kind))

    def _notes(self, kind: str | None) -> list[NoteRecord]:
        return [note for place in sorted(self._index.notes)
                if (note := self._reading.note(*place)) is not None and kind in (None, note.kind)]


def _pids(first: LogState, logs: Mapping[int, LogState]) -> tuple[int, ...]:
    """Process ids by number of the process, from 1; the first may have had nothing to record."""
    return tuple([logs[number].pid if number in logs else first.pid * (number == 1) for number in range(1, max(logs) + 1)]
                 ) if logs else ()
