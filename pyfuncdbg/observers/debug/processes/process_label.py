"""Label of this process among those of the program: 'worker:3', 'rank:1'. Any thread."""
from __future__ import annotations

import os
import re

from pyfuncdbg.hooks import rank_variables
from pyfuncdbg.observers.record.processes.followed_process import NAMED, RANKS
from pyfuncdbg.observers.record.processes.rank_label import is_meant, label_of

LABEL = re.compile(r'(?:[A-Za-z_][\w.-]*)?:\d{1,9}|dask:(?:[a-z]+://)?[^\s/]+')
"""'worker:3'; ':3' is that of any kind; 'dask:NAME', whose name may be an address, 'dask:tcp://10.0.0.7:40331'."""


def own_label() -> str:
    """The label of this process as it is now, '' where nothing says which of many it is."""
    for name_process in rank_variables.namers if not rank_variables.label else ():
        name_process()
    names = (*rank_variables.names, *RANKS)
    variables = {name: os.environ[name] for name in names if name in os.environ}
    return label_of({**variables, NAMED: rank_variables.label})


def is_labelled(process: str) -> bool:
    """Whether a label is this process's.

    Args:
        process: 'worker:3', 'dask:NAME' or ':3'.
    """
    return is_meant(own_label(), process)
