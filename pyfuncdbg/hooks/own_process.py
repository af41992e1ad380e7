"""Start of a process of our own that no debugger of the program follows.

debugpy rewrites the command of each Python process that is started, which then waits for a client: the program would hang.
Any thread.
"""
from __future__ import annotations

import contextlib
import sys


def without_debugger() -> contextlib.AbstractContextManager[None]:
    """A context in which debugpy leaves the processes that this thread starts as they are."""
    monkey = sys.modules.get('_pydev_bundle.pydev_monkey')      # debugpy's, once it traces
    skip = getattr(monkey, 'skip_subprocess_arg_patch', None)
    if skip is None:
        return contextlib.nullcontext()
    patching: contextlib.AbstractContextManager[None] = skip()
    return patching
