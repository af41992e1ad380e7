"""An in-memory trace of a few calls, for the demos of the view modules and for tests.

The values are computed when asked for, by the function that the records describe.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError, TraceError, nearest
from pyfuncdbg.hooks.call import Frame, Kind
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.observers.record.dtypes import dtype_name, little_endian
from pyfuncdbg.observers.record.index.query import site_matches
from pyfuncdbg.observers.record.index.site_usage import SiteTime, SiteUse
from pyfuncdbg.observers.record.index.time_spans import SpanRecord, Spans
from pyfuncdbg.observers.record.records import (
    CallRecord,
    ErrorRecord,
    FrameRecord,
    LocalRecord,
    NoteRecord,
    OutputRecord,
    PlanRecord,
    RunRecord,
    SiteRecord,
    TensorRecord,
)
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.observers.record.sources.source_text import FileText, lines_of
from pyfuncdbg.observers.record.trace_info import TraceInfo

SOURCE = '''\
def normalize(x, eps=1e-6):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    if sd.min() == 0:
        print('row', sd.argmin(), 'constant')
    return (x - mu) / sd
'''


class MemoryTrace:
    """Records that answer `debug.queries.Queries`, in order of time."""

    def __init__(self, calls: Sequence[CallRecord], runs: Sequence[RunRecord], path: str = 'sample.pfd') -> None:
        self._calls = list(calls)
        self._runs = list(runs)
        self.path = path

    def info(self) -> TraceInfo:
        dropped: dict[str, int] = {}
        for call in self._calls:
            for kind, n in call.dropped.items():
                dropped[kind] = dropped.get(kind, 0) + n
        return TraceInfo(self.path, 1, ('model.py',), '3.11.8', 'host', 1.7e9, 1.25, (4711,), len(self._runs),
                         len(self._calls), len(self.sites()), 21_504, 256 << 20, dropped, (), True,
                         ops=any(call.site.kind == 'op' for call in self._calls))

    def runs(self) -> list[RunRecord]:
        return list(self._runs)

    def run(self, id: int, process: int = 1) -> RunRecord:
        for run in self._runs:
            if (run.id, run.process) == (id, process):
                return run
        raise CommandError(f'There is no run {id}')

    def sites(self) -> list[SiteRecord]:
        return list({(call.process, call.site.id): call.site for call in self._calls}.values())

    def calls(self, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
              failed: bool | None = None, bad: bool | None = None, printed: bool | None = None,
              changed: bool | None = None, limit: int | None = None, offset: int = 0,
              newest_first: bool = False, sort: str | None = None) -> list[CallRecord]:
        found = [call for call in (_as_calls(self._runs) if kind == 'run' else self._calls)
                 if (kind is None or call.site.kind == kind) and (site is None or _matches(site, call.site))
                 and (run is None or call.run == run) and (failed is None or failed == (call.error is not None))
                 and (bad is None or bad == _is_bad(call)) and (printed is None or printed == bool(call.output))
                 and (changed is None or changed == any(tensor.changed for tensor in call.inputs))]
        if sort == 'duration':
            found.sort(key=lambda call: call.duration or 0)
        if newest_first:
            found.reverse()
        return found[offset:None if limit is None else offset + limit]

    def ordered(self, *, newest_first: bool = False, sort: str | None = None, **filters: Any) -> MemoryOrder:
        return MemoryOrder(self.calls(newest_first=newest_first, sort=sort, **filters))

    def spans(self, site: str | None = None) -> Spans:
        raise TraceError(f'{self.path}: a trace in memory has no index')

    def count(self, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
              failed: bool | None = None, bad: bool | None = None, printed: bool | None = None,
              changed: bool | None = None) -> int:
        return len(self.calls(kind=kind, site=site, run=run, failed=failed, bad=bad, printed=printed,
                              changed=changed))

    def call(self, number: str | int) -> CallRecord:
        name = str(number).removeprefix('#')
        for call in self._calls:
            if name in (call.number, call.label):
                return call
        raise CommandError(f'There is no call {number}.' + nearest(name.split('[')[0], [site.name for site in self.sites()]))

    def usage(self) -> list[SiteUse]:
        uses = []
        for site in self.sites():
            calls = [call for call in self._calls if call.site.id == site.id]
            times = [call.duration for call in calls if call.duration is not None]
            uses.append(SiteUse(site, len(calls), sum(call.error is not None for call in calls), len(times), sum(times),
                                sum(map(_is_bad, calls)), changed=sum(any(tensor.changed for tensor in call.inputs)
                                                                      for call in calls)))
        return sorted(uses, key=lambda use: -use.total)

    def profile(self, run: int | None = None) -> list[SiteTime]:
        times = []
        for site in self.sites():
            calls = [call for call in self._calls if call.site.id == site.id and run in (None, call.run)]
            took = [call.duration for call in calls if call.duration is not None]
            inner = sum(other.duration or 0.0 for call in calls for other in self._calls if other.parent == call.number)
            if calls:
                times.append(SiteTime(site, len(calls), sum(call.error is not None for call in calls), len(took), sum(took),
                                      max(0.0, sum(took) - inner), max(took, default=0.0), calls[-1].number,
                                      sum(_is_bad(call) for call in calls)))
        return sorted(times, key=lambda time: -time.own)

    def time_of(self, site: SiteRecord, run: int | None = None) -> SiteTime | None:
        return next((replace(time, own=time.total) for time in self.profile(run) if time.site.id == site.id), None)

    def plans(self) -> list[PlanRecord]:
        found: dict[tuple[int, ...], PlanRecord] = {}
        for run in self._runs:
            known = found.pop(run.sites, None)
            found[run.sites] = PlanRecord(run.process, run.label, run.host, tuple(tensor.name for tensor in run.feeds),
                                          tuple(tensor.name for tensor in run.fetches), run.sites, run.kind,
                                          1 + (known.runs if known is not None else 0), run.id)
        return list(found.values())[::-1]

    def newest(self, site: SiteRecord, *, run: int | None = None, limit: int = 1) -> list[CallRecord]:
        return [call for call in reversed(self._calls) if call.site.id == site.id and run in (None, call.run)][:limit]

    def during(self, start: float, end: float, *, kind: Kind | None = None, site: str | None = None, run: int | None = None,
               limit: int = 5_000) -> tuple[int, list[SpanRecord]]:
        found = [call for call in self.calls(kind=kind, site=site, run=run)
                 if call.started <= end and (call.duration is None or call.started + call.duration >= start)]
        longest = sorted(found, key=lambda call: -(float('inf') if call.duration is None else call.duration))[:limit]
        return len(found), sorted(map(_as_span, longest), key=lambda span: (span.started, -(span.duration or 0.0)))

    def extent(self, run: int | None = None) -> tuple[float, float]:
        calls = self.calls(run=run)
        return (min((call.started for call in calls), default=0.0),
                max((call.started + (call.duration or 0.0) for call in calls), default=0.0))

    def source(self, filename: str) -> FileText:
        return FileText({number: line for site in self.sites() if site.filename == filename
                         for number, line in enumerate(lines_of(site.source), site.line)})

    def notes(self, kind: str | None = None) -> list[NoteRecord]:
        return []

    def tensors(self, *, run: int | None = None, call: str | int | None = None, site: str | None = None,
                bad: bool | None = None, limit: int | None = None) -> list[tuple[CallRecord, TensorRecord]]:
        if call is not None:
            one = self.call(call)
            return [(one, tensor) for tensor in (*one.inputs, *one.outputs)]
        runs = self.calls(kind='run', run=run) if site is None else []
        pairs = [(fed, tensor) for fed in runs for tensor in fed.inputs]
        pairs += [(made, tensor) for made in self.calls(site=site, run=run) for tensor in made.outputs]
        known = {(made.run, tensor.name) for made, tensor in pairs}
        pairs += [(got, tensor) for got in runs for tensor in got.outputs if (got.run, tensor.name) not in known]
        wanted = [(made, one) for made, one in pairs if bad is None or bad == (one.stats is not None and one.stats.bad > 0)]
        return wanted[:limit]


class MemoryOrder:
    """Records in an order, as `debug.queries.Ordered`."""

    def __init__(self, calls: list[CallRecord]) -> None:
        self._calls = calls
        self.count = len(calls)

    def build(self) -> int:
        return self.count

    def page(self, start: int, count: int) -> list[CallRecord]:
        return self._calls[start:start + count]

    def position(self, number: str) -> int | None:
        return next((i for i, call in enumerate(self._calls) if call.number == number), None)

    def find(self, text: str, start: int, *, backwards: bool = False,
             wanted: Callable[[int], bool] = lambda looked: True) -> int | None:
        order = [*range(start, self.count), *range(start)]
        if backwards:
            order = [*range(start, -1, -1), *range(self.count - 1, start, -1)]
        return next((i for i in order if text.lower() in f'{self._calls[i].label} {self._calls[i].error}'.lower()), None)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


def tensor(name: str, array: np.ndarray) -> TensorRecord:
    """A record that holds the array in full."""
    stored = little_endian(array).tobytes()

    def read(key: bytes) -> bytes:
        return stored
    return TensorRecord(name, dtype_name(array.dtype), array.shape, array.nbytes, 'full', stats_of(array), stored,
                        _read=read)


def sample() -> MemoryTrace:
    """Four runs of a normalisation: the second divides by zero, the third inherits that, the fourth fails."""
    site = SiteRecord(1, 1, 'norm', 'EagerPyFunc', 'python', 'tf', 'normalize', 'model.py', 39, SOURCE,
                      (Frame('model.py', 60, 'main'),), ('mm:0',), ('norm:0',))
    other = replace(site, id=2, name='scale', function='scale', line=50, source='def scale(y):\n    return 2 * y\n',
                    inputs=('norm:0',), outputs=('scale:0',))
    x = np.array([[0.5, 1, 1.5, 2], [3, 3, 3, 3], [-1, 0, 0, 1]], np.float32)
    fine = np.where(x == 3, np.arange(4, dtype=np.float32), x)
    said = (OutputRecord('out', 'row 1 constant\n', offset=8e-5),
            OutputRecord('fp', 'invalid value encountered in divide', 'invalid', 'model.py', 44, 'normalize', 1.1e-4,
                         site.source_at))
    frames = (Frame('/usr/lib/python3.11/site-packages/host/dispatch.py', 12, 'call'), Frame('model.py', 40, 'normalize'))
    variables = (LocalRecord('x', 'NoneType', 'None'), LocalRecord('eps', 'float', '1e-06'))
    error = ErrorRecord('AttributeError', "'NoneType' object has no attribute 'mean'", frames, '',
                        (FrameRecord(1, variables),), site.source_at)
    steps = ((fine, (), None), (x, said, None), (fine, (), error))
    calls = []
    for run, (value, output, problem) in enumerate(steps, start=1):
        at = run * 0.01
        made = () if problem else (tensor('norm:0', _normalized(value)),)
        first = CallRecord(str(2 * run - 1), 1, run, site, run - 1, 8123, at, 2.1e-4, (tensor('mm:0', value),), made, output,
                           problem)
        calls.append(first)
        for norm in made:
            calls.append(CallRecord(str(2 * run), 1, run, other, run - 1, 8123, at + 1e-3, 4e-5, (norm,),
                                    (tensor('scale:0', 2 * norm.to_numpy()),), (), None))
    runs = [RunRecord(i, 1, 'Session.run', 'tf', i * 0.01, 2e-3, (), (), None, (1, 2)) for i in range(1, len(steps) + 1)]
    return MemoryTrace(calls, runs)


def _normalized(x: np.ndarray) -> np.ndarray:
    with np.errstate(all='ignore'):
        return np.asarray((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True))


def _as_calls(runs: Sequence[RunRecord]) -> list[CallRecord]:
    calls = []
    for i, run in enumerate(runs):
        site = SiteRecord(0, run.process, run.label, 'Run', 'run', run.host, '', '', 0, '', (), (), (),
                          traits=Traits(backward_pass=run.label.startswith('__backward_'),
                                        fed_run=run.label.startswith('Session.')))
        calls.append(CallRecord(str(-run.id), run.process, run.id, site, i, 0, run.started, run.duration, run.feeds,
                                run.fetches, (), run.error))
    return calls


def _matches(pattern: str, site: SiteRecord) -> bool:
    return site_matches(pattern, site)


def _as_span(call: CallRecord) -> SpanRecord:
    return SpanRecord(call.number, call.label, call.site.kind, call.process, call.thread, call.started, call.duration,
                      call.error is not None, _is_bad(call))


def _is_bad(call: CallRecord) -> bool:
    return any(t.stats is not None and t.stats.bad > 0 for t in (*call.inputs, *call.outputs))
