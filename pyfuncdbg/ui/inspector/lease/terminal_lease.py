"""The inspector's end of the terminal lease with a program that lends its terminal.

`prompt.lending.inspector_process` is the other end and lists the words. A thread of the lease's own hears them; what they
ask of the screen is done on Textual's main thread, by the driver.
"""
from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import TerminalModes

_PATIENCE = 2.0
"""Seconds that the app may take to leave the screen once the program is dead."""


class LeaseHolder(Protocol):
    """A user of the lent terminal."""

    def come(self) -> None:
        """The terminal is ours: show the screen. Called on the lease's thread."""

    def go(self) -> None:
        """It is no longer: leave the screen, then tell `hidden`. Called on the lease's thread."""

    def relax(self) -> None:
        """The program has the keys for a moment: tell `relaxed` then. Called on the lease's thread."""

    def resume(self) -> None:
        """The keys are ours again. Called on the lease's thread."""


class Lease:
    """The lease.

    Args:
        line: The socket to the program.
        program: Its process number.
        held: Descriptor of the file with what the program has written while the terminal is ours.
        pipe: Where more of that may come out, once the program is dead.
        guard: Of the terminal.

    Attributes:
        mine: Whether the terminal is ours.
        printed: Called with what the program writes during the lease, on the lease's thread.
        looked: Told when it becomes ours, and when it is no longer, on the same thread.
    """

    def __init__(self, line: socket.socket, program: int, held: int, pipe: int, guard: TerminalGuard) -> None:
        self._line = line
        self._held, self._pipe = held, pipe
        self._guard = guard
        self._lock = threading.RLock()
        self._holder: LeaseHolder | None = None
        self._modes: TerminalModes | None = None
        self._shown = False
        self._hidden = threading.Event()
        self._program = _handle(program)
        self._place = 0
        self.mine = False
        self.printed: Callable[[str], None] = lambda text: None
        self.looked: Callable[[bool], None] = lambda mine: None
        self.tell(f'pid {os.getpid()}')
        threading.Thread(target=self._hear, name='pyfuncdbg lease', daemon=True).start()

    def let(self, holder: LeaseHolder) -> None:
        """Set the holder that is called from now on."""
        with self._lock:
            self._holder = holder

    def show(self) -> bool:
        """On the main thread, before the first byte to the terminal; False if it is not ours."""
        with self._lock:
            if self.mine:
                self._shown = True
                self._hidden.clear()
                self.tell('shown')
            return self.mine

    def hidden(self) -> None:
        """On the main thread: the terminal is as it was."""
        with self._lock:
            self._shown = False
            self.tell('hidden' if self.mine else 'returned')
            self._hidden.set()

    def leave_at_once(self) -> None:
        """Put the terminal back without the app, which cannot do it any more."""
        silence()                               # pending output would appear on the other screen
        if self._shown and self._modes is not None:
            self._modes.leave_screen()
            self._modes.restore()
            self._shown = False
            self.tell('hidden')

    def tell(self, word: str) -> None:
        """Say something to the program, which may be gone."""
        with contextlib.suppress(OSError):
            self._line.sendall(word.encode('utf-8', 'replace') + b'\n')

    # ------------------------------------------------------------------ its own thread
    def _hear(self) -> None:
        for word in self._words():
            if word == 'lend':
                self._place = 0
                with self._lock:
                    self.mine = True
                    self._modes = TerminalModes(0)
                    holder = self._holder
                self.looked(True)
                if holder is not None:
                    holder.come()
            elif word == 'return':
                self.looked(False)
                with self._lock:
                    self.mine = False
                    shown = self._shown
                    if not shown:
                        self.tell('returned')
                if shown and self._holder is not None:
                    self._holder.go()
            elif word == 'relax':
                if self._shown and self._holder is not None:
                    self._holder.relax()
                else:
                    self.tell('relaxed')
            elif word == 'resume' and self._holder is not None:
                self._holder.resume()
            elif word == 'output':
                self.printed(self._more())
        self._end()

    def _words(self) -> Iterator[str]:
        """The program's messages until it is gone, also where a process that it has forked keeps the socket open."""
        rest = b''
        waiting = [self._line.fileno(), *([self._program] if self._program >= 0 else [])]
        while True:
            ready, _, _ = select.select(waiting, [], [])
            if self._line.fileno() in ready:
                try:
                    data = self._line.recv(1 << 12)
                except OSError:
                    return
                if not data:
                    return
                *words, rest = (rest + data).split(b'\n')
                yield from (word.decode('ascii', 'replace') for word in words)
            elif ready:
                return

    def _more(self) -> str:
        """The program's output since the last time."""
        data = os.pread(self._held, 1 << 20, self._place)
        self._place += len(data)
        return data.decode('utf-8', 'replace')

    def _end(self) -> None:
        """The program is gone: the terminal is put back, what it has written is written, and this process ends."""
        with self._lock:
            mine, shown = self.mine, self._shown
            self.mine = False
        if shown:
            if self._holder is not None:
                self._holder.go()
            if not self._hidden.wait(_PATIENCE):
                self.leave_at_once()
        self._guard.free()
        if mine:                                # else it has taken the terminal back before it ended
            self._print_held()
            if self._program < 0 or select.select([self._program], [], [], _PATIENCE)[0]:   # its files are closed before
                with contextlib.suppress(OSError):
                    _write(b'pyfuncdbg: the program was killed\n')
        os._exit(0)                             # threads may wait for answers of the program

    def _print_held(self) -> None:
        place = 0
        with contextlib.suppress(OSError):      # the terminal is gone, too
            while data := os.pread(self._held, 1 << 20, place):
                place += len(data)
                _write(data)
            while select.select([self._pipe], [], [], 0)[0] and (data := os.read(self._pipe, 1 << 16)):
                _write(data)


def silence() -> None:
    """Let what this process still writes go nowhere; stdin remains the terminal."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(0, data):]


def _handle(program: int) -> int:
    """A descriptor that is readable once the process is gone, -1 where the system has none."""
    if sys.platform == 'linux':
        with contextlib.suppress(OSError):
            return os.pidfd_open(program)
    return -1
