"""Code that a client sends to workers: the plugin by which they record, functions that answer and work.

All are pickled by value: a worker on whose machine this package is not installed can load them too, works on unrecorded,
and says why. By reference, loading the plugin would keep such a worker from joining the cluster, and loading the function
would put a traceback into the worker's log.
"""
from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    """A function for `Client.run`: it calls one of this package in the process of a worker.

    Returns:
        The function, of a module, a name in it and arguments; its result is an error as text, '' for none, and what was
        returned.
    """
    async def call(module: str, name: str, *words: Any) -> tuple[str, Any]:
        try:
            answer = getattr(importlib.import_module(f'pyfuncdbg.distributed.{module}'), name)(*words)
            return '', await answer if hasattr(answer, '__await__') else answer
        except Exception as error:              # for the client; raised here it would be in the worker's log, too
            return f'{type(error).__name__}: {error}'[:500], None
    return call


def worker_task() -> Callable[..., bytes | str]:
    """A function for `Client.submit`, which does a chunk of work on a thread of the worker.

    Returns:
        The function, of the arguments of `worker_jobs.work`; its result is that, or an error as text.
    """
    def work_on(job: Mapping[str, Any], units: Sequence[Any]) -> bytes | str:
        try:
            from pyfuncdbg.distributed.worker_jobs import work
            return work(job, units)
        except Exception as error:              # for the client, as above
            return f'{type(error).__name__}: {error}'[:500]
    return work_on
