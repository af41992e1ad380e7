"""Line editor for a terminal without cursor control: no completion, no colours; it can be ended from outside.

In the thread that `terminal.TerminalReader` makes for each line.
"""
from __future__ import annotations

import os
import select

from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.prompt.terminal_io.conversation import LineRequest
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen

_LONGEST = 4_096
"""Bytes of a line with its end, as the terminal of the system takes them."""


class PlainEditor:
    """The terminal's own line editing."""

    def __init__(self, descriptor: int, screen: Screen) -> None:
        self._descriptor = descriptor
        self._screen = screen
        self._bell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def edit(self, stop: Stop, request: LineRequest) -> str:
        return self.read(request.prompt)

    def read(self, prompt: str) -> str:
        """A line.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            KeyboardInterrupt: `cancel` was called.
        """
        self._screen.write(prompt)
        ready, _, _ = select.select([self._descriptor, self._bell[0]], [], [])
        if self._bell[0] in ready:
            os.read(self._bell[0], 64)
            self._screen.write('\n')
            raise KeyboardInterrupt
        try:
            line = os.read(self._descriptor, 1 << 16)
        except OSError as error:                # the terminal is gone
            raise EOFError(str(error)) from None
        if not line:
            raise EOFError
        if len(line) >= _LONGEST:               # the terminal has left out the rest
            self._screen.say(f'*** a line of more than {_LONGEST - 2} bytes is too long for this terminal, and was refused')
            return ''
        return line.decode(errors='replace').rstrip('\n')

    def cancel(self) -> None:
        os.write(self._bell[1], b'c')
