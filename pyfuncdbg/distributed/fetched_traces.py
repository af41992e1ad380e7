"""The traces of a cluster's workers on the client's side: described, fetched, merged into one.

Names and sizes come from other machines; the paths here are made of numbers. On the client's event loop, then on the
program's thread.
"""
from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pyfuncdbg.distributed import worker_recording
from pyfuncdbg.distributed.remote_trace import TOKEN, FileKey, RemoteTrace, checked_trace, file_path
from pyfuncdbg.distributed.worker_label import label_of_worker
from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.index.process_tree import PART, process_lines
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.log.log_names import logs
from pyfuncdbg.observers.record.processes.followed_process import LIST
from pyfuncdbg.observers.record.transfer.merged_trace import merge_traces

_MOST_WORKERS = 10_000
_LONGEST = 300

Ask = Callable[..., Awaitable[Any]]
"""Asks a worker: its address, a function, arguments of it."""


@dataclass(slots=True)
class _WorkerProcess:
    """Event of a worker: its process records, or why not.

    Attributes:
        label: 'worker:3'.
        host, pid: Where it runs.
        at: When it said so, by the clock of the scheduler.
        error: Why it does not record, '' where it does.
    """

    label: str
    host: str
    pid: int
    at: float
    error: str = ''


class ComparedClock(NamedTuple):
    """The clock of a machine against that of the client.

    Attributes:
        shift: Seconds that it is late.
        uncertainty: Seconds by which that may be wrong; None where they were not compared.
    """

    shift: float
    uncertainty: float | None


_UNKNOWN = ComparedClock(0.0, None)


@dataclass(slots=True)
class _Source:
    """A trace that is there, and the workers of its machine that can read it."""

    trace: RemoteTrace
    addresses: list[str] = field(default_factory=list)
    clock: ComparedClock = _UNKNOWN


class FetchedTraces:
    """The traces of one recording.

    Args:
        folder: An empty folder for them.
        recording: Id of the recording.
        budget: Bytes of each.

    Attributes:
        problems: A line for each thing that is missing.
    """

    def __init__(self, folder: Path, recording: str, budget: int) -> None:
        self._folder = folder
        self._recording = recording
        self._budget = budget
        self._workers: dict[str, _WorkerProcess] = {}
        self._failed: list[_WorkerProcess] = []
        self._sources: dict[str, _Source] = {}
        self._fetched: set[str] = set()
        self.problems: list[str] = []

    @property
    def are_whole(self) -> bool:
        """Whether everything that a worker has described is here."""
        return self._fetched >= self._sources.keys()

    def report(self, problem: str) -> None:
        """Note that something is missing."""
        self.problems.append(problem)

    def read_events(self, events: Any) -> None:
        """Read which processes have begun to record, and which could not.

        Args:
            events: (time, content) of each, as workers have sent them.
        """
        for event in list(events)[:_MOST_WORKERS]:
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):      # not as our plugin sends it
                at, content = event
                one = _WorkerProcess(label_of_worker(content['name']), str(content['host'])[:_LONGEST],
                                     int(content['pid']), float(at), str(content.get('error', ''))[:_LONGEST])
                token = content.get('trace')
                if one.error:
                    self._failed.append(one)
                elif isinstance(token, str) and TOKEN.fullmatch(token):
                    self._workers.setdefault(token, one)

    def add_descriptions(self, address: str, descriptions: Any, clock: ComparedClock) -> None:
        """Note which traces a worker can read.

        Args:
            address: Of the worker.
            descriptions: As of `worker_recording.describe`; data of another machine.
            clock: Of its machine.
        """
        if not isinstance(descriptions, list):
            self.report(f'worker {address} describes no traces')
            return
        for description in descriptions[:_MOST_WORKERS]:
            try:
                trace = checked_trace(description, self._budget)
            except TraceError as error:
                self.report(f'worker {address}: {error}')
                continue
            source = self._sources.setdefault(trace.token, _Source(trace, clock=clock))
            source.addresses.append(address)
            if sum(trace.files.values()) > sum(source.trace.files.values()):        # it was written in between
                source.trace = trace

    # ------------------------------------------------------------------ fetch
    async def fetch(self, ask: Ask) -> None:
        """Fetch all traces, each from a worker of its machine; from the next where one ends meanwhile.

        Args:
            ask: Asks a worker.
        """
        for token, source in self._sources.items():
            folder = self._new_folder(source.trace)
            whole = [await self._fetch_file(ask, source, key, folder) for key in source.trace.files]
            if all(whole):
                self._fetched.add(token)

    def _new_folder(self, trace: RemoteTrace) -> Path:
        folder = self._folder / trace.token
        trace_folder.create(folder, max(self._budget, trace_folder.SMALLEST_BUDGET), trace.created)
        return folder

    async def _fetch_file(self, ask: Ask, source: _Source, key: FileKey, folder: Path) -> bool:
        """Fetch a file, as far as it can be had; whether it is whole."""
        nbytes = source.trace.files[key]
        with open(file_path(folder, key), 'xb') as file:
            while (start := file.tell()) < nbytes and source.addresses:
                length = min(nbytes - start, worker_recording.LARGEST_CHUNK)
                try:
                    data = await ask(source.addresses[0], worker_recording.read_file, self._recording, source.trace.token,
                                     key, start, length)
                except Exception:               # the worker has ended: another one of its machine may have the file
                    del source.addresses[0]
                    continue
                if not isinstance(data, bytes) or not 0 < len(data) <= length:
                    del source.addresses[0]
                    continue
                file.write(data)
            return file.tell() == nbytes

    def take_from_here(self) -> None:
        """Take what could not be fetched and is on this machine: the cluster may be gone, and its workers ran here."""
        for description in worker_recording.traces_here(self._recording):
            trace = checked_trace(description, self._budget)
            if trace.token in self._fetched:
                continue
            shutil.rmtree(self._folder / trace.token, ignore_errors=True)
            folder = self._new_folder(trace)
            for key in trace.files:
                place = file_path(worker_recording.trace_here(self._recording, trace.token), key)
                with open(open_regular(place), 'rb') as source, open(file_path(folder, key), 'xb') as copy:
                    shutil.copyfileobj(source, copy)
            self._sources.setdefault(trace.token, _Source(trace, clock=ComparedClock(0.0, 0.0)))
            self._fetched.add(trace.token)

    # ------------------------------------------------------------------ merge
    def merge(self, target: Path) -> None:
        """Make one trace of all, and say in it what is missing; no trace where there is nothing to make it of.

        Args:
            target: Its folder.

        Raises:
            TraceError: It cannot be made.
        """
        sources = [self._folder / token for token in self._in_order() if self._is_usable(self._folder / token)]
        names = {source: self._name_of(source.name) for source in sources}
        lost = [(worker, 'its log could not be fetched: it was killed, or its machine does not answer')
                for token, worker in self._workers.items() if self._folder / token not in names]
        lost += [(worker, worker.error) for worker in self._failed]
        for worker, why in lost:
            self.report(f'{worker.label} (process {worker.pid} of {worker.host}) is not recorded: {why}')
        for source in sources:
            self._report_losses(source, names[source])
        if not sources:
            self.report('no worker has recorded anything: there is no trace')
            return
        with open(sources[-1] / LIST, 'a', encoding='ascii') as listing:
            listing.writelines(f'\n{json.dumps(line)}\n' for line in _lines_of(lost))
        clocks = {source: self._sources[source.name].clock for source in sources}
        merge_traces(sources, target, {source: clock.shift for source, clock in clocks.items()}, names,
                     {source: clock.uncertainty for source, clock in clocks.items() if clock.uncertainty is not None})

    def _in_order(self) -> list[str]:
        """The tokens by name of the worker, numbers by value, then by time."""
        def key(token: str) -> tuple[str, int, str, float]:
            kind, _, name = self._name_of(token).partition(':')
            return kind, int(name) if name.isdecimal() else 0, name, self._sources[token].trace.created
        return sorted(self._sources, key=key)

    def _is_usable(self, source: Path) -> bool:
        """Whether there is a log, or the beginning of one."""
        try:
            return any(log.nbytes for log in logs(source))
        except TraceError:
            return False

    def _name_of(self, token: str) -> str:
        worker = self._workers.get(token)
        return worker.label if worker is not None else 'worker'

    def _report_losses(self, source: Path, name: str) -> None:
        """Report a trace that is not whole, and a process that has not closed its log."""
        if source.name not in self._fetched:
            self.report(f'{name}: only a part of its log could be fetched')
        begun, ended = ({line.get('pid') for line in process_lines(source) if line.get('event') == event}
                        for event in ('begin', 'end'))
        for pid in sorted(one for one in begun - ended if isinstance(one, int)):
            self.report(f'{name}: process {pid} did not close its log: it was killed or hangs; its last calls may be '
                        'missing')


def _lines_of(lost: Iterable[tuple[_WorkerProcess, str]]) -> Iterable[Mapping[str, object]]:
    """Lines of the list of processes for those that have no log."""
    for worker, why in lost:
        yield {'event': PART}                   # a process id of one machine means another process on the next
        yield {'event': 'begin', 'pid': worker.pid, 'parent': 0, 'at': worker.at, 'command': ['dask', 'worker'], 'fork': 0,
               'host': worker.host, 'ranks': {'label': worker.label}}
        yield {'event': 'unrecorded', 'pid': worker.pid, 'why': why}

