"""One client of the command socket, as the program sees it: its requests and the messages to it.

The server's thread moves the bytes; a thread of the client's own carries out its requests, one after the other, so that a
slow command keeps no other client waiting. Any thread may send. What is held for a client that does not read is bounded.
"""
from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from pyfuncdbg.ui.commands.socket.protocol import LONGEST, MOST_HELD, LineBuffer, encode

_MOST_ASKED = 64
"""Requests that wait to be carried out; more are left in the socket."""

_LOOK = 0.0005
"""Seconds between two looks at whether all is sent."""

_numbers = itertools.count(1)


class Requests(Protocol):
    """Executor of clients' requests; neither method raises."""

    def urgent(self, client: Client, line: bytes) -> bool:
        """On the server's thread: do what cannot wait for the requests before it; False if that can wait."""

    def carry_out(self, client: Client, line: bytes) -> None:
        """On the client's thread: one request."""


class Client:
    """A connection.

    Args:
        connection: Its socket, non-blocking.
        requests: Does what the client asks for.
        wake: Tells the server's thread that there is something to do.

    Attributes:
        number: In the order of coming.
        attached: Whether stops of the program go to it.
        gone: Whether it is cut off.
        last: Send what is held, then cut it off.
        busy: Whether a request of it is being carried out.
        around: Made around each command that it has a stopped thread carry out, on that thread.
    """

    def __init__(self, connection: socket.socket, requests: Requests, wake: Callable[[], None]) -> None:
        self.number = next(_numbers)
        self.connection = connection
        self.attached = False
        self.gone = False
        self.last = False
        self.busy = False
        self.around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
        self._requests = requests
        self._wake = wake
        self._lines = LineBuffer()
        self._lock = threading.Lock()
        self._held = bytearray()
        self._asked: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._received = self._answered = 0     # each is counted on one thread
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------------ any thread
    def send(self, message: dict[str, Any]) -> None:
        """Hold a message for it; a client that has not read for too long is cut off instead."""
        data = encode(message)
        with self._lock:
            if self.gone:
                return
            if len(self._held) + len(data) > MOST_HELD:
                self.gone = True
            else:
                self._held += data
        self._wake()

    def settle(self, patience: float) -> None:
        """Wait until what it has asked for is answered, and what is held for it is sent.

        Args:
            patience: Seconds at most.
        """
        end = time.monotonic() + patience
        while (self.busy or self.writes) and not self.gone and time.monotonic() < end:
            time.sleep(_LOOK)

    # ------------------------------------------------------------------ the server's thread
    @property
    def reads(self) -> bool:
        """Whether more requests are taken from it now."""
        return not self.last and self._asked.qsize() < _MOST_ASKED

    @property
    def waits(self) -> bool:
        """Whether it has requests that are not answered."""
        return self._received > self._answered

    @property
    def writes(self) -> bool:
        """Whether something is held for it."""
        return bool(self._held)

    def receive(self) -> None:
        """Take what has arrived."""
        try:
            data = self.connection.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b''
        if not data:
            self.gone = True
            return
        lines = [line for line in self._lines.feed(data) if line.strip()]
        for line in lines:
            if len(line) > LONGEST:
                self.send({'id': None, 'error': f'a line may have at most {LONGEST} bytes'})
                self.last = True
                return
            if not self._requests.urgent(self, line):
                self._received += 1
                self._asked.put(line)
        if lines and self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f'pyfuncdbg client {self.number}', daemon=True)
            self._thread.start()

    def transmit(self) -> None:
        """Send what the socket takes."""
        with self._lock:
            try:
                count = self.connection.send(memoryview(self._held)[:1 << 18].tobytes())
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.gone = True
                return
            del self._held[:count]
        if self.last and not self._held:
            self.gone = True

    def close(self) -> None:
        """End the connection; requests that wait are forgotten."""
        self.gone = True
        while not self._asked.empty():
            with contextlib.suppress(queue.Empty):
                self._asked.get_nowait()
        self._asked.put(None)
        self.connection.close()

    # ------------------------------------------------------------------ its own thread
    def _work(self) -> None:
        while (line := self._asked.get()) is not None:
            self.busy = True
            self._requests.carry_out(self, line)
            self._answered += 1
            self.busy = False
            self._wake()
            if self.gone:
                return
