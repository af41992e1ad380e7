"""Byte relay between a pseudo-terminal and the user's terminal, so that a program survives its screen.

On the main thread of the process that the user started, until the program has ended.
"""
from __future__ import annotations

import contextlib
import fcntl
import math
import os
import select
import signal
import struct
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyfuncdbg.ui.inspector.hosting.session_program import SessionProgram
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_LINE

_LAST, _LONGEST = 0.2, 1.0
"""Seconds that the last output of a program may take to come, and in all; its children may write for ever."""


class Relay:
    """Byte relay in both directions.

    Args:
        master: Of the pseudo-terminal, non-blocking.
        modes: Of the user's terminal, as it is put back.
        bell: Has something to read when a signal came.
        program: At that terminal.
        guard: Of the user's terminal.
    """

    def __init__(self, master: int, modes: list[Any], bell: int, program: SessionProgram, guard: TerminalGuard) -> None:
        self._master = master
        self._modes = modes
        self._bell = bell
        self._program = program
        self._guard = guard
        self._typed = b''

    def run(self) -> None:
        """Copy until the program has ended, or its terminal is gone."""
        with self._raw(), _follow_size(self._resize), contextlib.suppress(OSError, ValueError):
            self._resize()
            end = math.inf
            while time.monotonic() < end:
                over = self._program.poll() is not None
                end = min(end, time.monotonic() + _LONGEST) if over else end
                watched = [self._master, self._bell, *([] if over else [0, self._program.fileno()])]
                ready, writable, _ = select.select(watched, [self._master] if self._typed else [], [],
                                                   _LAST if over else None)
                if self._bell in ready:
                    os.read(self._bell, 4096)
                if 0 in ready:
                    typed = os.read(0, 4096)
                    if not typed:
                        break
                    self._typed += typed
                if writable:
                    self._typed = self._typed[os.write(self._master, self._typed[:512]):]
                if self._master in ready:
                    _write(os.read(self._master, 65536))
                elif over:
                    break

    def _resize(self) -> None:
        columns, rows = os.get_terminal_size(1)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))

    @contextmanager
    def _raw(self) -> Iterator[None]:
        """Every key goes to the program's terminal, which knows what Ctrl-C means."""
        self._guard.hold(0, LEAVE_LINE)
        try:
            with contextlib.suppress(OSError, termios.error):
                tty.setraw(0, termios.TCSADRAIN)        # keys typed meanwhile belong to the program
            yield
        finally:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
            self._guard.free()


@contextmanager
def _follow_size(resize: Callable[[], None]) -> Iterator[None]:
    def heard(number: int, frame: Any) -> None:
        with contextlib.suppress(OSError):
            resize()
    before = signal.signal(signal.SIGWINCH, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


def _write(data: bytes) -> None:
    """All of it; a terminal may take it in parts."""
    if not data:
        raise OSError('the terminal of the program is closed')
    while data:
        try:
            data = data[os.write(1, data):]
        except BlockingIOError:
            select.select([], [1], [])
