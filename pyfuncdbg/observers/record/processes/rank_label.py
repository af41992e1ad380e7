"""Label of a process among the many of a program: 'worker:3', 'rank:1'. Pure."""
from __future__ import annotations

import json
from collections.abc import Mapping

from pyfuncdbg.observers.record.processes.followed_process import NAMED, RANKS

_LONGEST = 120
"""Characters of a label."""


def is_meant(label: str, name: str) -> bool:
    """Whether a name that a user gives is that of a process.

    Args:
        label: Of the process, '' for none.
        name: 'worker:3', 'dask:NAME'; ':3' is rank 3 of any kind.
    """
    return bool(label) and (label == name or (name.startswith(':') and label.partition(':')[2] == name[1:]))


def label_of(variables: Mapping[str, str]) -> str:
    """Which of many processes one is.

    Args:
        variables: Those environment variables of it that say so, of frameworks and of launchers, and the label that it was
            given in itself, which counts before them.

    Returns:
        'worker:3', 'rank:3', '' where nothing says so.
    """
    if label := variables.get(NAMED, ''):
        return label[:_LONGEST]
    for name in [name for name in variables if name not in RANKS]:
        try:
            task = json.loads(variables[name])['task']
            return f'{str(task["type"])[:40]}:{int(task["index"])}'
        except (ValueError, TypeError, KeyError, RecursionError):
            continue                            # another program's, or damaged
    rank = next((value for name in RANKS if (value := variables.get(name, '')).isdecimal()), '')
    return f'rank:{int(rank[:9])}' if rank else ''
