"""Saved modes of a terminal and their restoration: line, screen, mouse and keyboard.

Used by the program that lends its terminal, and by the inspector when it has to leave at once.
"""
from __future__ import annotations

import contextlib
import os
import termios
from typing import Any

LEAVE_LINE = b'\x1b[?2004l\x1b[?1l\x1b>\x1b[?7h\x1b[0m\x1b[?25h'
"""All that a line editor has switched on, off."""
LEAVE_SCREEN = (b'\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l'       # no mouse
                b'\x1b[?2048l\x1b[?1004l\x1b[<u\x1b[?2026l'        # no sizes, focus, keys in their own way
                b'\x1b[?1049l' + LEAVE_LINE)
"""The same of a full-screen app; in the end the screen and the cursor of before."""


def lacks_cursor_control() -> bool:
    """Whether the terminal is of a kind that can place no text."""
    return os.environ.get('TERM', '') in ('', 'dumb', 'unknown')


class TerminalModes:
    """Those of now.

    Args:
        terminal: Its descriptor.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._modes: list[Any] | None = None
        with contextlib.suppress(termios.error):
            self._modes = termios.tcgetattr(terminal)

    def leave_screen(self) -> None:
        """Put an end to the screen of an app that could not do so itself."""
        with contextlib.suppress(OSError):
            os.write(self._terminal, LEAVE_SCREEN)
        if self._ours():
            with contextlib.suppress(termios.error):
                termios.tcflush(self._terminal, termios.TCIFLUSH)       # moves of the mouse

    def restore(self) -> None:
        """Put the modes of the line back, if they are others."""
        with contextlib.suppress(termios.error):
            if self._modes is not None and self._ours() and termios.tcgetattr(self._terminal) != self._modes:
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes)

    def _ours(self) -> bool:
        """Whether we may change it: the system stops a process in the background that tries."""
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        return False
