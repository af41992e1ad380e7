"""Commands from a pipe or a file on stdin, or from a command file without a terminal.

Reads on the stopped thread, through the program's own stdin object and one line at a time: what the program reads for itself
stays in order with the commands.
"""
from __future__ import annotations

import os
import stat
import sys
from typing import TextIO

from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST
from pyfuncdbg.ui.prompt.pending_commands import PendingCommands
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation, LineRequest
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen
from pyfuncdbg.ui.views.escape import shorten


class Pipe:
    """The front end of a stdin that is no terminal."""

    name = 'pipe'
    priority = 10

    def __init__(self, conversation: Conversation, pending: PendingCommands) -> None:
        self._conversation = conversation
        self._pending = pending

    def usable(self) -> bool:
        return bool(self._pending) or _holds_commands()

    def interact(self, stop: Stop, broker: Broker) -> None:
        screen = Screen(2)
        try:
            self._conversation.hold(stop, _PipeReader(screen), screen)
        except EOFError:
            if stop.decision is None:
                broker.lose(self)


class _PipeReader:
    """Lines of stdin, shown as if they had been typed."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def read(self, stop: Stop, broker: Broker, request: LineRequest) -> str | None:
        line = ''
        if _holds_commands() and sys.__stdin__ is not None:
            try:
                line = _line(sys.__stdin__)
            except KeyboardInterrupt:           # Ctrl-C must end a wait for input
                if stop.decision is None:
                    stop.decide('abort')
                return None
            except (OSError, ValueError):       # stdin was closed meanwhile
                line = ''
        if not line:
            raise EOFError
        self._screen.write(request.prompt + shorten(line.rstrip('\n'), LONGEST) + '\n')
        return line


def _line(stream: TextIO) -> str:
    """The next line; of one that is too long for a command its beginning, one character more than is allowed."""
    line = piece = stream.readline(LONGEST + 1)
    while len(piece) > LONGEST and not piece.endswith('\n'):
        piece = stream.readline(LONGEST + 1)
    return line


def _holds_commands() -> bool:
    """Whether stdin is a pipe, a socket or a file: of a device such as /dev/null nothing is expected."""
    try:
        stdin = sys.__stdin__
        if stdin is None or stdin.closed:
            return False
        mode = os.fstat(stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)
