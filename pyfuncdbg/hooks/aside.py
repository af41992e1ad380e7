"""What pyfuncdbg itself says while a program runs: one line on the real stderr, nobody's output.

Any thread, also in the middle of a call: what is said here is not captured as the call's.
"""
from __future__ import annotations

import contextlib
import sys

from pyfuncdbg.hooks.call import current


def printable(text: str) -> str:
    """One line: control characters as escapes."""
    return ''.join(char if char.isprintable() else char.encode('unicode_escape', 'surrogatepass').decode() for char in text)


def say(text: str) -> None:
    """Write 'pyfuncdbg: TEXT', whatever the program has put in the place of its streams; control characters as escapes."""
    stderr = sys.__stderr__
    if stderr is None:
        return
    speaking = current.set(None)
    try:
        with contextlib.suppress(OSError, ValueError):      # a closed terminal is no reason to end the program
            stderr.write(f'pyfuncdbg: {printable(text)}\n')
            stderr.flush()
    finally:
        current.reset(speaking)
