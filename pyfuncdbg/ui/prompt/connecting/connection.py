"""A connection to a program that listens: requests with their answers, and events.

Used by `pyfuncdbg connect` and the inspector, processes of their own. Any thread may ask; one thread of the connection's
own receives.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pyfuncdbg.errors import CommandError, UsageError
from pyfuncdbg.ui.commands.socket.protocol import LONGEST, MOST_HELD, VERSION, LineBuffer, ProtocolError, encode
from pyfuncdbg.ui.commands.socket.rendezvous import peer_uid
from pyfuncdbg.ui.commands.socket.replies import reply
from pyfuncdbg.ui.views.escape import one_line, visible

_MOST = 4 << 20
"""Bytes of events that wait."""
_COST = 500
"""Bytes that a short event takes."""
PATIENCE = 10.0
"""Seconds that a program may take to greet, and to answer what needs no work; one that is suspended never does."""


class Events:
    """Bounded queue of a program's events, between the thread that receives them and the one that shows them.

    A program that logs faster than is shown loses lines, which are counted; the thread that receives never waits.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        self._size = 0
        self._dropped = 0

    def put(self, event: dict[str, Any], size: int = 0) -> None:
        """One more.

        Args:
            event: As it came.
            size: Bytes that it had.

        Raises:
            ProtocolError: Too much waits that cannot be left out.
        """
        with self._changed:
            log = event['event'] == 'log'       # half of the room is kept for events that must not be dropped
            full = self._size + size > (_MOST // 2 if log else _MOST) and event['event'] not in ('ended', 'lost')
            if full and not log:
                raise ProtocolError('more events than can be shown')
            if full:
                self._dropped += 1
            else:
                self._waiting.append((event, size + _COST))
                self._size += size + _COST
            self._changed.notify()

    def get(self) -> dict[str, Any]:
        """The next one; waits for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._dropped)
            if not self._waiting:
                dropped, self._dropped = self._dropped, 0
                return {'event': 'log', 'text': f'{dropped} lines came faster than they could be shown, and were dropped'}
            event, size = self._waiting.popleft()
            self._size -= size
            return event


class LostConnectionError(CommandError):
    """The program is gone, or has cut us off."""


class SilentError(CommandError):
    """The program does not answer in time."""


class BrokenOffError(CommandError):
    """Cancellation of a request before the program got it."""

    def __init__(self) -> None:
        super().__init__('interrupted')


class Connection:
    """One connection. The program gets a request when it has answered those before: one that waits there is not broken off.

    Attributes:
        events: What the program says by itself, in order; `{"event": "lost"}` or `{"event": "ended"}` is the last. A `lost`
            has a `text` where the program was cut off for what it sent.
        hello: Its greeting.
    """

    def __init__(self, path: str | socket.socket, receive: Callable[[dict[str, Any], int], None] | None = None,
                 *, patience: float = PATIENCE) -> None:
        """Connect.

        Args:
            path: Where the program listens, or a socket at whose other end it is already; that is ours from now on.
            receive: Takes each event, of so many bytes, instead of `events`; on the thread that receives, it never waits.
            patience: Seconds that the program has to greet.

        Raises:
            UsageError: No program answers there, or it is not the one that it should be.
        """
        self._socket = path if isinstance(path, socket.socket) else socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        self._waiting: dict[int, bytes] = {}    # requests not sent yet, in order
        self._sent = 0                          # id of the request that was sent
        self._cancelled = False                 # whether that request was cancelled
        self._over = False
        self.events = Events()
        self._take = receive or self.events.put
        self._lines = LineBuffer(MOST_HELD)
        where = f'the program at {path!r}' if isinstance(path, str) else 'the program'
        try:
            self._meet(path, where, patience)
        except (OSError, ProtocolError) as error:
            self._socket.close()
            raise UsageError(f'cannot connect to {where}: {_explain(error)}') from None
        except BaseException:
            self._socket.close()
            raise
        threading.Thread(target=self._receive, name='pyfuncdbg connection', daemon=True).start()

    def _meet(self, path: str | socket.socket, where: str, patience: float) -> None:
        """Connect, and read the greeting; it may not take longer for coming a byte at a time."""
        deadline = time.monotonic() + patience
        self._socket.settimeout(patience)
        if isinstance(path, str):
            self._socket.connect(path)
        if peer_uid(self._socket) not in (None, os.geteuid()):
            raise UsageError(f'{where} belongs to another user')
        self._first = self._received(deadline)
        self.hello = reply(self._first.pop(0) if self._first else b'')
        if self.hello.get('error'):
            raise UsageError(str(self.hello['error']))
        if self.hello.get('event') != 'hello' or self.hello['protocol'] != VERSION:
            raise UsageError(f'{where} speaks another version of the protocol')
        self._socket.settimeout(None)           # only sending has a timeout, for a program that does not read
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', int(PATIENCE), 0))

    def ask(self, *, patience: float | None = None, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Args:
            patience: Seconds to wait; None: as long as it takes.
            **request: As `ui/commands/socket/protocol.py` lists them.

        Raises:
            LostError: There will be none.
            SilentError: There is none in time; it is broken off.
            KeyboardInterrupt: While waiting; the answer is forgotten.
        """
        answer = self.begin(**request)
        try:
            return answer.result(patience)
        except TimeoutError:
            self.cancel(answer)
            raise SilentError(f'no answer from the program for {patience:.0f} seconds; it may be suspended') from None

    def begin(self, **request: Any) -> Future[dict[str, Any]]:
        """Send a request, after those before it; its answer comes later.

        Raises:
            LostError: There will be none.
            CommandError: It is longer than requests may be.
        """
        number = next(self._numbers)
        future: Future[dict[str, Any]] = Future()
        line = encode({'id': number, **request})
        if len(line) > LONGEST:
            raise CommandError(f'this line takes {len(line)} bytes; the limit is {LONGEST}')
        with self._lock:
            if self._over:
                raise LostConnectionError('the program is gone')
            self._asked[number] = future
            self._waiting[number] = line
            try:
                self._send_next()
            except OSError:
                raise LostConnectionError('the program is gone') from None
        return future

    def _send_next(self) -> None:
        if not self._sent and self._waiting:
            self._sent, self._cancelled = next(iter(self._waiting)), False
            self._socket.sendall(self._waiting.pop(self._sent))

    def cancel(self, answer: Future[dict[str, Any]]) -> None:
        """Break off a request, which raises BrokenOffError if it was not sent yet; nothing if it has been answered, or this
        was said before: a program that is suspended takes only so many bytes."""
        with self._lock, contextlib.suppress(OSError):
            number = next((number for number, future in self._asked.items() if future is answer), 0)
            if self._waiting.pop(number, None):
                del self._asked[number]
                answer.set_exception(BrokenOffError())
            elif number == self._sent and number and not self._cancelled:
                self._cancelled = True
                self._socket.sendall(encode({'cancel': number}))

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):      # it may have ended from the other side
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def abandon(self) -> None:
        """In a forked child: the connection is the parent's, which goes on with it."""
        self._socket.close()

    # ------------------------------------------------------------------ its own thread
    def _receive(self) -> None:
        lines, last = self._first, {'event': 'lost'}
        try:
            while True:
                for line in lines:
                    message = reply(line)
                    if message.get('event') == 'ended':
                        last = message
                    elif 'event' in message:
                        self._take(message, len(line))
                    else:
                        self._answered(message)
                if not (lines := self._received()):
                    break
        except ProtocolError as error:
            last = {'event': 'lost', 'text': _explain(error)}
            self.close()
        except OSError:
            pass
        with self._lock:
            self._over = True
            waiting = list(self._asked.values())
            self._asked.clear()
            self._waiting.clear()
        for future in waiting:
            future.set_exception(LostConnectionError('the program is gone'))
        self._take(last, 0)

    def _answered(self, message: dict[str, Any]) -> None:
        future = None
        with self._lock, contextlib.suppress(OSError):
            number = self._sent if message['id'] is None else message['id']     # answers to unreadable requests have no id
            if number and number == self._sent:
                future = self._asked.pop(number, None)
                self._sent = 0
                self._send_next()
        if future is not None:
            future.set_result(message)
        elif message['error']:
            self._take({'event': 'log', 'text': message['error']}, len(message['error']))

    def _received(self, deadline: float = 0) -> list[bytes]:
        """The lines that come next, until a deadline if there is one; none at the end.

        Raises:
            ProtocolError: One is longer than any of ours.
            TimeoutError: None came in time.
        """
        while data := self._socket.recv(1 << 16):
            if deadline and time.monotonic() > deadline:
                raise TimeoutError
            lines = [line for line in self._lines.feed(data) if line.strip()]
            if any(len(line) > MOST_HELD for line in lines):
                raise ProtocolError(f'a line of more than {MOST_HELD >> 20} MB')
            if lines:
                return lines
        return []


def _explain(error: OSError | ProtocolError) -> str:
    """The reason why a program cannot be talked to."""
    if isinstance(error, ProtocolError):
        return f'protocol error: it has sent {error}'
    return 'no answer; it may be suspended' if isinstance(error, TimeoutError) else error.strerror or str(error)


_MOST_COMPLETIONS = 10_000
_LONGEST_COMPLETION = 1_000


def completions_of(answer: dict[str, Any], position: int) -> tuple[list[str], int]:
    """The words of an answer that could stand at a position and can be typed, and where what they replace begins."""
    words = [word for word in answer['completions'][:_MOST_COMPLETIONS]
             if len(word) <= _LONGEST_COMPLETION and visible(word) == word and '\n' not in word]
    return words, min(max(0, answer['start']), position)


def name_of(pid: int) -> str:
    """The name of a process, as far as the system has one."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            words = file.read().split(b'\0')[:-1]
    except OSError:
        return ''
    return one_line(' '.join(os.path.basename(os.fsdecode(word)) for word in words), 60)
