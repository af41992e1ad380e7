"""Workers of a Dask cluster, recorded or as tasks of a `ClusterSpec`. This package alone imports `distributed`.

A program calls `attach` on its own thread; what a worker does is in `worker_recording`. The import registers the protocol
'dask' of servers: see `task_transport`.
"""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.public_function import hide_own_frames
from pyfuncdbg.hosts.numpy.runtime.cluster import task_transport as _transports

if TYPE_CHECKING:
    from pyfuncdbg.distributed.cluster_recording import ClusterRecording
    from pyfuncdbg.hosts.numpy.runtime.cluster.task_transport import TaskTransport

__all__ = ['attach']


@hide_own_frames
def attach(client: Any, path: str | Path | None = None, *, patience: float = 30.0, **options: Any) -> ClusterRecording:
    """Record the calls on all workers of a Dask cluster into one trace, inside `with`; also on workers that join later.

        with Client(cluster) as client, pyfuncdbg.distributed.attach(client, 'job.pfd'):
            client.gather(client.map(work, range(100)))

    Each worker records on its own machine. At the end of the block the logs come through the connections of Dask, with the
    user's security settings. What is missing then is reported on stderr, in `missing` of the value of `with`, and by `info`.

    Args:
        client: A `distributed.Client`; with an asynchronous one, `async with`.
        path: Folder of the trace, to be made; by default a new one here, named after the time.
        patience: Seconds for each answer of a worker; one that takes longer is left out.
        **options: As for `pyfuncdbg.record`, for each process: `budget` in bytes, `level`, `ops`, and more; see `Recorder`.

    Returns:
        The recording, not begun yet.

    Raises:
        AttachError: `distributed` is not installed, or this is no client of it; on entry, a worker cannot record.
        TraceError: An option is not valid; on entry, the trace cannot be made there.
    """
    from pyfuncdbg.distributed.cluster_recording import ClusterRecording
    return ClusterRecording(client, path, patience, options)


def _dask_transport() -> TaskTransport:
    from pyfuncdbg.distributed.task_transport import DaskTransport
    return DaskTransport()


_transports.register_transport('dask', _dask_transport)
