"""Code that a client sends to workers: the plugin by which they record, the function that answers it.

Both are pickled by value: a worker on whose machine this package is not installed can load them too, works on unrecorded,
and says why. By reference, loading the plugin would keep such a worker from joining the cluster, and loading the function
would put a traceback into the worker's log.
"""
from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any


def recorder_plugin(recording: str, version: int, options: Mapping[str, Any]) -> Any:
    """A plugin for `Client.register_plugin`.

    Args:
        recording: Id of the recording; also the topic of the events in which workers report that they record, or why not.
        version: The newest format of a trace that the client can read.
        options: Of the recorders.

    Returns:
        The plugin. It raises nothing, and what is pickled with it is plain data.
    """
    distributed: Any = importlib.import_module('distributed')
    chosen = dict(options)

    class RecorderPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
        """Records in the process of a worker, from setup to teardown."""

        def setup(self, worker: Any) -> None:
            import os
            import socket
            event = {'name': str(worker.name), 'host': socket.gethostname(), 'pid': os.getpid()}
            try:
                from pyfuncdbg.distributed.worker_recording import begin
                event['trace'] = begin(recording, worker.name, version, chosen)
            except Exception as error:          # whatever keeps it from recording, the worker works
                event['error'] = f'{type(error).__name__}: {error}'[:500]
            worker.log_event(recording, event)

        def teardown(self, worker: Any) -> None:
            try:
                from pyfuncdbg.distributed.worker_recording import end
                end(recording)
            except Exception:                   # it has never begun, and said so
                return

    return RecorderPlugin()


def worker_call() -> Callable[..., Awaitable[tuple[str, Any]]]:
    """A function for `Client.run`: it calls one of `worker_recording` in the process of a worker.

    Returns:
        The function, of a name and arguments; its result is an error as text, '' for none, and what was returned.
    """
    async def call(name: str, *words: Any) -> tuple[str, Any]:
        try:
            from pyfuncdbg.distributed import worker_recording
            answer = getattr(worker_recording, name)(*words)
            return '', await answer if hasattr(answer, '__await__') else answer
        except Exception as error:              # for the client; raised here it would be in the worker's log, too
            return f'{type(error).__name__}: {error}'[:500], None
    return call
