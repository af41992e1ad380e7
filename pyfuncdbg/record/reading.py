"""From places in the logs, as the index knows them, to records: decodes batches of calls, sites, plans, blobs.

The inner half of `Trace`, which holds its lock around every use.
"""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.errors import DroppedError, TraceError
from pyfuncdbg.hooks.call import title
from pyfuncdbg.record import decode
from pyfuncdbg.record.batch import Batch, columns_of, unpacked
from pyfuncdbg.record.folder import Manifest
from pyfuncdbg.record.index import SITE_BITS, Index, site_key
from pyfuncdbg.record.query import site_matches
from pyfuncdbg.record.records import CallRecord, NoteRecord, PlanRecord, RunRecord, SiteRecord, Stats
from pyfuncdbg.record.snapshot import array_from, digest
from pyfuncdbg.record.statistics import stats_of

_BATCHES = 64

Place = tuple[int, int, int]
"""Process, byte in its log, row in the batch there."""


class LostError(Exception):
    """The index points to something that is not there."""


class Reading:
    """Decodes and remembers what was used lately."""

    def __init__(self, path: Path, manifest: Manifest, index: Index, lock: threading.RLock) -> None:
        self.path = path
        self._manifest = manifest
        self._index = index
        self._lock = lock
        self._batches: OrderedDict[tuple[int, int], Batch] = OrderedDict()
        self._sites: dict[int, SiteRecord] = {}
        self._clocks: dict[int, int] = {}
        self._summary = lru_cache(maxsize=4096)(self._stats_of_blob)
        self.renew()

    def renew(self) -> None:
        """Forget everything: the index is another now."""
        self._index.database.create_function('site_matches', 4, site_matches, deterministic=True)
        self._sites.clear()
        self._clocks.clear()
        self._batches.clear()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What the index answers."""
        return self._index.database.execute(sql, parameters).fetchall()

    def sites(self) -> list[SiteRecord]:
        """All sites, by process and id: in one query."""
        return [self.site(key, payload) for key, payload in self.rows('SELECT key, payload FROM sites ORDER BY key')]

    def site(self, key: int, payload: bytes | None = None) -> SiteRecord:
        """One site; its payload if that is at hand."""
        known = self._sites.get(key)
        if known is None:
            process = key >> SITE_BITS
            rows = [(payload,)] if payload is not None else self.rows('SELECT payload FROM sites WHERE key = ?', (key,))
            try:
                known = decode.site_record(unpacked(rows[0][0]), process) if rows else None
            except (ValueError, TypeError) as error:
                raise LostError(str(error)) from error
            known = known if known is not None else decode.unknown_site(key & (1 << SITE_BITS) - 1, process)
            self._sites[key] = known
        return known

    def run(self, process: int, id_: int, plan: int, started: int, element: int | None) -> RunRecord:
        label, host, _, asked, sites = self._plan(process, plan)
        label = title(label, element)
        places = self.rows('SELECT process, position, place FROM calls WHERE process = ? AND id = ?', (process, -id_))
        call = self.call(places[0]) if places else None
        if call is None:
            return RunRecord(id_, process, label, host, started / 1e9, None, (), (), None, sites, asked)
        return RunRecord(id_, process, label, host, started / 1e9, call.duration, call.inputs, call.outputs, call.error,
                         sites, asked)

    def _plan(self, process: int, number: int) -> tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
        rows = self.rows('SELECT payload FROM plans WHERE process = ? AND number = ?', (process, number))
        if not rows:
            return '?', '', (), (), ()
        try:
            _, label, host, feeds, fetches, sites = decode.listed(unpacked(rows[0][0]), 6)
            if not isinstance(sites, bytes) or len(sites) % 8:
                raise ValueError('wrong list of sites')
            ids = tuple([int.from_bytes(sites[i:i + 8], 'little') for i in range(0, len(sites), 8)])
            return decode.text(label), decode.text(host), decode.texts(feeds), decode.texts(fetches), ids
        except (ValueError, TypeError):
            return '?', '', (), (), ()

    def call(self, place: Place) -> CallRecord:
        process, position, row = place
        batch = self._batch(process, position)
        if not 0 <= row < batch.count:
            raise LostError('the index does not fit the log')
        site = self.site(site_key(process, int(batch.columns[2][row])))
        names: tuple[Sequence[str], Sequence[str]] = site.inputs, site.outputs
        key = process, int(batch.columns[1][row])
        runs = self.rows('SELECT plan, element FROM runs WHERE process = ? AND id = ?', key)
        plan, element = runs[0] if runs else (None, None)
        if int(batch.columns[0][row]) < 0 and runs:
            names = self._plan(process, plan)[2:4]
        within = '' if element is None else title(self._plan(process, plan)[0], element)
        try:
            return decode.call_record(batch, row, process, site, self._seconds(process), names, self._read_blob,
                                      self._summary, within)
        except (ValueError, TypeError) as error:
            # The rest of a list of calls must not suffer from one that was written wrongly.
            return decode.damaged_call(batch, row, process, site, self._seconds(process), str(error))

    def columns(self, process: int, position: int) -> list[np.ndarray]:
        """The numbers of the calls of a batch, by column; the rest of it is not decoded.

        Raises:
            LostError: It is not there, or damaged.
        """
        try:
            return columns_of(self._index.reader(process).record(position).payload)
        except (ValueError, TraceError, OverflowError, OSError) as error:
            raise LostError(str(error)) from error

    def plans(self) -> list[PlanRecord]:
        """Every plan that has runs, the newest first."""
        rows = self.rows('SELECT process, plan, count(*), max(id) FROM runs GROUP BY process, plan '
                         'ORDER BY max(started) DESC')
        return [PlanRecord(process, *self._plan(process, plan), runs, newest) for process, plan, runs, newest in rows]

    def _batch(self, process: int, position: int) -> Batch:
        key = (process, position)
        batch = self._batches.get(key)
        if batch is None:
            try:
                batch = Batch(self._index.reader(process).record(position).payload)
            except (ValueError, TraceError, OverflowError, OSError) as error:
                raise LostError(str(error)) from error
            self._batches[key] = batch
            if len(self._batches) > _BATCHES:
                self._batches.popitem(last=False)
        else:
            self._batches.move_to_end(key)
        return batch

    def _seconds(self, process: int) -> Callable[[int], float]:
        if process not in self._clocks:
            rows = self.rows('SELECT wall, clock FROM logs WHERE process = ?', (process,))
            wall, clock = rows[0] if rows else (self._manifest.created, 0)
            self._clocks[process] = round((wall - self._manifest.created) * 1e9) - clock
        offset = self._clocks[process]
        return lambda at: (at + offset) / 1e9

    def _read_blob(self, key: bytes) -> bytes:
        with self._lock:
            places = self.rows('SELECT process, position, length FROM blobs WHERE key = ?', (key,))
            if not places:
                raise DroppedError('its bytes are not in the trace (damaged, or cut off)')
            process, position, length = places[0]
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
        try:
            kind, at, data = decode.listed(unpacked(self._index.reader(process).record(position).payload), 3)
            return NoteRecord(decode.text(kind), process, self._seconds(process)(decode.number(at)),
                              data if isinstance(data, dict) else {})
        except ValueError:
            return None
