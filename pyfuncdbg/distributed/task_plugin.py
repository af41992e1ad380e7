"""The plugin by which Dask workers become tasks of a cluster; pickled by value, as `worker_plugin` says why."""
from __future__ import annotations

import importlib
from typing import Any

from pyfuncdbg.distributed.task_request import HANDLER

NAME = 'pyfuncdbg tasks'
"""Of the plugin."""


def task_plugin() -> Any:
    """A plugin for `Client.register_plugin`; it raises nothing."""
    distributed: Any = importlib.import_module('distributed')
    handler = HANDLER

    class TaskPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
        """Lets a worker be a task."""

        def setup(self, worker: Any) -> None:
            try:
                from pyfuncdbg.distributed.task_server import TaskServer
                worker.handlers[handler] = TaskServer(worker).handle
            except Exception as error:          # whatever keeps it from being a task, the worker works
                reason = f'{type(error).__name__}: {error}'[:500]

                async def refuse(action: str, form: int, arguments: Any) -> dict[str, Any]:
                    return {'refused': reason}
                worker.handlers[handler] = refuse

    return TaskPlugin()
