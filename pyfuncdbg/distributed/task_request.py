"""Requests to the tasks of Dask workers, made by the client of a session and by other workers.

On the event loop of each.
"""
from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import Any

HANDLER = 'pyfuncdbg_task'
"""Name of the workers' handler."""
FORM = 2
"""Of the messages; a worker answers those of its own form only."""
_CONNECTING = 5.0
"""Seconds to connect to a worker."""


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
        TaskGoneError: It is gone, or cannot be a task.
    """
    send_recv = importlib.import_module('distributed.core').send_recv
    try:
        comm = await asyncio.wait_for(pool.connect(address), _CONNECTING)
        try:
            answer = await send_recv(comm, op=HANDLER, action=action, form=FORM, arguments=dict(arguments))
        finally:
            pool.reuse(address, comm)
    except Exception as error:                  # of connections: Dask's are of several kinds
        raise TaskGoneError(f'{type(error).__name__}: {error}'.partition('\n')[0]) from error
    if not isinstance(answer, Mapping):
        raise TaskGoneError('it does not know such requests: another version of pyfuncdbg may be installed there')
    if 'refused' in answer:
        raise TaskGoneError(str(answer['refused']))
    return answer


def serialized(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of `pack_tensor` or `Task.pack_sent`, with arrays for Dask's own serialization."""
    serialize = importlib.import_module('distributed.protocol').to_serialize

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: marked(part) for key, part in value.items()}
        if isinstance(value, list):
            return list(map(marked, value))
        return value if value is None or isinstance(value, bytes | str) else serialize(value)
    return {name: marked(value) for name, value in tensors.items()}
