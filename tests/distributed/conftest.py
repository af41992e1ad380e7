"""A local cluster of Dask, for the tests of tasks."""
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def client() -> Iterator[Any]:
    """Two workers in processes of their own, which are started anew when they are killed."""
    from distributed import Client, LocalCluster
    pyfuncdbg.distributed  # noqa: B018  registers the protocol
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('PYTHONPATH', os.pathsep.join([str(HERE), os.environ.get('PYTHONPATH', '')]))
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=':0') as cluster, Client(cluster) as client:
            yield client
