"""Job of a cluster: units of work on a trace, in chunks, with the answers in order.

What comes back is bytes, read as plain data. A chunk whose worker dies is done again by another; if workers die again and
again, its units are done one at a time, and the unit at which they die has no result. On the thread of the command.
"""
from __future__ import annotations

import contextlib
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgpack

from pyfuncdbg.distributed import worker_jobs
from pyfuncdbg.distributed.worker_calls import WorkerCalls, dask_distributed, error_text
from pyfuncdbg.distributed.worker_plugin import worker_task
from pyfuncdbg.errors import AttachError

Tell = Callable[[int, int], None]
"""Takes how many units are done, and of how many."""
_PATIENCE = 30.0
"""Seconds for an answer of a worker, and without any worker."""
_GLANCE = 2.0
"""Seconds without a chunk after which it is seen whether there are workers."""
_SHARE = 32
"""Chunks for each process that works, at least."""
_LARGEST_CHUNK = 100
_WAITING = 2
"""Chunks under way for each process that works: one waits."""
_NAMED = 3
_DEADLY = 'each worker that worked at it has died'


class UnitAnswer(NamedTuple):
    """The answer to one unit.

    Attributes:
        result: Plain data; None where there is none.
        failure: Why there is none; '' where there is one.
    """

    result: Any
    failure: str


class ChunkedJob:
    """One job. Close it when its answers are there, or are not wanted any more.

    Args:
        client: A `distributed.Client`.
        job: As of `work_process.begin_work`: plain data.

    Raises:
        AttachError: A worker cannot take part: says which and why.
    """

    def __init__(self, client: Any, job: Mapping[str, Any]) -> None:
        self._client = client
        self._job = {**job, 'job': uuid.uuid4().hex}
        self._calls = WorkerCalls(client, _PATIENCE)
        self._task = worker_task()
        self._finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._places: dict[str, tuple[Any, range]] = {}
        self._check_workers()

    def answers(self, units: Sequence[Any], tell: Tell | None = None) -> Iterator[UnitAnswer]:
        """Have units worked at.

        Args:
            units: Plain data each.
            tell: Told how many are done.

        Yields:
            Their answers, in their order.

        Raises:
            AttachError: The cluster is gone, or its workers cannot do this.
        """
        early: dict[int, list[UnitAnswer]] = {}
        place = done = 0
        for start, answers in self._chunks(units):
            early[start] = answers
            done += len(answers)
            if tell is not None:
                tell(done, len(units))
            while place in early:
                ready = early.pop(place)
                place += len(ready)
                yield from ready

    def _chunks(self, units: Sequence[Any]) -> Iterator[tuple[int, list[UnitAnswer]]]:
        """Chunks as they are done, each with the place of its first unit; at last the suspected ones, unit by unit."""
        threads = max(1, self._threads())
        size = max(1, min(_LARGEST_CHUNK, len(units) // (threads * _SHARE)))
        starts = range(0, len(units), size)
        suspected: list[range] = []
        submitted = 0
        while submitted < len(starts) or self._places:
            while submitted < len(starts) and len(self._places) < threads * _WAITING:
                self._submit(units, range(starts[submitted], min(starts[submitted] + size, len(units))))
                submitted += 1
            places, answers = self._next()
            if answers is None:
                suspected.append(places)
            else:
                yield places[0], answers
        for place in [place for places in suspected for place in places]:
            self._submit(units, range(place, place + 1))        # alone on the cluster: who dies now, dies of it
            _, answers = self._next()
            yield place, answers or [UnitAnswer(None, _DEADLY)]

    def _submit(self, units: Sequence[Any], places: range) -> None:
        future = self._client.submit(self._task, self._job, units[places.start:places.stop], pure=False,
                                     key=f'pyfuncdbg-{self._job["job"]}-{uuid.uuid4().hex}')
        self._places[future.key] = future, places
        future.add_done_callback(self._finished.put)

    def _next(self) -> tuple[range, list[UnitAnswer] | None]:
        """The chunk that is done next, with its answers; None where workers have died of it."""
        deserted: float | None = None
        while True:
            try:
                future = self._finished.get(timeout=_GLANCE)
                break
            except queue.Empty:
                if self._threads():
                    deserted = None
                elif deserted is None:
                    deserted = time.monotonic()
                elif time.monotonic() - deserted > _PATIENCE:
                    raise AttachError('the cluster has had no worker for '
                                      f'{_PATIENCE:g} s; the work was not done to its end') from None
        _, places = self._places.pop(future.key)
        if future.status == 'error':
            error = future.exception()
            if isinstance(error, dask_distributed().KilledWorker):
                return places, None
            raise AttachError(f'a worker of the cluster failed: {error_text(error)}')
        if future.status != 'finished':
            raise AttachError('the cluster has ended before the work was done')
        return places, _read(self._of_cluster(future.result), len(places))

    def _threads(self) -> int:
        """How many chunks the workers can work at at once."""
        async def count() -> int:
            return sum((await self._calls.wait_for(self._client.nthreads())).values())
        return int(self._of_cluster(self._client.sync, count))

    def _of_cluster(self, ask: Callable[..., Any], *words: Any) -> Any:
        try:
            return ask(*words)
        except Exception as error:              # Dask's own: the scheduler is gone
            raise AttachError(f'the cluster does not answer any more: {error_text(error)}') from None

    def _check_workers(self) -> None:
        answers: dict[str, Any] = self._of_cluster(self._client.sync, self._calls.ask_all, worker_jobs.look,
                                                   self._job['path'], self._job['id'])
        if not answers:
            raise AttachError('the cluster has no worker')
        obstacles = {address: why for address, answer in answers.items() if (why := _obstacle(answer))}
        if obstacles:
            named = '; '.join(f'{address}: {why}' for address, why in list(obstacles.items())[:_NAMED])
            more = f'; and {len(obstacles) - _NAMED} more' if len(obstacles) > _NAMED else ''
            raise AttachError(f'{len(obstacles)} of {len(answers)} workers cannot work at the trace: {named}{more}')

    def close(self) -> None:
        """End what is under way, and the processes that have worked."""
        with contextlib.suppress(Exception):    # the cluster may be gone; else its processes end of idleness
            if self._places:
                self._client.cancel([future for future, _ in self._places.values()])
            self._client.sync(self._calls.ask_all, worker_jobs.end, self._job['job'])


def _obstacle(answer: Any) -> str:
    """Why a worker cannot take part, by its answer to `look`; '' if it can."""
    if isinstance(answer, BaseException):
        return error_text(answer)
    try:
        there, problem = answer
        different = [f'{name} {there[name]} there, {version} here'
                     for name, version in worker_jobs.versions().items() if there[name] != version]
    except (TypeError, ValueError, KeyError):
        return 'another version of pyfuncdbg answers there'
    return '; '.join(filter(None, [', '.join(different), str(problem)]))


def _read(data: Any, count: int) -> list[UnitAnswer]:
    """The answers of a chunk.

    Raises:
        AttachError: It was not done, or this is no answer.
    """
    if isinstance(data, str):
        raise AttachError(f'a worker of the cluster cannot work at the trace: {data}')
    try:
        error, answers = msgpack.unpackb(data)
        if error:
            raise AttachError(f'a worker of the cluster cannot work at the trace: {error}')
        read = [UnitAnswer(result, str(failure)) for failure, result in answers]
    except (ValueError, TypeError, msgpack.UnpackException):
        read = []
    if len(read) != count:
        raise AttachError('a worker of the cluster has given no answer that can be read')
    return read
