"""Traces of records that a test has made: written as a log of the current format, and opened as any other.

`trace_of` takes calls and runs and gives a `Trace` of a temporary folder. A tensor that is kept in full is written with its
record; one call says the names of its tensors, which the log keeps with the site.
"""
from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.observers.record.dtypes import dtype_name, little_endian
from pyfuncdbg.observers.record.log import log_file, run_batch
from pyfuncdbg.observers.record.log.call_encoder import encode
from pyfuncdbg.observers.record.log.columns import MOST_ROWS
from pyfuncdbg.observers.record.log.log_file import VERSION, LogFile, frame
from pyfuncdbg.observers.record.log.queued_call import QueuedCall
from pyfuncdbg.observers.record.log.trace_folder import MANIFEST
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, RunRecord, SiteRecord, Stats, TensorRecord
from pyfuncdbg.observers.record.snapshots.call_state import NO_STATE
from pyfuncdbg.observers.record.snapshots.site_notes import TRAITS
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.observers.record.trace import Trace

CREATED = 1.7e9
PID, BUDGET = 4711, 256 << 20
LEVELS = ('none', 'stats', 'full')


def tensor(name: str, array: np.ndarray) -> TensorRecord:
    """A record that holds the array in full."""
    stored = little_endian(array).tobytes()
    return TensorRecord(name, dtype_name(array.dtype), array.shape, array.nbytes, 'full', stats_of(array), stored,
                        _read=lambda key: stored)


def trace_of(calls: Iterable[CallRecord], runs: Iterable[RunRecord] = (), name: str = 'sample.pfd', *,
             notes: Iterable[tuple[str, Mapping[str, Any]]] = (), complete: bool = True) -> Trace:
    """A trace of these records, which answers call by the name; its folder is removed when the tests end."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_trace(folder / 'sample.pfd', calls, runs, notes=notes, complete=complete)
    trace = Trace.open(folder / 'sample.pfd')
    trace.path = name  # type: ignore[assignment]  # as answers name it: that may be no name of a file
    return trace


def write_trace(path: Path, calls: Iterable[CallRecord], runs: Iterable[RunRecord] = (), *,
                notes: Iterable[tuple[str, Mapping[str, Any]]] = (), complete: bool = True) -> None:
    """Write a trace, byte for byte the same of the same records."""
    path.mkdir()
    (path / MANIFEST).write_text(json.dumps({'format': 'pyfuncdbg trace', 'version': VERSION, 'id': '0' * 32,
                                             'created': CREATED, 'budget': BUDGET}))
    calls, runs = list(calls), list(runs)
    for process in sorted({one.process for one in (*calls, *runs)} or {1}):
        log = LogFile(path / f'{PID}-{process:04}.log')
        _write(log, [call for call in calls if call.process == process], [run for run in runs if run.process == process],
               notes if process == 1 else ())
        if complete:
            _append(log, log_file.END, [CREATED + 1.25, 1_250_000_000])
        log.close()


def _write(log: LogFile, calls: Sequence[CallRecord], runs: Sequence[RunRecord],
           notes: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    ops = any(call.site.kind == 'op' for call in calls)
    _append(log, log_file.PROCESS, [PID, 1, ['model.py'], '3.11.8', 'host', CREATED, 0, {'ops': ops}])
    sites: dict[str, int] = {}
    dropped: Counter[str] = Counter()
    rows = []
    started = -1
    for call in calls:
        site = call.site
        names = tuple(one.name for one in call.inputs), tuple(one.name for one in call.outputs)
        names = names[0] or site.inputs, names[1] or site.outputs
        key = str(_site(site, site.id, *names))
        if key not in sites:
            sites[key] = site.id if site.id not in sites.values() else max(sites.values()) + 1_000
            _append(log, log_file.SITE, _site(site, sites[key], *names))
        rows.append(_row(call, sites[key], call.inputs, call.outputs, number_of(call.number)))
        dropped.update(call.dropped)
    for number, run in enumerate(runs, 1):
        _append(log, log_file.PLAN, [number, run.label, run.host, [one.name for one in run.feeds], [
            one.name for one in run.fetches] or list(run.fetch_names),
            b''.join(site.to_bytes(8, 'little') for site in run.sites), run.kind])
        started = max(started + 1, nanoseconds(run.started))       # in this order also where they begin together
        log.append(frame(log_file.RUNS, msgpack.packb(run_batch.encode([(run.id, number, started)]))))
        if run.duration is not None or run.feeds or run.fetches or run.error is not None:
            around = SiteRecord(900_000 + number, run.process, run.label, 'Run', 'run', run.host, '', '', 0, '', (), (), (),
                                traits=Traits(backward_pass=run.label.startswith('__backward_'),
                                              fed_run=run.label.startswith('Session.')))
            _append(log, log_file.SITE, _site(around, around.id, (), ()))
            call = CallRecord(str(-run.id), run.process, run.id, around, number - 1, 0, started / 1e9, run.duration,
                              run.feeds, run.fetches, (), run.error)
            rows.append(_row(call, around.id, run.feeds, run.fetches, -run.id))
    for start in range(0, len(rows), MOST_ROWS):
        log.append(frame(log_file.CALLS, encode(rows[start:start + MOST_ROWS], _Store())))
    if dropped:
        _append(log, log_file.DROPPED, dict(dropped))
    for kind, data in notes:
        _append(log, log_file.NOTE, [kind, 0, dict(data)])


def _append(log: LogFile, kind: int, content: Any) -> None:
    log.append(frame(kind, msgpack.packb(content, unicode_errors='surrogatepass')))


def number_of(number: str) -> int:
    """17 of '17' and of '2.17', 0 of ''."""
    return int(number.rpartition('.')[2]) if number else 0


def nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _site(site: SiteRecord, id: int, inputs: Sequence[str], outputs: Sequence[str]) -> list[Any]:
    return [id, site.name, site.op_type, site.kind, site.host, site.function, site.filename, site.line, site.source,
            [list(place) for place in site.stack], list(inputs), list(outputs), {**site.attrs, TRAITS: site.traits.names}]


def _row(call: CallRecord, site: int, inputs: Sequence[TensorRecord], outputs: Sequence[TensorRecord],
         id: int) -> QueuedCall:
    row = QueuedCall()
    row.id, row.run, row.site, row.ordinal, row.thread = id, call.run, site, call.ordinal, call.thread
    row.started = nanoseconds(call.started)
    row.finished = row.started + nanoseconds(call.duration) if call.duration is not None else 0
    row.forward, row.parent = number_of(call.forward), number_of(call.parent)
    row.inputs, row.outputs = inputs, outputs
    row.output = [[one.kind, one.text, one.category, one.filename, one.line, one.function, nanoseconds(one.offset)]
                  for one in call.output] or None
    row.error = _error(call.error) if call.error is not None else None
    row.lost = call.dropped or None
    row.sources = [number_of(source) for source in call.sources]
    row.state = NO_STATE
    row.holds_memory, row.retry_of, row.broken_off = False, number_of(call.retry_of), call.broken_off
    row.state = NO_STATE
    return row


def _error(error: ErrorRecord) -> list[Any]:
    tensors = [one.tensor for found in error.locals for one in found.variables if one.tensor is not None]
    places = {id(one): place for place, one in enumerate(tensors)}
    variables = [[found.frame, found.hidden, [
        [one.name, one.type, one.text if one.tensor is None else places[id(one.tensor)]] for one in found.variables]]
        for found in error.locals]
    described = [[list(map(_tensor, tensors)), variables]] if variables else []
    return [error.type, error.message, [list(place) for place in error.frames], error.traceback, *described]


class _Store:
    """Describes the tensors; no call has a copy of an array."""

    def describe(self, snapshot: Any) -> list[Any]:
        return _tensor(snapshot)

    def place_array(self, array: np.ndarray) -> Any:
        raise NotImplementedError

    def place_bytes(self, data: Any) -> Any:
        raise NotImplementedError

    def miss(self, nbytes: int) -> None:
        raise NotImplementedError


def _tensor(record: Any) -> list[Any]:
    kept = record.level == 'full' and record.key is not None and record._read is not None
    data = [record._read(record.key)] if kept else None
    stats = None if record.stats is None else [list(value) if isinstance(value, tuple) else value for value in (
        getattr(record.stats, field.name) for field in fields(Stats))]
    return [record.dtype, list(record.shape), record.nbytes, LEVELS.index(record.level), data, record.changed, record.note,
            stats, record.stats is not None and record.stats.bad > 0]
