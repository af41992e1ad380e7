"""The tasks of a Dask worker: pieces of graphs are run for sessions, and tensors given to other tasks.

On the worker's event loop; nodes run on threads of its own, so that a task that waits holds no thread.
"""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.distributed.part_calls import PartCalls, PeerStep, part_of
from pyfuncdbg.distributed.task_request import FORM, TaskGoneError, ask_task, serialized
from pyfuncdbg.distributed.worker_jobs import versions
from pyfuncdbg.errors import AbortedError, UnavailableError
from pyfuncdbg.hosts.numpy.graph.device import parse_device
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Arrival, address_space, piece_of
from pyfuncdbg.hosts.numpy.runtime.tasks.task import NodeError, Task
from pyfuncdbg.hosts.numpy.runtime.tasks.task_error import aborted, describe_error

_THREADS = 64
"""Pieces that run at once; a Python function may wait for another session's."""
_ORPHANED = 60.0
"""Seconds for which something is kept for a session or task that may be gone."""


class _Step:
    """State of one step of a session on one task.

    Attributes:
        begun: Whether the session has asked for it.
        answered: Whether the session has its answer.
        calls: Parts under way for functions of other tasks.
        ended: Done when the step has failed or was cancelled.
    """

    def __init__(self) -> None:
        self.begun = self.answered = False
        self.calls = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._offers: dict[tuple[int, int], asyncio.Future[Mapping[str, Any]]] = {}

    def offer(self, level: int, consumer: int) -> asyncio.Future[Mapping[str, Any]]:
        """The tensors for a task after a level, now or later."""
        return self._offers.setdefault((level, consumer), asyncio.get_running_loop().create_future())

    def take(self, level: int, consumer: int) -> None:
        """Forget what that task has got."""
        self._offers.pop((level, consumer), None)

    def end(self) -> None:
        """The step has failed: who waits for it waits no longer."""
        if not self.ended.done():
            self.ended.set_result(None)
        self._offers.clear()

    @property
    def is_spent(self) -> bool:
        """Whether no request waits for a tensor or a result of it."""
        return not self._offers


class TaskServer:
    """The tasks of one worker.

    Args:
        worker: The `distributed.Worker`.
    """

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._tasks: dict[str, Task] = {}
        self._steps: dict[tuple[str, str], _Step] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix='pyfuncdbg task')

    async def handle(self, action: str, form: int, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answer a request, by the method of this action."""
        if form != FORM:
            return {'refused': f'its messages have form {FORM}, not {form}: install one version of pyfuncdbg everywhere'}
        actions: dict[str, Callable[..., Any]] = {
            'name': self._name, 'open': self._open, 'prepare': self._prepare, 'run': self._run, 'call': self._call,
            'pull': self._pull, 'abort': self._abort, 'close': self._close, 'reset': self._reset}
        answer: dict[str, Any] = await actions[action](**arguments)
        return answer

    # ------------------------------------------------------------------ tasks and sessions
    async def _name(self) -> dict[str, Any]:
        return {'name': str(self._worker.name)}

    async def _open(self, device: str) -> dict[str, Any]:
        """Be a task."""
        if device not in self._tasks:
            # The functions that a program stores in its nodes are loaded: it can have any worker of its cluster run code.
            self._tasks[device] = Task(parse_device(device), trust=True)
        return {'incarnation': self._tasks[device].incarnation, 'space': address_space(), 'versions': versions()}

    async def _close(self, device: str, session: str) -> dict[str, Any]:
        """A session has ended."""
        if device in self._tasks:
            self._tasks[device].close_session(session)
        return {}

    async def _reset(self, device: str, containers: Sequence[str]) -> dict[str, Any]:
        """Delete variables."""
        if device in self._tasks:
            self._tasks[device].reset(frozenset(containers))
        return {}

    # ------------------------------------------------------------------ steps
    async def _prepare(self, device: str, incarnation: str, session: str, plan: int, piece: Any,
                       drop: Sequence[int]) -> dict[str, Any]:
        """Have a piece ready, before other tasks run functions with nodes here."""
        task = self._task(device, incarnation)
        if task is None:
            return {'error': describe_error(restarted(device))}
        try:
            await self._in_thread(task.prepare, session, plan, piece_of(piece), drop)
        except Exception as error:              # of the runtime, such as an unknown node: the session raises it
            return {'error': describe_error(error)}
        return {}

    def _task(self, device: str, incarnation: str) -> Task | None:
        """The task, if it is the one that a session has begun with."""
        task = self._tasks.get(device)
        return task if task is not None and task.incarnation == incarnation else None

    async def _run(self, step: str, device: str, incarnation: str, timed: bool, **request: Any) -> dict[str, Any]:
        """Run a piece."""
        task = self._task(device, incarnation)
        if task is None:
            return {'error': describe_error(restarted(device))}
        state = self._step(step, device)
        state.begun = True
        times: list[Any] | None = [] if timed else None
        work = asyncio.ensure_future(self._work(task, state, step, times=times, **request))
        either: set[asyncio.Future[Any]] = {work, state.ended}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            return {'error': aborted()}
        answer = {**work.result(), 'times': times}
        state.answered = True
        if 'error' in answer:
            state.end()
        self._forget(step, device, state)
        return answer

    def _forget(self, step: str, device: str, state: _Step) -> None:
        """Forget a step when all is done, or some time after it has failed: a task may still ask for something of it."""
        if state.ended.done():
            asyncio.get_running_loop().call_later(_ORPHANED, self._steps.pop, (step, device), None)
        elif state.is_spent and not state.calls and (state.answered or not state.begun):
            self._steps.pop((step, device), None)

    def _step(self, step: str, device: str) -> _Step:
        return self._steps.setdefault((step, device), _Step())

    async def _work(self, task: Task, state: _Step, step: str, *, session: str, plan: int, piece: Any, drop: Sequence[int],
                    values: Mapping[str, Any], times: list[Any] | None, timeout: float | None,
                    peers: Mapping[str, Sequence[str]], number: int) -> dict[str, Any]:
        """Run the stages of a piece, each when it has what it needs."""
        deadline = None if timeout is None else perf_counter_ns() + int(timeout * 1e9)
        pulls: dict[Arrival, asyncio.Future[Mapping[str, Any]]] = {}
        others = PartCalls(self._worker.rpc, task, PeerStep(step, session, plan, number, peers), state.ended)
        try:
            prepared = await self._in_thread(task.prepare, session, plan, None if piece is None else piece_of(piece), drop)
            tensors = task.unpack(session, values, number)
            for arrival in prepared.piece.arrivals:
                pulls[arrival] = asyncio.ensure_future(self._fetch(step, arrival, peers[str(arrival.task)], number))
            for stage in prepared.piece.stages:
                for arrival in [arrival for arrival in pulls if arrival.before <= stage.level]:
                    received = await pulls.pop(arrival)
                    tensors.update(task.unpack(session, received, number))
                tensors.update(await self._in_thread(prepared.run, stage, tensors, task.resources(session), deadline,
                                                     times, others))
                for consumer, names in stage.sends:
                    state.offer(stage.level, consumer).set_result(serialized(
                        task.pack_sent(session, tensors, names, number, prepared.handles(names))))
            return {'results': serialized(task.pack_results(session, tensors, prepared.piece.results, number))}
        except NodeError as error:
            return {'error': others.describe(error), 'lost': others.lost}
        except _PeerError as error:
            return {'error': aborted() if error.text is None else describe_error(
                UnavailableError(None, None, error.text), derived=True)}
        except Exception as error:              # of the runtime, such as an unknown node: the session raises it
            return {'error': describe_error(error)}
        finally:
            for pull in pulls.values():
                pull.cancel()

    async def _call(self, step: str, device: str, incarnation: str, **request: Any) -> dict[str, Any]:
        """Run nodes of a function that runs on another task."""
        task = self._task(device, incarnation)
        if task is None:
            return {'error': describe_error(restarted(device))}
        state = self._step(step, device)
        state.calls += 1
        try:
            work = asyncio.ensure_future(self._run_part(task, state, step, device, **request))
            either: set[asyncio.Future[Any]] = {work, state.ended}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                return {'error': aborted()}
            return work.result()
        finally:
            state.calls -= 1
            self._forget(step, device, state)

    async def _run_part(self, task: Task, state: _Step, step: str, device: str, *, session: str, plan: int, part: Any,
                        values: Mapping[str, Any], timeout: float | None, peers: Mapping[str, Sequence[str]],
                        number: int) -> dict[str, Any]:
        deadline = None if timeout is None else perf_counter_ns() + int(timeout * 1e9)
        others = PartCalls(self._worker.rpc, task, PeerStep(step, session, plan, number, peers), state.ended)
        nodes = part_of(part)
        try:
            prepared = task.prepared(session, plan)
        except KeyError:
            return {'error': describe_error(restarted(device))}
        try:
            fed = task.unpack(session, values, number)
            results = await self._in_thread(prepared.run_part, step, nodes, [fed[name] for name in nodes.feeds],
                                            task.resources(session), deadline, others)
            return {'results': serialized(task.pack_sent(session, dict(zip(nodes.fetches, results, strict=True)),
                                                         nodes.fetches, number, nodes.handles))}
        except NodeError as error:
            return {'error': others.describe(error), 'lost': others.lost}
        except Exception as error:              # of the runtime, such as a value that cannot be sent: the session raises it
            return {'error': describe_error(error)}

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def _fetch(self, step: str, arrival: Arrival, peer: Sequence[str], number: int) -> Mapping[str, Any]:
        """Tensors of another task.

        Raises:
            _PeerError: It has failed or is gone.
        """
        address, device, _ = peer
        try:
            answer = await ask_task(self._worker.rpc, address, 'pull', {'step': step, 'device': device,
                                                                        'level': arrival.level, 'consumer': number})
        except TaskGoneError as error:
            raise _PeerError(f'task {device} at {address} is gone: {error}') from error
        if 'tensors' not in answer:
            raise _PeerError(None)
        tensors: Mapping[str, Any] = answer['tensors']
        return tensors

    async def _pull(self, step: str, device: str, level: int, consumer: int) -> dict[str, Any]:
        """Give another task what it waits for, as soon as it is there."""
        state = self._step(step, device)
        offer = state.offer(level, consumer)
        either: set[asyncio.Future[Any]] = {offer, state.ended}
        while not offer.done() and not state.ended.done():
            await asyncio.wait(either, timeout=_ORPHANED, return_when=asyncio.FIRST_COMPLETED)
            if not state.begun:                 # its session is gone
                state.end()
        state.take(level, consumer)
        self._forget(step, device, state)
        return {'tensors': offer.result()} if offer.done() else {}

    async def _abort(self, step: str, device: str) -> dict[str, Any]:
        """The step has failed elsewhere, or was cancelled."""
        state = self._step(step, device)
        state.end()
        self._forget(step, device, state)
        return {}


class _PeerError(Exception):
    """Another task has failed, or is gone.

    Args:
        text: None where its own answer to the session says why.
    """

    def __init__(self, text: str | None) -> None:
        super().__init__(text)
        self.text = text


def restarted(device: str) -> AbortedError:
    """The error of a task that is not the one that a session has begun with."""
    return AbortedError(None, None, 'Graph execution error:\n\nSession handle is not found. Possibly this worker '
                                    f'("{device}") just restarted. Make a new session, and initialize '
                                    'the variables of that task')
