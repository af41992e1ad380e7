"""Notices of pyfuncdbg while a program runs: one line each on the real stderr, in no call's output.

Any thread, also within a call, which does not capture them.
"""
from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from pyfuncdbg.hooks.call import current

outlet: Callable[[str], bool] | None = None
"""Writes a line elsewhere, and returns whether it did: a notebook's kernel, into the cell. Set by a front end."""


def printable(text: str) -> str:
    """The `text` in one line, control characters as escapes."""
    return ''.join(char if char.isprintable() else char.encode('unicode_escape', 'surrogatepass').decode() for char in text)


def say(text: str) -> None:
    """Write 'pyfuncdbg: TEXT', even if the program has replaced its streams.

    Args:
        text: Control characters in it are written as escapes.
    """
    line = f'pyfuncdbg: {printable(text)}\n'
    stderr = sys.__stderr__
    speaking = current.set(None)
    try:
        if (outlet is not None and outlet(line)) or stderr is None:
            return
        with contextlib.suppress(OSError, ValueError):      # a closed terminal is no reason to end the program
            stderr.write(line)
            stderr.flush()
    finally:
        current.reset(speaking)
