"""Ctrl-C at a stop: it ends the running command or the line that is typed, on any thread.

Python runs signal handlers in the main thread only. While debugging, where the program has Python's own handler, ours is
in front of it and passes Ctrl-C to the thread that has the prompt. Everything else is the program's KeyboardInterrupt.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from pyfuncdbg.observers.debug.processes import program_prompt

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = [ctypes.c_ulong, ctypes.py_object]


class _Attention:
    """The addressee of Ctrl-C: the prompt, the running command or the program."""

    def __init__(self) -> None:
        self._lock = threading.RLock()          # re-entrant: the handler may come while the main thread holds it
        self._working: int | None = None
        self._sent = False
        self._reading: Callable[[], None] | None = None
        self._asking = False
        self._overhearing = False
        self._handled = False
        """The main thread has heard of one that the other way has not reported yet."""
        self._told = self._taken = False
        """The other way has told of one that the main thread has yet to hear of; and it was acted upon."""
        self._ends_main = self._due = False
        """Ending a line ends what the main thread does too; and it has to be told."""

    def ask(self, on: bool, ends_main: bool = False) -> None:
        """The user is at a prompt, or no longer."""
        with self._lock:
            self._asking, self._ends_main = on, ends_main

    def due(self, on: bool = True) -> bool:
        """Whether the main thread has still to hear that a line was ended; with False that is given up."""
        with self._lock:
            due, self._due = self._due, self._due and on
            return due

    def work(self, thread: int) -> None:
        """A command runs on this thread."""
        with self._lock:
            self._working, self._sent = thread, False

    def rest(self) -> bool:
        """It does no longer; whether an interrupt was sent to its thread, which may still be on its way."""
        with self._lock:
            self._working = None
            return self._sent

    @property
    def is_working(self) -> bool:
        """Whether a command runs in this process."""
        return self._working is not None

    def read(self, cancel: Callable[[], None] | None) -> None:
        """A line is being typed, or no longer."""
        with self._lock:
            self._reading = cancel

    def interrupt(self) -> bool:
        """Python tells the main thread of Ctrl-C; False if it is that thread's own affair."""
        with self._lock:
            told, taken, self._told = self._told, self._taken, False
            if not told:
                self._handled = self._overhearing
            acted = taken if told else self._act(threading.main_thread().ident)
            due, self._due = self._due, False
            return acted and not due

    def overhear(self, on: bool) -> None:
        """Another thread than the main one hears of Ctrl-C too, or no longer."""
        with self._lock:
            self._overhearing, self._handled, self._told = on, False, False

    def overheard(self) -> None:
        """Ctrl-C has come, by the other way."""
        with self._lock:
            if self._handled:
                self._handled = False
            else:
                self._told, self._taken = True, self._act(None)

    def _act(self, own: int | None) -> bool:
        """End what is under way; whether there was anything that is not this own thread's affair."""
        if self._working is not None and self._working != own:
            self._sent = True
            _raise_in(self._working, KeyboardInterrupt)
            return True
        if self._working is None and self._reading is not None:
            self._reading()
            self._due = self._ends_main
            return True
        return self._working is None and self._asking           # between a line and its command nothing can be interrupted

    def forget(self) -> None:
        """In a forked child: no user is at a prompt, and no other thread holds the lock."""
        self.__init__()  # type: ignore[misc]


attention = _Attention()
"""The one of this process."""
os.register_at_fork(after_in_child=attention.forget)


@contextlib.contextmanager
def asking(ends_main: bool = False) -> Iterator[None]:
    """At a prompt: the program hears of no Ctrl-C; with `ends_main` the main thread does, of one that ends a line."""
    attention.ask(True, ends_main)
    try:
        yield
    finally:
        attention.ask(False)


def tell_main(patience: float) -> None:
    """Let the main thread hear that a line was ended, if it does so within that many seconds: it may be in native code,
    and what it waits for there ends instead."""
    end = time.monotonic() + patience
    while attention.due(time.monotonic() < end):
        time.sleep(patience / 100)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """A block that Ctrl-C ends with a KeyboardInterrupt; on the stopped thread.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    attention.work(threading.get_ident())
    try:
        yield
    finally:
        if _arrived_late():
            raise KeyboardInterrupt


def _arrived_late() -> bool:
    """End it; whether an interrupt comes only now. It must not reach the program, and calling it back by
    `PyThreadState_SetAsyncExc(thread, NULL)` makes 3.11 spin for ever in a thread that is traced."""
    late = False
    while True:
        try:
            if attention.rest():
                for _ in range(1000):           # Python checks for signals at each iteration
                    pass
            return late
        except KeyboardInterrupt:
            late = True


@contextlib.contextmanager
def cancelling(cancel: Callable[[], None]) -> Iterator[None]:
    """While a line is typed: Ctrl-C calls `cancel`, on the main thread."""
    attention.read(cancel)
    try:
        yield
    finally:
        attention.read(None)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if not attention.interrupt() and (attention.is_working or not program_prompt.is_elsewhere()):
        signal.default_int_handler(number, frame)


def listen() -> None:
    """Stand in front of Python's own handler; only the main thread can do that, elsewhere nothing happens."""
    if threading.current_thread() is threading.main_thread() and (
            signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        signal.signal(signal.SIGINT, _on_interrupt)


def ignore() -> None:
    """Put Python's own handler back, if ours is still there."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is _on_interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)
