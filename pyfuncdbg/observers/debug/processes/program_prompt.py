"""Process of the program that has the terminal for its prompt, as all its processes know it. Any thread.

Ctrl-C reaches every process of the terminal's job: while one of them is at the prompt it is meant for that one alone.
"""
from __future__ import annotations

import os
import struct

from pyfuncdbg.observers.debug.processes import process_table
from pyfuncdbg.observers.debug.processes.shared_memory import PROMPT, memory

_WORD = struct.Struct('=Q')


def note(is_asking: bool) -> None:
    """This process is at the prompt now, or no longer."""
    shared = memory()
    if shared is not None:
        _WORD.pack_into(shared, PROMPT, os.getpid() if is_asking else 0)


def is_elsewhere() -> bool:
    """Whether another process of the program is at the prompt."""
    shared = memory()
    process = _WORD.unpack_from(shared, PROMPT)[0] if shared is not None else 0
    return process not in (0, os.getpid()) and process_table.is_alive(process)
