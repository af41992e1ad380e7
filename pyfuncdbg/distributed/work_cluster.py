"""Cluster that does work on a trace: a user's, or one inside of this process.

The latter has a scheduler and a worker on a thread here, which talk in memory: nothing listens. The work itself is done in
processes of the worker, as in any cluster. On the thread of the command.
"""
from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

from pyfuncdbg.distributed.worker_calls import dask_distributed, error_text
from pyfuncdbg.errors import AttachError

LOCAL = 'local'
_PATIENCE = 10.0
"""Seconds for a scheduler to answer."""
_SETTINGS = {'distributed.scheduler.http.routes': [], 'distributed.worker.http.routes': [],
             'distributed.worker.profile.enabled': False}
"""Of a cluster of our own: it has no pages, and looks at no thread."""


@contextlib.contextmanager
def opened_cluster(address: str, processes: int = 0) -> Iterator[Any]:
    """A block with a client of a cluster. What Dask logs meanwhile is not shown: what matters is raised.

    Args:
        address: Of the scheduler of a cluster, with the security settings of Dask's configuration; 'local' for one of our
            own, for as long as the block lasts.
        processes: How many processes of that one work at once; 0 for as many as there are CPUs.

    Yields:
        A `distributed.Client`.

    Raises:
        AttachError: There is no cluster at the address, or no `distributed` here.
    """
    distributed = dask_distributed()
    with _quiet(), contextlib.ExitStack() as stack:
        if address == LOCAL:
            place: Any = stack.enter_context(_local_cluster(distributed, processes or _cpus()))
        else:
            place = address
        try:
            client = distributed.Client(place, timeout=_PATIENCE, set_as_default=False)
        except Exception as error:              # Dask's own: no cluster, another version of it, other security
            raise AttachError(f'no Dask cluster answers at {address!r}: {error_text(error)}. Expected is the address of its '
                              "scheduler, such as tcp://127.0.0.1:8786, or 'local'") from None
        stack.callback(_close, client)
        yield client


@contextlib.contextmanager
def _local_cluster(distributed: Any, threads: int) -> Iterator[Any]:
    import dask

    class SilentScheduler(distributed.Scheduler):  # type: ignore[misc]
        """A scheduler without HTTP server."""

        def start_http_server(self, *args: Any, **options: Any) -> None:
            """Nothing listens."""

    class SilentWorker(distributed.Worker):  # type: ignore[misc]
        """A worker without HTTP server."""

        def start_http_server(self, *args: Any, **options: Any) -> None:
            """Nothing listens."""

    with tempfile.TemporaryDirectory(prefix='pyfuncdbg-', ignore_cleanup_errors=True) as folder, dask.config.set(_SETTINGS):
        scheduler = {'protocol': 'inproc://', 'dashboard': False}
        worker = {'protocol': 'inproc://', 'nthreads': threads, 'dashboard': False, 'memory_limit': 0,
                  'local_directory': folder}
        with distributed.SpecCluster(scheduler={'cls': SilentScheduler, 'options': scheduler},
                                     workers={0: {'cls': SilentWorker, 'options': worker}}) as cluster:
            yield cluster


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """A block in which Dask neither logs nor warns: of lost workers, of versions that differ."""
    loggers = [logging.getLogger(name) for name in ('distributed', 'distributed.client', 'tornado')]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', module=r'(distributed|dask)\b')
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):        # the scheduler is gone
        client.close(timeout=_PATIENCE)


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
