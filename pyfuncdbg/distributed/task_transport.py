"""Sessions on the tasks of a Dask cluster: servers, targets and steps, by the program's own client.

On the program's thread; what waits for workers on the event loop of the client.
"""
from __future__ import annotations

import asyncio
import contextlib
import importlib
import uuid
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from pyfuncdbg.distributed.liveness import SilentProcessError, silence, while_alive
from pyfuncdbg.distributed.task_peers import (
    CLUSTER,
    Peer,
    ask_device,
    cluster_of,
    find_peers,
    gone,
    places_of,
    scheduler_answer,
    silent,
    worker_names,
)
from pyfuncdbg.distributed.task_plugin import NAME, task_plugin
from pyfuncdbg.distributed.task_request import TaskGoneError, serialized
from pyfuncdbg.distributed.task_server import restarted
from pyfuncdbg.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    OpError,
    UnavailableError,
    nearest,
)
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2
from pyfuncdbg.hosts.numpy.runtime.cluster.cluster_spec import ClusterSpec
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices
from pyfuncdbg.hosts.numpy.runtime.tasks.task_error import aborted

SCHEME = 'dask'
_SETTLING = 2.0
"""Seconds in which other tasks may still say how a failed step has failed on them."""
_CLOSING = 5.0
_LOADING = 60.0
"""Seconds of silence of a worker that may be loading the package: its event loop does that."""


class DaskTransport:
    """The tasks of Dask clusters: a target is 'dask://SCHEDULER/JOB/INDEX'."""

    def serve(self, cluster: ClusterSpec, job: str, index: int) -> str:
        """As of `TaskTransport`; the cluster's addresses are names or addresses of workers."""
        client = _client()
        names: dict[str, dict[str, str]] = {
            name: {str(number): _text(cluster.task_address(name, number)) for number in cluster.task_indices(name)}
            for name in cluster.jobs}

        async def serve() -> None:
            addresses = list(await scheduler_answer(client, client.nthreads()))
            try:                                # it loads the package on all of them
                await while_alive(client.register_plugin(task_plugin(), name=NAME), client.rpc,
                                  [client.scheduler.address, *addresses], max(_LOADING, silence()))
            except SilentProcessError as error:
                raise silent(client, error) from error
            workers = await worker_names(client, places_of(names))
            for tasks in names.values():        # a worker that is restarted has another address, and the same name
                tasks.update({number: workers.get(place, place) for number, place in tasks.items()})
            await scheduler_answer(client, client.set_metadata([CLUSTER], names))
            await find_peers(client, names)
        _result(client, serve)
        return f'{SCHEME}://{_place(client)}/{job}/{index}'

    def check(self, target: str) -> None:
        """As of `TaskTransport`."""
        _parts(target)

    def connect(self, target: str) -> DaskConnection:
        """As of `TaskTransport`."""
        place, job, index = _parts(target)
        client = _client(place)
        names = _result(client, cluster_of, client)
        if str(index) not in names.get(job, {}):
            known = [f'{SCHEME}://{place}/{name}/{number}' for name, tasks in names.items() for number in tasks]
            raise UnavailableError(None, None, f'no server is at {target}.{nearest(target, known)} A server is made by '
                                               f"tf.distribute.Server(cluster, job, index, protocol='{SCHEME}')")
        peers = _result(client, find_peers, client, names)
        home = next(peer.device for peer in peers if peer.device.job == job and peer.device.task == index)
        return DaskConnection(client, peers, home, names)

    def reset(self, target: str, containers: frozenset[str]) -> None:
        """As of `TaskTransport`."""
        connection = self.connect(target)
        connection.ask_all('reset', {'containers': sorted(containers)})


class DaskConnection:
    """The connection of one session to the tasks of a Dask cluster.

    Args:
        client: The program's client.
        peers: The tasks.
        home: Device of the target.
        names: Workers by job and task.
    """

    def __init__(self, client: Any, peers: Sequence[Peer], home: DeviceSpecV2,
                 names: Mapping[str, Mapping[str, str]]) -> None:
        self._client = client
        self._peers = peers
        self._names = names
        self._session = uuid.uuid4().hex
        self._running: set[asyncio.Future[Any]] = set()     # touched on the event loop only
        self._lost: set[int] = set()            # tasks that were gone when they were asked last
        self.devices = Devices(tuple(peer.device for peer in peers), home)
        # A session that is not closed: what the tasks have for it goes when it is collected, not at the program's end.
        weakref.finalize(self, _close_later, weakref.ref(client), peers, self._session).atexit = False

    def address_space(self, task: int) -> str:
        """As of `TaskConnection`."""
        return self._peers[task].space

    def run(self, requests: Mapping[int, Mapping[str, Any]], timeout: float | None) -> Mapping[int, Mapping[str, Any]]:
        """As of `TaskConnection`."""
        if self._client.status in ('closing', 'closed'):
            raise UnavailableError(None, None, 'the Dask client of this session is closed: make a session on a new one')
        try:
            answers: Mapping[int, Mapping[str, Any]] = _result(self._client, self._run, requests, timeout)
        except OpError as error:
            error.located = True                # it is no node's
            raise
        return answers

    async def _run(self, requests: Mapping[int, Mapping[str, Any]],
                   timeout: float | None) -> Mapping[int, Mapping[str, Any]]:
        for task in self._lost & requests.keys():
            await self._find_again(task)
        loop, step = asyncio.get_running_loop(), uuid.uuid4().hex
        closed = loop.create_future()
        self._running.add(closed)
        serving = {task: loop.create_future() for task, request in requests.items() if
                   request['piece'] is not None and request['piece']['serves']}
        waiting: dict[asyncio.Future[Mapping[str, Any]], int] = {
            asyncio.ensure_future(self._ask_run(step, task, requests, timeout, serving)): task
            for task in requests}
        answers: dict[int, Mapping[str, Any]] = {}
        end, failed = None if timeout is None else loop.time() + timeout, False
        try:
            while waiting:
                left = None if end is None else max(0.0, end - loop.time())
                futures: set[asyncio.Future[Any]] = {*waiting, closed}
                done, _ = await asyncio.wait(futures, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if closed in done:
                    raise CancelledError(None, None, ('Graph execution error:\n\nStep was cancelled by an explicit call to '
                                                      '`Session::Close()`.'))
                if not done and failed:         # a task that does not hear that the step is over
                    break
                if not done:
                    raise DeadlineExceededError(None, None, 'Graph execution error:\n\nDeadline Exceeded')
                answers.update((waiting.pop(future), future.result()) for future in done)
                self._lost.update(*(answer.get('lost', ()) for answer in answers.values()))
                if not failed and any('error' in answer for answer in answers.values()):
                    failed, end = True, loop.time() + _SETTLING
                    self._abort(step, waiting.values())
            return answers
        finally:                                # also where Ctrl-C cancels it
            self._running.discard(closed)
            for future in waiting:
                future.cancel()
            if waiting and not failed:
                self._abort(step, waiting.values())

    async def _ask_run(self, step: str, task: int, requests: Mapping[int, Mapping[str, Any]], timeout: float | None,
                       serving: Mapping[int, asyncio.Future[bool]]) -> Mapping[str, Any]:
        """The answer of one task. None runs before those are ready on which its functions have nodes."""
        request, peer = requests[task], self._peers[task]
        if task in serving:
            refused = await self._prepare(task, request, serving[task])
            if 'error' in refused:
                return refused
            request = {**request, 'piece': None, 'drop': []}
        if not all(await asyncio.gather(*serving.values())):
            return {'error': aborted()}
        peers = {str(other): [self._peers[other].address, self._peers[other].device.to_string(),
                              self._peers[other].incarnation] for other in requests}
        arguments = {**request, 'values': serialized(request['values']), 'step': step, 'session': self._session,
                     'incarnation': peer.incarnation, 'timeout': timeout, 'peers': peers, 'number': task}
        try:
            answer: Mapping[str, Any] = await ask_device(self._client, peer, 'run', arguments)
        except TaskGoneError as error:
            self._lost.add(task)
            raise gone(peer, error) from error
        return answer

    async def _prepare(self, task: int, request: Mapping[str, Any], ready: asyncio.Future[bool]) -> Mapping[str, Any]:
        """Send a task its piece, and set whether it is ready."""
        answer: Mapping[str, Any] = {'error': None}
        try:
            answer = await ask_device(self._client, self._peers[task], 'prepare', {
                'incarnation': self._peers[task].incarnation, 'session': self._session,
                **{key: request[key] for key in ('plan', 'piece', 'drop')}})
        except TaskGoneError as error:
            self._lost.add(task)
            raise gone(self._peers[task], error) from error
        finally:
            if not ready.done():
                ready.set_result('error' not in answer)
        return answer

    def _abort(self, step: str, tasks: Iterable[int]) -> None:
        """End a step on some tasks, without waiting for their answers."""
        for task in list(tasks):
            _start(ask_device(self._client, self._peers[task], 'abort', {'step': step}))

    async def _find_again(self, task: int) -> None:
        """Look for a task that was gone.

        Raises:
            UnavailableError: It still is.
            AbortedError: Another one is in its place, without what this session had there.
        """
        device = self._peers[task].device
        job, index = str(device.job), str(device.task)
        (now,) = await find_peers(self._client, {job: {index: self._names[job][index]}})
        if now.incarnation != self._peers[task].incarnation:
            raise restarted(now.device.to_string())
        self._lost.discard(task)

    # ------------------------------------------------------------------ end
    def ask_all(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Ask all tasks; those that are gone have nothing to do.

        Raises:
            UnavailableError: A task is gone.
        """
        async def ask() -> None:
            for peer, answer in zip(self._peers, await asyncio.gather(
                    *[ask_device(self._client, peer, action, arguments) for peer in self._peers],
                    return_exceptions=True), strict=True):
                if isinstance(answer, TaskGoneError):
                    raise gone(peer, answer)
                if isinstance(answer, BaseException):
                    raise answer
        _result(self._client, ask)

    def close(self) -> None:
        """As of `TaskConnection`."""
        async def close() -> None:
            for future in self._running:
                if not future.done():
                    future.set_result(None)
            await asyncio.wait_for(asyncio.gather(
                *[ask_device(self._client, peer, 'close', {'session': self._session}) for peer in self._peers],
                return_exceptions=True), _CLOSING)
        with contextlib.suppress(Exception):    # the client or the cluster is closed already: what it had there is gone
            self._client.sync(close)


def _close_later(client_of: Any, peers: Sequence[Peer], session: str) -> None:
    """Free what the tasks have for a session; on any thread."""
    client = client_of()

    def close() -> None:
        for peer in peers:
            _start(ask_device(client, peer, 'close', {'session': session}))
    if client is not None and client.status == 'running':
        client.loop.add_callback(close)


_ending: set[asyncio.Future[Any]] = set()
"""Requests that are sent without waiting for an answer."""


def _start(request: Coroutine[Any, Any, Any]) -> None:
    """Send a request without waiting for its answer, on the event loop."""
    future = asyncio.ensure_future(request)
    _ending.add(future)
    future.add_done_callback(_forget)


def _forget(future: asyncio.Future[Any]) -> None:
    _ending.discard(future)
    if not future.cancelled():
        future.exception()                      # a task that is gone: asyncio would report it


def _client(place: str = '') -> Any:
    """The program's client, of the scheduler at this place.

    Raises:
        UnavailableError: There is none.
    """
    distributed: Any = importlib.import_module('distributed')
    try:
        client = distributed.default_client()
    except ValueError:
        raise UnavailableError(None, None, 'this process has no Dask client: make one before, as distributed.Client('
                                           f'{place or "ADDRESS"!r}) is one') from None
    if client.asynchronous:
        raise UnavailableError(None, None, 'sessions wait for their tasks: they need a client of Dask that is not '
                                           'asynchronous, and not on the thread of its event loop')
    if place and _place(client) != place:
        raise UnavailableError(None, None, f'the Dask client of this process is one of the scheduler at {_place(client)}, '
                                           f'not at {place}: make one of that, as distributed.Client({place!r})')
    return client


def _result(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a coroutine on the client's event loop.

    Raises:
        OpError: It has raised that. Without the frames of the loop and the errors of connections: its text says what counts.
    """
    try:
        return client.sync(function, *arguments)
    except OpError as error:
        raise error.with_traceback(None) from None


def _place(client: Any) -> str:
    """The address of a client's scheduler, without the protocol."""
    return str(client.scheduler.address).partition('://')[2]


def _parts(target: str) -> tuple[str, str, int]:
    """Scheduler, job and index of a target.

    Raises:
        InvalidArgumentError: It is none.
    """
    place, job, index = ['', '', *target.removeprefix(f'{SCHEME}://').rsplit('/', 2)][-3:]
    if not place or not job or not index.isdecimal():
        raise InvalidArgumentError(None, None, f'Could not interpret "{target}" as the target of a server: expected '
                                               f'"{SCHEME}://SCHEDULER/JOB/INDEX", as "{SCHEME}://127.0.0.1:8786/worker/0"')
    return place, job, int(index)


def _text(address: Any) -> str:
    return address.decode() if isinstance(address, bytes) else str(address)
