"""Watchdog of a terminal: restores it when all its users were killed.

Run as a script of its own by `terminal_guard.py`: stdlib only, on one thread, in a session of its own, so that what kills
the job spares it. It ends with those processes or with the terminal, whichever goes first.
"""
from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import termios

_LOOK = 500
"""Milliseconds between two looks at processes, where the system does not say when one ends."""


def main() -> None:
    """Watch the terminal on stdin. `sys.argv` has the descriptor on which news comes, and a process to watch."""
    if os.fork():                               # no child of the program, which may wait for its children
        os._exit(0)
    watchdog = _Watchdog(socket.socket(fileno=int(sys.argv[1])))
    watchdog.watch(int(sys.argv[2]))
    watchdog.run()


class _Watchdog:
    """Loop that watches processes and restores the terminal when all of them are gone."""

    def __init__(self, news: socket.socket) -> None:
        news.setblocking(False)
        self._news: socket.socket | None = news
        self._rest = b''
        self._held: list[str] = []
        self._handles: set[int] = set()         # process handles (pidfds)
        self._numbers: set[int] = set()         # process ids without a handle
        self._poll = select.poll()
        self._poll.register(0, 0)               # readable or not: only its end is news
        self._poll.register(news, select.POLLIN)

    def run(self) -> None:
        """Until nothing is left to be done."""
        while self._handles or self._numbers:
            for descriptor, _ in self._poll.poll(_LOOK if self._numbers else None):
                if descriptor == 0:             # the terminal is gone, and nothing is left to be put back
                    return
                if descriptor in self._handles:
                    self._poll.unregister(descriptor)
                    self._handles.remove(descriptor)
                    os.close(descriptor)
                elif self._news is not None:
                    self._hear(self._news)
            self._numbers = {pid for pid in self._numbers if _lives(pid)}
            if self._news is None and not self._held:
                return
        while self._news is not None and self._hear(self._news):        # read the remaining messages
            pass
        if self._held:
            _restore(*self._held)

    def watch(self, pid: int) -> None:
        """One more process."""
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except (OSError, AttributeError):       # a system without them
            self._numbers.add(pid)
            return
        self._handles.add(handle)
        self._poll.register(handle, select.POLLIN)

    def _hear(self, news: socket.socket) -> bool:
        """Take in what has come; whether there was anything."""
        try:
            data = news.recv(1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            data = b''
        if not data:                            # end of file: no writer is left
            self._poll.unregister(news)
            self._news = None
        *lines, self._rest = (self._rest + data).split(b'\n')
        for line in lines:
            word, *values = line.decode('ascii').split()
            if word == 'watch':
                self.watch(int(values[0]))
            else:
                self._held = values if word == 'hold' else []
        return bool(data)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _restore(modes: str, characters: str, sequence: str) -> None:
    """Put the terminal back.

    Args:
        modes: Of the line, its first six fields.
        characters: Its seventh, in hexadecimal digits.
        sequence: What leaves the screen, in hexadecimal digits.
    """
    with contextlib.suppress(OSError, termios.error):
        os.write(0, bytes.fromhex(sequence))
        now = termios.tcgetattr(0)
        if not now[3] & (termios.ICANON | termios.ECHO | termios.ISIG):     # else the shell has set its own already
            saved: list[int | list[bytes | int]] = [*map(int, modes.split(','))]
            saved.append([bytes([one]) for one in bytes.fromhex(characters)])
            termios.tcsetattr(0, termios.TCSANOW, saved)
            termios.tcflush(0, termios.TCIFLUSH)                            # moves of the mouse


if __name__ == '__main__':
    main()
