"""Notices on stderr about the recording, each once for all processes of a trace.

Made by the recorder that starts; its forked children share it. Written by the writer on whatever thread it works.
"""
from __future__ import annotations

import mmap
from pathlib import Path

from pyfuncdbg.hooks.notice import say

_FULL, _ENDED = range(2)


class Notices:
    """Notices already given to the user, in memory that parent and children share."""

    __slots__ = ('_told',)

    def __init__(self) -> None:
        self._told = mmap.mmap(-1, 2)

    def disk_full(self, folder: Path, why: str) -> None:
        """Not all of the trace has room on its disk."""
        if self._first(_FULL):
            say(f'{folder}: not everything can be recorded: {why}. The rest is dropped and counted; '
                'the program continues.')

    def ended(self, folder: Path, why: str) -> None:
        """The recording ends early."""
        if self._first(_ENDED):
            say(f'{folder}: {why}. Recording stops, the program continues.')

    def _first(self, place: int) -> bool:
        # Two processes that look within the same microsecond both tell; no lock is worth that.
        if self._told[place]:
            return False
        self._told[place] = 1
        return True
