"""Decoding of records at the places in the logs that the index knows: batches of calls, sites, plans, blobs.

The inner half of `Trace`, which holds its lock around every use.
"""
from __future__ import annotations

import contextlib
import threading
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.errors import DroppedError, TraceError
from pyfuncdbg.hooks.call import RunKind, run_title
from pyfuncdbg.observers.record.array_bytes import array_from, digest
from pyfuncdbg.observers.record.index import decode
from pyfuncdbg.observers.record.index.call_digests import Digests, batch_digests, damage_digests
from pyfuncdbg.observers.record.index.state_records import CallState, state_fields
from pyfuncdbg.observers.record.index.tables import SITE_BITS, TableView
from pyfuncdbg.observers.record.index.trace_index import Index, SiteEntry
from pyfuncdbg.observers.record.index.trace_sources import TraceSources
from pyfuncdbg.observers.record.log.call_batch import Batch, decode_msgpack
from pyfuncdbg.observers.record.log.run_batch import NO_ELEMENT
from pyfuncdbg.observers.record.records import CallRecord, NoteRecord, PlanRecord, RunRecord, SiteRecord, Stats
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

_BATCHES = 64


_Plan = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[int, ...], RunKind]
"""Label, host, names of feeds and of fetches, ids of sites, kind."""
_NO_PLAN: _Plan = ('?', '', (), (), (), 'session')


class LostRecordError(Exception):
    """The index points to something that is not there."""


class DecodedLog:
    """Decoder of the logs of a trace, with a cache of what was used lately.

    Args:
        index: Of the trace.
        lock: Of the trace.
        trace: Itself, for its records.
    """

    def __init__(self, index: Index, lock: threading.RLock, trace: object = None) -> None:
        self._index = index
        self._trace: Callable[[], object] = weakref.ref(trace) if trace is not None else lambda: None
        self._lock = lock
        self._batches: OrderedDict[tuple[int, int], Batch] = OrderedDict()
        self._sites: dict[int, SiteRecord] = {}
        self._plans: dict[tuple[int, int], _Plan] = {}
        self.sources = TraceSources(index, lock)
        self._summary = lru_cache(maxsize=4096)(self._stats_of_blob)

    def renew(self) -> None:
        """Forget everything: the index starts over."""
        self._sites.clear()
        self._plans.clear()
        self._batches.clear()
        self.sources.clear()

    def calls(self) -> TableView:
        """The columns of all calls.

        Returns:
            A view that does not change.
        """
        return self._index.calls.view()

    def runs(self) -> TableView:
        """The columns of all runs.

        Returns:
            A view that does not change.
        """
        return self._index.runs.view()

    def entries(self) -> dict[int, SiteEntry]:
        """The search entries of sites.

        Returns:
            By key of the site; the caller copies what it keeps.
        """
        return self._index.sites

    def sites(self) -> list[SiteRecord]:
        """All sites.

        Returns:
            By process and id.
        """
        return [self.site(key) for key in sorted(self._index.sites)]

    def site(self, key: int) -> SiteRecord:
        """One site.

        Args:
            key: As from `tables.site_key`.

        Returns:
            The site; a placeholder while its record is missing.
        """
        site = self._sites.get(key)
        if site is None:
            entry, process = self._index.sites.get(key), key >> SITE_BITS
            if entry is None:                   # the record may follow
                return decode.unknown_site(key & (1 << SITE_BITS) - 1, process)
            site = self._sites[key] = decode.site_record(decode_msgpack(entry.payload), process, self.sources)
        return site

    def run_counts(self) -> Counter[RunKind]:
        """Count the runs by kind.

        Returns:
            How many there are of each.
        """
        runs = self.runs()
        processes, plans = runs['process'][runs.rows], runs['plan'][runs.rows]
        counts: Counter[RunKind] = Counter()
        for process in np.unique(processes, return_counts=True)[0].tolist():    # without counts it imports `numpy.ma`
            numbers, times = np.unique(plans[processes == process], return_counts=True)
            for plan, count in zip(numbers.tolist(), times.tolist(), strict=True):
                counts[self._plan(process, plan)[-1]] += count
        return counts

    def first_run(self) -> int:
        """The least number of a run.

        Returns:
            1 where there is no run.
        """
        runs = self.runs()
        return int(runs['id'][runs.rows].min()) if len(runs.rows) else 1

    def run(self, row: int, *, stats: bool = True) -> RunRecord:
        """Decode a run.

        Args:
            row: In `runs`.
            stats: As for `call`.

        Returns:
            The run.

        Raises:
            LostRecordError: Its call is not in the log any more.
        """
        runs = self.runs()
        process, id_, plan, started = (int(runs[name][row]) for name in ('process', 'id', 'plan', 'started'))
        label, host, _, fetches, sites, kind = self._plan(process, plan)
        label = run_title(label, _element(runs, row))
        at = self.calls().row(process, -id_)
        call = self.call(at, stats=stats) if at is not None else None
        if call is None:
            return RunRecord(id_, process, label, host, started / 1e9, None, (), (), None, sites, fetches, kind=kind)
        return RunRecord(id_, process, label, host, started / 1e9, call.duration, call.inputs, call.outputs, call.error,
                         sites, fetches, call.retry_of, kind)

    def _plan(self, process: int, number: int) -> _Plan:
        fields = self._plans.get((process, number))
        if fields is None:
            payload = self._index.plans.get((process, number))
            if payload is None:                 # the record may follow
                return _NO_PLAN
            fields = self._plans[process, number] = self._decode_plan(payload)
        return fields

    def _decode_plan(self, payload: bytes) -> _Plan:
        try:
            _, label, host, feeds, fetches, sites, kind = decode.plan_fields(decode_msgpack(payload))
            if not isinstance(sites, bytes) or len(sites) % 8:
                raise ValueError('wrong list of sites')
            ids = tuple([int.from_bytes(sites[i:i + 8], 'little') for i in range(0, len(sites), 8)])
            return decode.text(label), decode.text(host), decode.texts(feeds), decode.texts(fetches), ids, kind
        except (ValueError, TypeError):
            return _NO_PLAN

    def call(self, row: int, *, stats: bool = True) -> CallRecord:
        """Decode a call.

        Args:
            row: In `calls`.
            stats: Compute statistics of values that are kept whole: nine tenths of the work.

        Returns:
            The call; a placeholder if its record is damaged.

        Raises:
            LostRecordError: It is not in the log any more.
        """
        calls = self.calls()
        process, position, head = (calls[name][row] for name in ('process', 'position', 'head'))
        place = row - head
        numbers = decode.CallNumbers(*(int(calls[name][row]) for name in decode.NUMBERS))
        site = self.site(int(calls['site'][row]))
        names: tuple[Sequence[str], Sequence[str]] = site.inputs, site.outputs
        runs = self.runs()
        run = runs.row(process, numbers.run)
        element_text = ''
        if run is not None:
            plan, element = self._plan(process, int(runs['plan'][run])), _element(runs, run)
            if numbers.id < 0:
                names = plan[2:4]
            element_text = '' if element is None else run_title(plan[0], element)
        payload = self._payload(process, position)
        try:
            batch = self._batch(process, position, payload)
            if place >= batch.count or batch.columns[0][place] != numbers.id:
                raise LostRecordError('the log is not what it was')
            return decode.call_record(batch, place, numbers, site, names, self._read_blob, self._summary if stats else None,
                                      self.sources, element_text, self._trace())
        except (ValueError, TypeError) as error:
            # The rest of a list of calls must not suffer from one that was written wrongly.
            return decode.damaged_call(numbers, site, str(error))

    def plan_name(self, process: int, number: int) -> tuple[str, RunKind]:
        """The name of a plan.

        Args:
            process, number: Of the plan.

        Returns:
            Label and kind of its runs.
        """
        label, *_, kind = self._plan(process, number)
        return label, kind

    def digest(self, rows: np.ndarray, digests: Digests, progress: Callable[[int, int], None] | None = None) -> None:
        """Digest calls, batch by batch; what is remembered of batches stays as it is.

        Args:
            rows: In `calls`.
            digests: Room for all rows of the table.
            progress: Told how many of how many rows are digested.

        Raises:
            LostRecordError: The logs are not what they were.
        """
        calls = self.calls()
        rows = rows[np.lexsort((calls['position'][rows], calls['process'][rows]))]
        processes, positions = calls['process'][rows], calls['position'][rows]
        places = rows - calls['head'][rows]
        starts = np.flatnonzero(np.concatenate(([True], (positions[1:] != positions[:-1]) | (
            processes[1:] != processes[:-1])))) if len(rows) else np.empty(0, np.int64)
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=False):
            process, position = int(processes[start]), int(positions[start])
            payload = self._payload(process, position)
            try:
                batch = Batch(payload) if payload is not None else self._batches[process, position]
                made = batch_digests(batch)
            except (ValueError, TypeError) as error:    # as a call of it is shown
                made = damage_digests(int(places[start:end].max()) + 1, str(error))
            if int(places[start:end].max()) >= len(made.content):
                raise LostRecordError('the log is not what it was')
            for name in Digests.__slots__:
                getattr(digests, name)[rows[start:end]] = getattr(made, name)[places[start:end]]
            if progress is not None:
                progress(end, len(rows))

    def plans(self) -> list[PlanRecord]:
        """Every plan that has runs.

        Returns:
            The newest first.
        """
        runs = self.runs()
        rows = runs.rows[np.argsort(runs['plan'][runs.rows], kind='stable')]
        rows = rows[np.argsort(runs['process'][rows], kind='stable')]
        processes, plans = runs['process'][rows], runs['plan'][rows]
        starts = np.flatnonzero(np.concatenate(([True], (plans[1:] != plans[:-1]) | (processes[1:] != processes[:-1])))) \
            if len(rows) else np.empty(0, np.int64)
        records = []
        for group in np.split(rows, starts[1:]) if len(starts) else []:
            process, plan = int(runs['process'][group[0]]), int(runs['plan'][group[0]])
            record = PlanRecord(process, *self._plan(process, plan), len(group), int(runs['id'][group].max()))
            records.append((int(runs['started'][group].max()), record))
        return [record for _, record in sorted(records, key=lambda pair: -pair[0])]

    def call_state(self, row: int) -> CallState:
        """Decode the state that a call began in.

        Args:
            row: In `calls`.

        Returns:
            The state, as far as it was kept.

        Raises:
            LostRecordError: The call is not in the log any more.
        """
        calls = self.calls()
        process, position, head = (calls[name][row] for name in ('process', 'position', 'head'))
        place = row - head
        fields: dict[str, Any] = {}
        places = self._index.states.get(process)
        try:
            numbers = self._batch(process, position, self._payload(process, position)).state(place)
        except ValueError:                      # damaged
            return CallState()
        for number in numbers:
            at = places.find(number) if number and places is not None else None
            if at is not None:
                with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):      # damaged: not known
                    fields |= state_fields(self._index.reader(process).record(at).payload)
        return CallState(**fields, numbers=numbers)

    def _payload(self, process: int, position: int) -> bytes | None:
        """The record of a batch that is not remembered.

        Raises:
            LostError: It is not in the log any more.
        """
        if (process, position) in self._batches:
            return None
        try:
            return self._index.reader(process).record(position).payload
        except (TraceError, OverflowError, OSError) as error:
            raise LostRecordError(str(error)) from error

    def _batch(self, process: int, position: int, payload: bytes | None) -> Batch:
        key = (process, position)
        if payload is not None:
            self._batches[key] = Batch(payload)
            if len(self._batches) > _BATCHES:
                self._batches.popitem(last=False)
        else:
            self._batches.move_to_end(key)
        return self._batches[key]

    def _seconds(self, process: int) -> Callable[[int], float]:
        offset = self._index.logs[process].offset
        return lambda at: (at + offset) / 1e9

    def _read_blob(self, key: bytes) -> bytes:
        with self._lock:
            place = self._index.blobs.find(key)
            if place is None:
                raise DroppedError('its bytes are not in the trace (damaged, or cut off)')
            process, position, length = place
            try:
                data = self._index.reader(process).read(position, length)
            except (TraceError, OSError, OverflowError, ValueError) as error:
                raise DroppedError(f'its bytes cannot be read: {error}') from error
        if digest(data) != key:
            raise DroppedError('its bytes are damaged')
        return data

    def _stats_of_blob(self, key: bytes, dtype: str, shape: tuple[int, ...]) -> Stats | None:
        try:
            return stats_of(array_from(self._read_blob(key), dtype, shape))
        except (DroppedError, msgpack.UnpackException) as error:
            raise ValueError(str(error)) from error

    def note(self, process: int, position: int) -> NoteRecord | None:
        """Decode a note.

        Args:
            process: Number of its process.
            position: Byte of its record in the log.

        Returns:
            The note; None if its record is damaged or cannot be read.
        """
        try:
            kind, at, data = decode.list_of(decode_msgpack(self._index.reader(process).record(position).payload), 3)
            return NoteRecord(decode.text(kind), process, self._seconds(process)(decode.number(at)),
                              data if isinstance(data, dict) else {})
        except (ValueError, TraceError, OSError):       # of a log that cannot be opened again, too
            return None


def _element(runs: TableView, row: int) -> int | None:
    element = int(runs['element'][row])
    return None if element == NO_ELEMENT else element
