"""A connection to a program that listens: requests and their answers, and what the program says by itself.

Used by `pyfuncdbg connect` and the inspector, processes of their own. Any thread may ask; one thread of the connection's
own receives.
"""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import socket
import threading
from concurrent.futures import Future
from typing import Any

from pyfuncdbg.commands.protocol import VERSION, Lines, encode
from pyfuncdbg.commands.rendezvous import peer_uid, programs
from pyfuncdbg.errors import CommandError, UsageError

_LONGEST = 1 << 26
_PATIENCE = 10.0
"""Seconds that a program may take to greet; one that is suspended never does."""


class LostError(CommandError):
    """The program is gone, or has cut us off."""


class BrokenOffError(CommandError):
    """A request was broken off before the program was told of it."""

    def __init__(self) -> None:
        super().__init__('interrupted')


class Connection:
    """One connection. The program gets a request when it has answered those before: one that waits there is not broken off.

    Attributes:
        events: What the program says by itself, in order; `{"event": "lost"}` or `{"event": "ended"}` is the last.
        hello: Its greeting.
    """

    def __init__(self, path: str | socket.socket) -> None:
        """Connect.

        Args:
            path: Where the program listens, or a socket at whose other end it is already; that is ours from now on.

        Raises:
            UsageError: Nobody answers there, or it is not who it should be.
        """
        self._socket = path if isinstance(path, socket.socket) else socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        self._waiting: dict[int, bytes] = {}    # of these, those that are not sent yet, in order
        self._sent = 0                          # the one that is
        self._cancelled = False                 # and whether it was broken off
        self._over = False
        self.events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        try:
            self._socket.settimeout(_PATIENCE)
            if isinstance(path, str):
                self._socket.connect(path)
            if peer_uid(self._socket) not in (None, os.geteuid()):
                raise UsageError(f'the program at {path!r} belongs to somebody else')
            self._lines = Lines(_LONGEST)
            self._first = self._received()
        except OSError as error:
            self._socket.close()
            said = 'it does not answer; perhaps it is suspended' if isinstance(error, TimeoutError) else error.strerror
            raise UsageError(f'cannot connect to the program at {path!r}: {said or error}') from None
        self._socket.settimeout(None)
        self.hello = self._first.pop(0) if self._first else {}
        if self.hello.get('event') != 'hello' or self.hello.get('protocol') != VERSION:
            self._socket.close()
            raise UsageError(self.hello.get('error') or f'the program at {path!r} speaks another version of the protocol')
        threading.Thread(target=self._receive, name='pyfuncdbg connection', daemon=True).start()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Raises:
            LostError: There will be none.
            KeyboardInterrupt: While waiting; the answer is forgotten.
        """
        return self.begin(**request).result()

    def begin(self, **request: Any) -> Future[dict[str, Any]]:
        """Send a request, after those before it; its answer comes later."""
        number = next(self._numbers)
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._over:
                raise LostError('the program is gone')
            self._asked[number] = future
            self._waiting[number] = encode({'id': number, **request})
            try:
                self._send_next()
            except OSError:
                raise LostError('the program is gone') from None
        return future

    def _send_next(self) -> None:
        if not self._sent and self._waiting:
            self._sent, self._cancelled = next(iter(self._waiting)), False
            self._socket.sendall(self._waiting.pop(self._sent))

    def cancel(self, asked: Future[dict[str, Any]]) -> None:
        """Break off a request, which raises BrokenOffError if it was not sent yet; nothing if it has been answered, or this
        was said before: a program that is suspended takes only so many bytes."""
        with self._lock, contextlib.suppress(OSError):
            number = next((number for number, future in self._asked.items() if future is asked), 0)
            if self._waiting.pop(number, None):
                del self._asked[number]
                asked.set_exception(BrokenOffError())
            elif number == self._sent and number and not self._cancelled:
                self._cancelled = True
                self._socket.sendall(encode({'cancel': number}))

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):      # it may have ended from the other side
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    # ------------------------------------------------------------------ its own thread
    def _receive(self) -> None:
        messages, last = self._first, 'lost'
        while True:
            for message in messages:
                if message.get('event') == 'ended':
                    last = 'ended'
                elif 'event' in message:
                    self.events.put(message)
                else:
                    self._answered(message)
            try:
                messages = self._received()
            except (OSError, ValueError, CommandError):
                break
            if not messages:
                break
        with self._lock:
            self._over = True
            waiting = list(self._asked.values())
            self._asked.clear()
            self._waiting.clear()
        for future in waiting:
            future.set_exception(LostError('the program is gone'))
        self.events.put({'event': last})

    def _answered(self, message: dict[str, Any]) -> None:
        with self._lock, contextlib.suppress(OSError):
            number = message.get('id') or self._sent        # a request that cannot be read is answered without
            future = self._asked.pop(number, None)
            if number == self._sent:
                self._sent = 0
                self._send_next()
        if future is not None:
            future.set_result(message)
        elif message.get('error'):
            self.events.put({'event': 'log', 'text': message['error']})

    def _received(self) -> list[dict[str, Any]]:
        """What comes next; nothing at the end."""
        while True:
            data = self._socket.recv(1 << 16)
            if not data:
                return []
            found = [json.loads(line) for line in self._lines.feed(data)]
            if found:
                return found


def find(number: int | None) -> str:
    """The socket of the program with this process number; of the only one that listens if there is none.

    Raises:
        UsageError: There is no such program, or there are several.
    """
    known = programs()
    known.pop(os.getpid(), None)
    listed = '; '.join(f'{pid} {name_of(pid)}'.rstrip() for pid in known)
    if number is not None:
        if number in known:
            return known[number]
        raise UsageError(f'connect: process {number} does not listen; ' + (
            f'these do: {listed}' if known else 'no process does. Start it with "pyfuncdbg run --listen SCRIPT", or with '
            'PYFUNCDBG_LISTEN=1 in its environment'))
    if len(known) == 1:
        return next(iter(known.values()))
    if known:
        raise UsageError(f'connect: several programs listen, name one: {listed}')
    raise UsageError('connect: no program listens. Start it with "pyfuncdbg run --listen SCRIPT", or with '
                     'PYFUNCDBG_LISTEN=1 in its environment')


def name_of(pid: int) -> str:
    """What runs under a process number, as far as the system tells."""
    from pyfuncdbg.views.escape import one_line
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            words = file.read().split(b'\0')[:-1]
    except OSError:
        return ''
    return one_line(' '.join(os.path.basename(os.fsdecode(word)) for word in words), 60)
