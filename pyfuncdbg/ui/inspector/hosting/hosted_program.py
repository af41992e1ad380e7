"""The program under our pseudo-terminal, in the inspector's process: screen, keyboard and end.

One thread reads what it writes, one writes what the user types, one hears from the process that started both. Any thread
may ask.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import queue
import select
import signal
import struct
import termios
import threading
from collections.abc import Callable

from pyfuncdbg.ui.inspector.hosting.terminal_emulator import Emulator

_AT_ONCE = 512
"""Bytes that are typed at once; a terminal takes few thousand before they are read."""


class HostedProgram:
    """A hosted program, its terminal and the screen that it writes to.

    Args:
        master: Of its terminal, non-blocking.
        news: Descriptor that reports its end; the end of this means that the process that started us is gone.
        pid: Its process.

    Attributes:
        screen: What it shows.
        code: Its exit code once it has ended, negative for a signal.
        silent: Set when nothing more comes from its terminal.
    """

    def __init__(self, master: int, news: int, pid: int) -> None:
        self.pid = pid
        self.screen = Emulator(80, 24, self.type)
        self.code: int | None = None
        self.silent = threading.Event()
        self._master = master
        self._news = news
        self._typed: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name='pyfuncdbg terminal', daemon=True)
        self._enough, self._ring = os.pipe()    # something to read in it: no more is to be read of the program
        self._ran_on: bool | None = None
        self._changed: Callable[[], None] = lambda: None
        self._leave: Callable[[], None] = lambda: None

    def start(self, on_change: Callable[[], None], leave: Callable[[], None]) -> None:
        """Begin.

        Args:
            on_change: Called on one of our threads when there is something new to show.
            leave: The same, when it is time to go.
        """
        self._changed, self._leave = on_change, leave
        self._reader.start()
        for work in (self._write, self._hear):
            threading.Thread(target=work, name='pyfuncdbg terminal', daemon=True).start()

    def hear_end(self) -> None:
        """Before `start`: wait for the report of how the program ended."""
        with open(self._news, 'rb', buffering=0, closefd=False) as news:
            line = b''
            while not line.endswith(b'\n') and (byte := news.read(1)):
                line += byte
        self.code = json.loads(line)['ended'] if line else None

    def let_go(self) -> bool:
        """Read no more: what the program writes from now on is for the next user of its terminal.

        Returns:
            Whether the program ran when this was first asked. What becomes of it afterwards does not change the answer,
            so that the user's decision to leave has one meaning.
        """
        if self._ran_on is None:
            self._ran_on = self.code is None
            os.write(self._ring, b'.')
            if self._reader.is_alive():
                self._reader.join()
        return self._ran_on

    def type(self, keys: bytes) -> None:
        """Send it keys."""
        if keys:
            self._typed.put(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Its terminal has another size; it gets SIGWINCH."""
        self.screen.resize(columns, rows)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))

    @property
    def ending(self) -> str:
        """The end of the program in words; '' while it runs."""
        if self.code is None:
            return ''
        if self.code < 0:
            try:
                return f'killed by {signal.Signals(-self.code).name}'
            except ValueError:
                return f'killed by signal {-self.code}'
        return f'ended with exit code {self.code}' if self.code else 'ended'

    # ------------------------------------------------------------------ its threads
    def _read(self) -> None:
        try:
            while self._enough not in select.select([self._master, self._enough], [], [])[0]:
                with contextlib.suppress(BlockingIOError):
                    data = os.read(self._master, 65536)
                    if not data:
                        break
                    self.screen.feed(data)
                    self._changed()
        except OSError:                         # no process has the terminal open
            pass
        self.silent.set()
        self._changed()

    def _write(self) -> None:
        while True:
            keys = self._typed.get()
            while keys:
                try:
                    select.select([], [self._master], [])
                    keys = keys[os.write(self._master, keys[:_AT_ONCE]):]
                except BlockingIOError:
                    continue
                except OSError:
                    return

    def _hear(self) -> None:
        with open(self._news, 'rb') as news:
            for line in news:
                message = json.loads(line)
                if 'ended' in message:
                    self.code = message['ended']
                    self.silent.wait(0.3)       # read its last output; its children may keep the terminal open
                    self._changed()
                if message.get('leave'):
                    self._leave()
                    return
        self._leave()
