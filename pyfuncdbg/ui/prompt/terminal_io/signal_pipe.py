"""Ctrl-C while the main thread is in native code, for instance while a graph runs on its own threads.

Python runs signal handlers in the main thread only, at its next line of Python: that comes when the graph is done, and the
graph waits for the prompt. What C hears at once, it writes into a pipe; a thread reads that and does what the main thread
cannot.
"""
from __future__ import annotations

import os
import signal
import threading

from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import attention


class SignalPipe:
    """The signal pipe of this process and its reader thread."""

    def __init__(self) -> None:
        self._process = 0
        self._writing = -1

    def open(self) -> None:
        """From here on Ctrl-C reaches the prompt whatever the main thread does.

        Nothing happens on other threads, nor where the program has such a pipe itself, as asyncio may.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        before = signal.set_wakeup_fd(-1)
        if before != -1 and before != self._writing:
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)
            return
        if self._process != os.getpid():
            self._make()
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        attention.overhear(True)

    def close(self) -> None:
        """Take it out again; on the main thread."""
        if self._writing == -1 or threading.current_thread() is not threading.main_thread():
            return
        now = signal.set_wakeup_fd(-1)
        if now != self._writing:
            signal.set_wakeup_fd(now, warn_on_full_buffer=False)
        attention.overhear(False)

    def forked(self) -> None:
        """In a forked child: its signals are no news for the parent, which reads the pipe."""
        if self._writing != -1:
            self.close()
            os.close(self._writing)
            self._writing, self._process = -1, 0

    def _make(self) -> None:
        reading, self._writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._writing, False)
        self._process = os.getpid()
        threading.Thread(target=_listen, args=(reading,), name='pyfuncdbg interrupts', daemon=True).start()


def _listen(reading: int) -> None:
    while numbers := os.read(reading, 64):
        if signal.SIGINT in numbers:
            attention.overheard()


signals = SignalPipe()
"""The one of this process."""
os.register_at_fork(after_in_child=signals.forked)
