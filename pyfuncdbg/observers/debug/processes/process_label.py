"""Label of this process among those of the program: 'worker:3', 'rank:1'. Any thread."""
from __future__ import annotations

import os
import re

from pyfuncdbg.hooks import rank_variables
from pyfuncdbg.observers.record.processes.followed_process import RANKS
from pyfuncdbg.observers.record.processes.rank_label import label_of

LABEL = re.compile(r'(?:[A-Za-z_][\w.-]*)?:\d{1,9}')
"""'worker:3'; ':3' is that of any kind."""


def own_label() -> str:
    """The label by the environment as it is now, '' where nothing in it says which of many this process is."""
    names = (*rank_variables.names, *RANKS)
    return label_of({name: os.environ[name] for name in names if name in os.environ})


def is_labelled(process: str) -> bool:
    """Whether a label is this process's.

    Args:
        process: 'worker:3' or ':3'.
    """
    own = own_label()
    return own == process or (process.startswith(':') and bool(own) and own.endswith(process))
