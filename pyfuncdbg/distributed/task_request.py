"""Requests to the tasks of Dask workers, made by the client of a session and by other workers.

On the event loop of each.
"""
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from pyfuncdbg.distributed.liveness import SilentProcessError, in_time, while_alive

HANDLER = 'pyfuncdbg_task'
"""Name of the workers' handler."""
FORM = 4
"""Of the messages; a worker answers those of its own form only."""
_LONG = frozenset({'run', 'pull', 'call', 'prepare'})
"""Actions that wait for nodes: they may take any time."""


class TaskGoneError(Exception):
    """A worker that does not answer, or is no task."""


async def ask_task(pool: Any, address: str, action: str, arguments: Mapping[str, Any]) -> Any:
    """Ask a worker.

    Args:
        pool: The `ConnectionPool` of the client or worker that asks.
        address: Of the worker.
        action: One of `TaskServer`.
        arguments: Its arguments, plain data; arrays are in `Serialize`.

    Raises:
        TaskGoneError: It is gone, does not answer, or cannot be a task.
    """
    request = _send(pool, address, {'op': HANDLER, 'action': action, 'form': FORM, 'arguments': dict(arguments)})
    try:
        answer = await (while_alive(request, pool, [address]) if action in _LONG else in_time(request, address))
    except SilentProcessError as error:
        raise TaskGoneError(str(error)) from error
    except Exception as error:                  # of connections: Dask's are of several kinds
        raise TaskGoneError(f'{type(error).__name__}: {error}'.partition('\n')[0]) from error
    if not isinstance(answer, Mapping):
        raise TaskGoneError('it does not know such requests: another version of pyfuncdbg may be installed there')
    if 'refused' in answer:
        raise TaskGoneError(str(answer['refused']))
    return answer


async def _send(pool: Any, address: str, message: Mapping[str, Any]) -> Any:
    comm = await in_time(pool.connect(address), address)
    try:
        return await importlib.import_module('distributed.core').send_recv(comm, **message)
    finally:
        pool.reuse(address, comm)


def serialized(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of `pack_tensor` or `Task.pack_sent`, with arrays for Dask's own serialization."""
    serialize = importlib.import_module('distributed.protocol').to_serialize

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: marked(part) for key, part in value.items()}
        if isinstance(value, list):
            return list(map(marked, value))
        return value if value is None or isinstance(value, bytes | str | int) else serialize(value)
    return {name: marked(value) for name, value in tensors.items()}
