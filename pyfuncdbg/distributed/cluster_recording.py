"""Recording of the workers of a Dask cluster, by its client: begun on all workers, fetched at the end, merged.

On the program's thread; what waits for workers on the event loop of the client.
"""
from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from pyfuncdbg.distributed import worker_recording
from pyfuncdbg.distributed.fetched_traces import ComparedClock, FetchedTraces
from pyfuncdbg.distributed.worker_calls import LONGEST, WorkerCalls, dask_distributed, error_text
from pyfuncdbg.distributed.worker_plugin import recorder_plugin
from pyfuncdbg.errors import AttachError, TraceError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.record.log.log_file import VERSION
from pyfuncdbg.observers.record.log.trace_folder import cannot_record_error, fresh_path, path_taken_error
from pyfuncdbg.observers.record.recorder import Recorder

_QUESTIONS = 3
"""Of each worker, what time it is."""
_LONGEST_SHIFT = 1e9
_NAMED = 5
"""Workers that cannot record and are named in an error."""


class ClusterRecording:
    """Recording of the workers of a cluster, inside `with` or `async with`.

    Attributes:
        path: Folder of the trace; it is there when the block has ended.
        missing: After the block, one line for each thing that is missing.
    """

    def __init__(self, client: Any, path: str | Path | None, patience: float, options: Mapping[str, Any]) -> None:
        """Prepare; nothing happens before the block begins.

        Args:
            client: A `distributed.Client`.
            path: Folder of the trace, to be made; None for a new one, named after the time.
            patience: Seconds for each answer of a worker.
            options: Of the recorders.

        Raises:
            AttachError: `distributed` is not installed, or this is no client of it.
            TraceError: An option is not valid.
        """
        _check_client(client)
        if 'exist' in options:
            raise TraceError(f'exist={options["exist"]!r}: a recording of a cluster is always a new trace; give another '
                             'path, or remove the old one before')
        if not patience > 0:
            raise TraceError(f'patience={patience!r}: expected seconds, more than 0')
        place = Path(path) if path is not None else fresh_path()
        self.path, self._shown = place.absolute(), str(place)
        self.missing: tuple[str, ...] = ()
        self._client = client
        self._patience = patience
        self._calls = WorkerCalls(client, patience)
        self._options = dict(options)
        self._budget = Recorder(self.path, **options).budget        # raises where an option is not valid
        self._id = uuid.uuid4().hex

    def __enter__(self) -> ClusterRecording:
        if self._client.asynchronous:
            raise AttachError('this client is asynchronous: write `async with pyfuncdbg.distributed.attach(client, ...)`')
        with self._reserved():
            self._client.sync(self._begin)
        return self

    async def __aenter__(self) -> ClusterRecording:
        with self._reserved():
            await self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._fetching() as traces:
            try:
                self._client.sync(self._fetch, traces)
            except Exception as failure:        # the client was closed in the block, or the scheduler is gone
                traces.report(f'the cluster cannot be asked: {error_text(failure)}')
            self._finish(traces)
            with contextlib.suppress(Exception):    # the same: what this machine had is gone already
                self._client.sync(self._discard, traces)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        with self._fetching() as traces:
            try:
                await self._fetch(traces)
            except Exception as failure:        # the scheduler is gone, as above
                traces.report(f'the cluster cannot be asked: {error_text(failure)}')
            await asyncio.to_thread(self._finish, traces)
            with contextlib.suppress(Exception):    # the same, as above
                await self._discard(traces)

    # ------------------------------------------------------------------ begin
    @contextlib.contextmanager
    def _reserved(self) -> Iterator[None]:
        """Keep the path as an empty folder, so that what keeps the trace from being made is known at the beginning."""
        if self.path.exists():
            raise path_taken_error(self.path)
        try:
            self.path.mkdir()
        except OSError as error:
            raise cannot_record_error(self.path, error) from error
        try:
            yield
        except BaseException:
            self.path.rmdir()
            raise

    async def _begin(self) -> None:
        """Let all workers record.

        Raises:
            AttachError: One cannot; none of them records then.
        """
        try:
            plugin = recorder_plugin(self._id, VERSION, self._options)
            await self._calls.wait_for(self._client.register_plugin(plugin, name=self._id))
            answers = await self._calls.ask_all(worker_recording.failure, self._id)
            failures = {address: error_text(answer) if isinstance(answer, BaseException) else str(answer)[:LONGEST]
                        for address, answer in answers.items() if answer != ''}
            if failures:
                named = '; '.join(f'{address}: {why}' for address, why in list(failures.items())[:_NAMED])
                more = f'; and {len(failures) - _NAMED} more' if len(failures) > _NAMED else ''
                raise AttachError(f'{len(failures)} of {len(answers)} workers cannot record: {named}{more}. Each needs the '
                                  'same version of pyfuncdbg as the client. No worker records now')
        except BaseException as error:
            with contextlib.suppress(Exception):    # the error says what is wrong with the cluster
                await self._calls.wait_for(self._client.unregister_worker_plugin(self._id))
            with contextlib.suppress(Exception):    # the same; a worker that goes on later hears this then
                await self._calls.ask_all(worker_recording.discard, self._id)
            if isinstance(error, TimeoutError):
                raise AttachError(f'the cluster did not answer in {self._patience:g} s: a task of a worker may hold the '
                                  'GIL; patience=SECONDS waits longer') from None
            raise

    # ------------------------------------------------------------------ end
    @contextlib.contextmanager
    def _fetching(self) -> Iterator[FetchedTraces]:
        """A folder beside the trace for what is fetched. Whatever fails is reported: the program goes on."""
        try:
            with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=f'.{self.path.name}-',
                                             ignore_cleanup_errors=True) as folder:
                yield FetchedTraces(Path(folder), self._id, self._budget)
        except Exception as error:              # a full disk, a folder that is gone: the program goes on
            self.missing = (f'no trace could be made: {error_text(error)}; {self._remains()}', *self.missing)
            say(f'{self._shown}: {self.missing[0]}')

    async def _fetch(self, traces: FetchedTraces) -> None:
        """Close all logs and fetch them."""
        with contextlib.suppress(Exception):    # a worker that hangs or dies: the next question finds out which
            await self._calls.wait_for(self._client.unregister_worker_plugin(self._id))
        await self._calls.ask_all(worker_recording.close, self._id)
        with contextlib.suppress(Exception):    # without the events, workers have no names
            traces.read_events(await self._calls.wait_for(self._client.get_events(self._id)))
        for address, answer in (await self._calls.ask_all(worker_recording.describe, self._id)).items():
            if isinstance(answer, BaseException):
                traces.report(f'worker {address} cannot be asked: {error_text(answer)}')
            else:
                traces.add_descriptions(address, answer, await self._compare_clock(address))
        await traces.fetch(self._calls.ask)

    async def _compare_clock(self, address: str) -> ComparedClock:
        """The clock of a machine against ours, by the quickest of a few answers; one that is as certain is left alone."""
        quickest = ComparedClock(0.0, None)
        for _ in range(_QUESTIONS):
            before = time.time()
            try:
                there = float(await self._calls.ask(address, worker_recording.clock))
            except Exception:                   # it has ended meanwhile
                break
            after = time.time()
            way = max(after - before, 0.0) / 2
            if not abs(after - there) < _LONGEST_SHIFT:
                break                           # no time at all
            if quickest.uncertainty is None or way < quickest.uncertainty:
                quickest = ComparedClock((before + after) / 2 - there, way)
        shift, uncertainty = quickest
        if uncertainty is not None and abs(shift) <= uncertainty:
            return ComparedClock(0.0, abs(shift) + uncertainty)
        return quickest

    def _finish(self, traces: FetchedTraces) -> None:
        """Take what this machine has, make one trace of all, and say what is missing."""
        try:
            traces.take_from_here()
            self.path.rmdir()                   # the reserved folder
            traces.merge(self.path)
            if not traces.are_whole:
                traces.report(self._remains())
        finally:
            self.missing = tuple(traces.problems)
            for line in self.missing:
                say(f'{self._shown}: {line}')
        worker_recording.discard(self._id)      # what this machine had

    async def _discard(self, traces: FetchedTraces) -> None:
        """Remove what the workers have recorded, if it is here."""
        if traces.are_whole:
            await self._calls.ask_all(worker_recording.discard, self._id)

    def _remains(self) -> str:
        return f'what was recorded stays on the machines of the workers, in pyfuncdbg-{self._id} among their temporary files'


def _check_client(client: Any) -> None:
    """Refuse what is no client.

    Raises:
        AttachError: It is none, or there can be none.
    """
    if not isinstance(client, dask_distributed().Client):
        raise AttachError(f'attach takes a client of a cluster, as distributed.Client(cluster) is one; this is a '
                          f'{type(client).__module__}.{type(client).__name__}')
