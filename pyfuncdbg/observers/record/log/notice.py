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

    __slots__ = ('_shown',)

    def __init__(self) -> None:
        self._shown = mmap.mmap(-1, 2)

    def disk_full(self, folder: Path, why: str) -> None:
        """Tell the user that not all of the trace has room on its disk.

        Args:
            folder: The trace.
            why: The system's words.
        """
        if self._claim(_FULL):
            say(f'{folder}: not everything can be recorded: {why}. The rest is dropped and counted; '
                'the program continues.')

    def ended(self, folder: Path, why: str) -> None:
        """Tell the user that the recording ends early.

        Args:
            folder: The trace.
            why: The reason.
        """
        if self._claim(_ENDED):
            say(f'{folder}: {why}. Recording stops, the program continues.')

    def left_out(self, folder: Path, calls: int) -> None:
        """Tell the user that the recording has ended before all was written: a disk or a device does not go on.

        Args:
            folder: The trace.
            calls: How many calls waited.
        """
        say(f'{folder}: the last {calls:,} calls are not in the trace: the disk, or a device that makes statistics, did not '
            "go on. 'info' says that the trace is not closed.")

    def _claim(self, place: int) -> bool:
        # Two processes that look within the same microsecond both tell; no lock is worth that.
        if self._shown[place]:
            return False
        self._shown[place] = 1
        return True
