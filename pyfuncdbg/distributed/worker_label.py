"""Label of a process that runs a Dask worker: 'worker:3', 'dask:NAME'. Imports nothing of Dask; any thread."""
from __future__ import annotations

import sys
from typing import Any

from pyfuncdbg.hooks import rank_variables

_LONGEST = 100


def label_of_worker(name: object) -> str:
    """The label of a worker.

    Args:
        name: Dask's: a number or text.

    Returns:
        'worker:3' of a number, else 'dask:NAME'.
    """
    text = str(name)[:_LONGEST]
    return f'worker:{int(text)}' if text.isascii() and text.isdecimal() else f'dask:{text}'


def note_worker() -> None:
    """Make the name of the Dask worker that runs in this process its label. With several workers in it, it has none."""
    worker: Any = getattr(sys.modules.get('distributed.worker'), 'Worker', None)
    try:
        names = [one.name for one in list(worker._instances)]
    except (AttributeError, TypeError, RuntimeError):       # no Dask, or one that keeps no list
        return
    if len(names) == 1 and names[0] is not None:
        rank_variables.label = label_of_worker(names[0])
