"""Calls of other tasks for the nodes there of a function that runs here.

`TaskServer` makes a `PartCalls` for each piece or part that it runs. The thread of the run waits; requests are made on the
worker's event loop.
"""
from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.distributed.task_peers import Peer, gone
from pyfuncdbg.distributed.task_request import TaskGoneError, ask_task, serialized
from pyfuncdbg.errors import UnknownError
from pyfuncdbg.hosts.numpy.graph.device import parse_device
from pyfuncdbg.hosts.numpy.runtime.plans.remote_step import RemotePart
from pyfuncdbg.hosts.numpy.runtime.tasks.task import NodeError, Task
from pyfuncdbg.hosts.numpy.runtime.tasks.task_error import aborted, describe_error

_aborting: set[asyncio.Future[None]] = set()
"""Requests whose answer nothing waits for."""


@dataclass(frozen=True, slots=True)
class PeerStep:
    """A step, as one task knows it.

    Attributes:
        step: Its id.
        session: Id of the session.
        plan: Number of the plan.
        number: Index of this task.
        peers: Address, device and incarnation of each task of the step, by its index as text.
    """

    step: str
    session: str
    plan: int
    number: int
    peers: Mapping[str, Sequence[str]]


class PartCalls:
    """The other tasks of a step: the `OtherTasks` of an execution.

    Args:
        pool: The worker's `ConnectionPool`.
        task: This task.
        context: The step.
        ended: Done when the step has failed or was cancelled.

    Attributes:
        failure: The description of the first error on another task.
        lost: Indices of tasks that are gone.
    """

    def __init__(self, pool: Any, task: Task, context: PeerStep, ended: asyncio.Future[None]) -> None:
        self._pool = pool
        self._task = task
        self._context = context
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self.failure: Mapping[str, Any] | None = None
        self.lost: list[int] = []

    def run_part(self, part: RemotePart, values: Sequence[Any], deadline: int | None) -> tuple[Any, ...]:
        """As of `OtherTasks`.

        Raises:
            InvalidArgumentError: A value exists here only.
            UnknownError: The part has failed: `failure` describes it.
        """
        context = self._context
        tensors = dict(zip(part.feeds, values, strict=True))
        packed = self._task.pack_sent(context.session, tensors, part.feeds, context.number, part.taken_handles)
        answer = asyncio.run_coroutine_threadsafe(self._ask(part, packed, deadline), self._loop).result()
        if 'error' in answer:
            self.failure = self.failure or answer['error']
            self.lost.extend(answer.get('lost', ()))
            raise UnknownError(None, None, str(answer['error']['message']))
        results = self._task.unpack(context.session, answer['results'], context.number)
        return tuple(results[name] for name in part.fetches)

    async def _ask(self, part: RemotePart, values: Mapping[str, Any], deadline: int | None) -> Mapping[str, Any]:
        """The answer of the other task; an error also where this step has ended meanwhile."""
        if self._ended.done():
            return {'error': aborted()}
        context = self._context
        address, device, incarnation = context.peers[str(part.task)]
        call = asyncio.ensure_future(ask_task(self._pool, address, 'call', {
            'step': context.step, 'device': device, 'incarnation': incarnation, 'session': context.session,
            'plan': context.plan, 'number': part.task, 'peers': context.peers, 'part': part_data(part),
            'timeout': None if deadline is None else max(0.0, (deadline - perf_counter_ns()) / 1e9),
            'values': serialized(values)}))
        either: set[asyncio.Future[Any]] = {call, self._ended}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not call.done():
            call.cancel()
            abort = asyncio.ensure_future(self._abort(address, device))
            _aborting.add(abort)
            abort.add_done_callback(_aborting.discard)
            return {'error': aborted()}
        try:
            answer: Mapping[str, Any] = call.result()
        except TaskGoneError as error:
            raised = gone(Peer(parse_device(device), address, incarnation, ''), error)
            raised.located = True               # it is no node's
            return {'error': describe_error(raised, derived=True), 'lost': [part.task]}
        return answer

    async def _abort(self, address: str, device: str) -> None:
        """End the step there, too."""
        try:
            await ask_task(self._pool, address, 'abort', {'step': self._context.step, 'device': device})
        except TaskGoneError:
            return                              # then it has ended

    def describe(self, error: NodeError) -> dict[str, Any]:
        """The description of the error of a run that asked for parts: that of the part which has failed, if one has."""
        failure = self.failure or {**describe_error(error.__cause__ or error, error.node), 'function': error.function,
                                   'task': self._context.number}
        return {**failure, 'outer': error.outer}


def part_data(part: RemotePart) -> list[Any]:
    """A part as plain data."""
    return [list(field) if isinstance(field, tuple | frozenset) else field for field in astuple(part)]


def part_of(data: Sequence[Any]) -> RemotePart:
    """The part of `part_data`."""
    task, function, nodes, feeds, taken, fetches, handles = data
    return RemotePart(task, function, tuple(nodes), tuple(feeds), frozenset(taken), tuple(fetches), frozenset(handles))
