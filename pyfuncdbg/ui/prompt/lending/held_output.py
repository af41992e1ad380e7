"""Output of a program while its terminal is lent to another process: held back, written afterwards.

Held at the level of file descriptors, so that C code and child processes are included. The stopped thread holds and
releases; any thread writes; one thread of its own moves what was written out of the pipe, so that no writer waits.
"""
from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import select
import stat
import tempfile
import termios
import threading
from collections.abc import Callable

from pyfuncdbg.ui.prompt.terminal_io.screen import Screen

_ROOM = 1 << 20
"""Bytes that fit into the pipe: C code that prints more at once, without letting other threads run, would wait for ever."""
_CONTROLLING = os.makedev(5, 0)
"""/dev/tty."""


class HeldOutput:
    """Pipe between the program and its terminal while that is lent.

    Args:
        terminal: Descriptor of the terminal.

    Attributes:
        file: Descriptor of the file with what is held, from its beginning.
        pipe: Where what the program writes comes out.
        grown: Called when more is held, on a thread of this object's.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._lock = threading.Lock()
        self._replaced: dict[int, int] = {}
        self._holding = False
        self._store = tempfile.TemporaryFile(prefix='pyfuncdbg-', buffering=0)      # noqa: SIM115  (as long as the program)
        self.file = self._store.fileno()
        self.pipe, self._entrance = os.pipe()
        self._inode = os.fstat(self.pipe).st_ino
        self.grown: Callable[[], None] = lambda: None
        with contextlib.suppress(OSError, AttributeError):      # smaller where the system does not allow it
            fcntl.fcntl(self._entrance, fcntl.F_SETPIPE_SZ, _ROOM)
        threading.Thread(target=self._move, name='pyfuncdbg output', daemon=True).start()

    def hold(self) -> None:
        """From now on nothing that the program writes comes to the terminal. What it has written before does."""
        _settle()
        with self._lock:
            os.ftruncate(self.file, 0)
            os.lseek(self.file, 0, os.SEEK_SET)
            self._holding = True
            for descriptor in (1, 2):
                if descriptor not in self._replaced and self._is_terminal(descriptor):
                    self._replaced[descriptor] = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
                    os.dup2(self._entrance, descriptor)

    def release(self) -> None:
        """Write the held output, in order, and stop holding."""
        _settle()
        with self._lock, contextlib.suppress(OSError):          # see `_move`
            self._take()
            self._print()
            ours = os.fstat(self._entrance)
            for descriptor, before in self._replaced.items():
                with contextlib.suppress(OSError):
                    if os.path.samestat(os.fstat(descriptor), ours):        # else the program has replaced it
                        os.dup2(before, descriptor)
                os.close(before)
            self._replaced.clear()
            self._take()
            self._print()
            self._holding = False

    def forget(self) -> None:
        """In a forked child: what is held is the parent's, who also moves on what this process writes from here."""
        for descriptor in (self.pipe, self._entrance, *self._replaced.values()):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._replaced.clear()

    def _is_terminal(self, descriptor: int) -> bool:
        try:
            status = os.fstat(descriptor)
        except OSError:
            return False
        return stat.S_ISCHR(status.st_mode) and status.st_rdev in (os.fstat(self._terminal).st_rdev, _CONTROLLING)

    def _take(self) -> bool:
        """Move what is in the pipe now into the file, or on to the terminal; whether there was anything. Under the lock."""
        if os.fstat(self.pipe).st_ino != self._inode:
            raise OSError('the program has closed our pipe')
        waiting = array.array('i', (0,))
        fcntl.ioctl(self.pipe, termios.FIONREAD, waiting)
        left = waiting[0]
        while left:
            data = os.read(self.pipe, left)
            left -= len(data)
            if self._holding:
                try:
                    while data:
                        data = data[os.write(self.file, data):]
                except OSError:                 # the disk is full: better in the wrong place than lost
                    self._write(data)
            else:                               # of a process that was started while the terminal was lent
                self._write(data)
        return bool(waiting[0])

    def _print(self) -> None:
        """Write what is held to the terminal. Under the lock."""
        place = 0
        while data := os.pread(self.file, _ROOM, place):
            place += len(data)
            self._write(data)
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):      # the terminal is gone
            while data:
                data = data[os.write(self._terminal, data):]

    def _move(self) -> None:
        """On its own thread, which waits without reading: what is read belongs behind what is in the file."""
        with contextlib.suppress(OSError, ValueError):          # the program has closed all files that it does not know
            while True:
                select.select([self.pipe], [], [])
                with self._lock:
                    found = self._take()
                if found:
                    self.grown()


def _settle() -> None:
    """Have written what the streams of Python and of C hold back, so that it stays in order."""
    Screen.settle()
    with contextlib.suppress(ValueError, OSError, AttributeError):      # a system whose C library has no such name
        library = ctypes.CDLL(None)
        library.fflush(ctypes.c_void_p.in_dll(library, 'stdout'))
