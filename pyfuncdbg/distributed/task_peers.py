"""Tasks of a Dask cluster, found by the names of their workers. On the event loop of the client."""
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyfuncdbg.distributed.liveness import SilentProcessError, in_time
from pyfuncdbg.distributed.task_request import TaskGoneError, ask_task
from pyfuncdbg.distributed.worker_jobs import versions
from pyfuncdbg.errors import UnavailableError, nearest
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2

CLUSTER = 'pyfuncdbg cluster'
"""Metadata of the scheduler: the cluster whose tasks the workers are, for clients in other processes."""
_told: set[str] = set()
"""Lines about versions that were said."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A task.

    Attributes:
        device: Its device.
        address: Of its worker.
        incarnation: Differs after a restart.
        space: Of its process.
    """

    device: DeviceSpecV2
    address: str
    incarnation: str
    space: str


async def ask_device(client: Any, peer: Peer, action: str, arguments: Mapping[str, Any]) -> Any:
    """Ask a task; as `ask_task`."""
    return await ask_task(client.rpc, peer.address, action, {**arguments, 'device': peer.device.to_string()})


def gone(peer: Peer, error: Exception) -> UnavailableError:
    """The error of a task that is gone."""
    return UnavailableError(None, None, f'Graph execution error:\n\nTask {peer.device.to_string()} at {peer.address} is '
                                        f'gone: {error}. Restart it, and make a new session: the other tasks keep their '
                                        'variables')


async def cluster_of(client: Any) -> Mapping[str, Mapping[str, str]]:
    """The cluster whose tasks the workers are, as a server was asked for it last."""
    names: Mapping[str, Mapping[str, str]] = await scheduler_answer(client, client.get_metadata([CLUSTER], default={}))
    return names


async def scheduler_answer(client: Any, answer: Awaitable[Any]) -> Any:
    """What the scheduler answers.

    Raises:
        UnavailableError: It does not.
    """
    try:
        return await in_time(answer, client.scheduler.address)
    except SilentProcessError as error:
        raise silent(client, error) from error


def silent(client: Any, error: SilentProcessError) -> UnavailableError:
    """The error of a process that does not answer."""
    kind = 'scheduler' if error.address == client.scheduler.address else 'worker'
    return UnavailableError(None, None, f'The {kind} of the Dask cluster at {error.address} is gone: {error}')


async def worker_names(client: Any, places: Collection[str], problems: dict[str, str] | None = None) -> dict[str, str]:
    """The names of the workers, by address. One that cannot be a task has its address for a name.

    Args:
        client: The client.
        places: Names or addresses: when all are known, no others are awaited.
        problems: Gets why a worker cannot be a task, by address.
    """
    names = {address: address for address in await scheduler_answer(client, client.nthreads())}

    async def ask(address: str) -> None:
        try:
            names[address] = (await ask_task(client.rpc, address, 'name', {}))['name']
        except TaskGoneError as error:
            if problems is not None:
                problems[address] = str(error)
    waiting = {asyncio.ensure_future(ask(address)) for address in names}
    try:
        while waiting and not {*names, *names.values()} >= {*places}:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in waiting:
            future.cancel()
    return names


def places_of(names: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The names or addresses of the workers of a cluster."""
    return [place for tasks in names.values() for place in tasks.values()]


def _tell_versions(task: str, there: Any) -> None:
    """Say once what a task has other versions of: its results may be others."""
    if isinstance(there, dict) and (unlike := [f'{name} {there[name]!s:.40}, and this process {version}' for name, version
                                               in versions().items() if there.get(name, version) != version]):
        line = f'task {task} has {"; ".join(unlike)}'
        if line not in _told:
            _told.add(line)
            say(line)


async def find_peers(client: Any, names: Mapping[str, Mapping[str, str]]) -> list[Peer]:
    """The tasks of a cluster, ready for sessions.

    Raises:
        UnavailableError: One is not there, or cannot be a task.
    """
    problems: dict[str, str] = {}
    workers = await worker_names(client, places_of(names), problems)
    addresses = {**{name: address for address, name in workers.items()}, **{address: address for address in workers}}
    peers = []
    for job, tasks in sorted(names.items()):
        for index, place in sorted(tasks.items(), key=lambda task: int(task[0])):
            device = DeviceSpecV2(job, 0, int(index), 'CPU', 0)
            if place not in addresses:
                known = ', '.join(sorted(f'{name!r} ({problems[address]})' if address in problems else repr(name)
                                         for address, name in workers.items()))
                raise UnavailableError(None, None, (
                    f'task /job:{job}/task:{index} is not there: the Dask cluster has no worker {place!r}. Its workers: '
                    f'{known or "none"}.{nearest(place, addresses)} Give names of workers as addresses of the ClusterSpec'))
            peer = Peer(device, addresses[place], '', '')
            try:
                answer = await ask_device(client, peer, 'open', {})
            except TaskGoneError as error:
                raise gone(peer, error) from error
            _tell_versions(device.to_string(), answer.get('versions'))
            peers.append(replace(peer, incarnation=answer['incarnation'], space=answer['space']))
    return peers
