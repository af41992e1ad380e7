"""Start of a process of our own, which is no part of the program. Any thread.

debugpy rewrites the command of each Python process that is started, which then waits for a client: the program would hang.
"""
from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_starting = threading.local()


@contextlib.contextmanager
def own_start() -> Iterator[None]:
    """A context in which what this thread starts is ours: no debugger follows it, and no list of processes has it."""
    monkey = sys.modules.get('_pydev_bundle.pydev_monkey')      # debugpy's, once it traces
    skip = getattr(monkey, 'skip_subprocess_arg_patch', contextlib.nullcontext)
    before, _starting.own = is_own_start(), True
    try:
        with skip():
            yield
    finally:
        _starting.own = before


def is_own_start() -> bool:
    """Whether the process that this thread starts now is ours.

    Returns:
        True in the context of `own_start`.
    """
    return getattr(_starting, 'own', False)
