"""Halt of the whole program: while one thread is at the prompt, all others wait at their next call.

A word in the shared memory says so, and names the process that has the prompt: where that is killed, they go on. Set in the
first process of the program; asked on the thread of each call.
"""
from __future__ import annotations

import os
import struct
import time

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.debug.processes import process_table
from pyfuncdbg.observers.debug.processes.shared_memory import HALT, memory

_WORD = struct.Struct('=Q')
_LOOK = 0.02
"""Seconds between two looks at whether it goes on."""
_LOOKS_AT_HOLDER = 25
"""Looks after which the process with the prompt is looked for: it may have been killed."""


class ProgramHalt:
    """The halt, as one process takes part in it.

    Attributes:
        on: Whether the user wants it.
    """

    def __init__(self) -> None:
        self.on = False
        self._lock = new_lock()
        self._held = 0
        self._is_shown = False

    def set(self, is_halted: bool) -> None:
        """In the first process: a thread is at the prompt now, or none is."""
        shared = memory()
        if shared is not None and (self.on or not is_halted):
            _WORD.pack_into(shared, HALT, os.getpid() if is_halted else 0)

    @property
    def is_set(self) -> bool:
        """Whether threads wait at their next call."""
        shared = memory()
        return self.on and shared is not None and bool(_WORD.unpack_from(shared, HALT)[0])

    def wait(self) -> bool:
        """Wait on a thread that comes to a call.

        Returns:
            Whether the user wants to see it: then it is to stop there.
        """
        shared = memory()
        assert shared is not None
        self._count(1)
        try:
            looks = 0
            while self.is_set:
                if self._takes_turn():
                    return True
                time.sleep(_LOOK)
                looks += 1
                holder = _WORD.unpack_from(shared, HALT)[0]
                if looks % _LOOKS_AT_HOLDER == 0 and holder and not process_table.is_alive(holder):
                    _WORD.pack_into(shared, HALT, 0)
            return False
        finally:
            self._count(-1)

    def show(self) -> bool:
        """Let a thread of this process that waits stop; whether there is one."""
        with self._lock:
            self._is_shown = bool(self._held)
            return self._is_shown

    def _takes_turn(self) -> bool:
        """Whether this thread is the one to show."""
        with self._lock:
            is_shown, self._is_shown = self._is_shown, False
            return is_shown

    def _count(self, change: int) -> None:
        """Note in the table of processes how many threads of this one wait."""
        with self._lock:
            self._held += change
            shared = memory()
            if shared is not None:
                process_table.note(shared, held=self._held)

    def after_fork(self) -> None:
        """In a forked child: no thread of it waits."""
        self._lock, self._held, self._is_shown = new_lock(), 0, False
