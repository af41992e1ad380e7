"""Guard of a terminal: a watchdog process that restores it if all its users are killed, as by `kill -9`.

Started by the first user of a terminal that changes its modes; any thread tells it what to restore.
"""
from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyfuncdbg.hooks.own_process import own_start

_WATCHDOG = str(Path(__file__).with_name('watchdog.py'))
_FLAGS = getattr(socket, 'MSG_NOSIGNAL', 0) | socket.MSG_DONTWAIT
"""A watchdog that was killed must not take a program along, nor one that is suspended hold it."""


class TerminalGuard:
    """One end of the line to the watchdog; several processes may have one.

    Args:
        line: The socket; None for a guard that does nothing.
    """

    def __init__(self, line: socket.socket | None) -> None:
        self._line = line
        self._inode = os.fstat(line.fileno()).st_ino if line is not None else 0

    def fileno(self) -> int:
        """For another process; -1 if there is no watchdog."""
        return self._line.fileno() if self._line is not None else -1

    def watch(self, pid: int) -> None:
        """This process has the terminal too."""
        self._say(f'watch {pid}')

    def hold(self, terminal: int, leave: bytes) -> None:
        """From now on the terminal is to be put back as it is now.

        Args:
            terminal: Its descriptor.
            leave: What switches off what will be switched on.
        """
        with contextlib.suppress(termios.error):
            *modes, characters = termios.tcgetattr(terminal)
            special = bytes(one if isinstance(one, int) else one[0] for one in characters)
            self._say(f'hold {",".join(map(str, modes))} {special.hex()} {leave.hex()}')

    def free(self) -> None:
        """It is as it was."""
        self._say('free')

    @contextmanager
    def held(self, terminal: int, leave: bytes) -> Iterator[None]:
        """Within, the terminal is in other modes."""
        self.hold(terminal, leave)
        try:
            yield
        finally:
            self.free()

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):
            # A program may close all files that it does not know, and have another one under that number.
            if self._line is not None and os.fstat(self._line.fileno()).st_ino == self._inode:
                self._line.send(line.encode() + b'\n', _FLAGS)


_guards: dict[int, TerminalGuard] = {}
_lock = threading.Lock()


def guard_of(terminal: int) -> TerminalGuard:
    """The guard of a terminal, for this process; its watchdog is started if there is none. Takes 0.02 s the first time."""
    with _lock:
        device = os.fstat(terminal).st_rdev
        if device not in _guards:
            try:
                _guards[device] = TerminalGuard(_start_watchdog(terminal))
            except (OSError, subprocess.SubprocessError):       # no process can start: go without the guard
                _guards[device] = TerminalGuard(None)
        return _guards[device]


def _start_watchdog(terminal: int) -> socket.socket | None:
    if not sys.executable:
        return None
    own_end, child_end = socket.socketpair()
    with child_end:
        device = os.open(os.ttyname(terminal), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            command = [sys.executable, '-I', '-S', _WATCHDOG, str(child_end.fileno()), str(os.getpid())]
            with own_start():
                guard = subprocess.Popen(command, stdin=device, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         cwd='/', pass_fds=[child_end.fileno()], start_new_session=True)
            guard.wait()
        except BaseException:
            own_end.close()
            raise
        finally:
            os.close(device)
    return own_end


def _after_fork() -> None:
    """In a forked child: the guards are the parent's."""
    global _lock
    _guards.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
