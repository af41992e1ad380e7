"""The server behind the command socket: takes clients in, moves bytes, and ends with the program.

One daemon thread that never waits for a client, and never for the program. What requests mean is in `remote.py`, which is
loaded when the first client has come.
"""
from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.program_arguments import program_arguments
from pyfuncdbg.ui.commands.socket.clients import Client
from pyfuncdbg.ui.commands.socket.protocol import VERSION, cancelled_id
from pyfuncdbg.ui.commands.socket.rendezvous import peer_uid

if TYPE_CHECKING:
    from pyfuncdbg.ui.commands.socket.remote import Remote

MOST_CLIENTS = 64
_LAST_WORDS = 1.0
"""Seconds that the end of the program waits at most for its clients to be told."""


class CommandServer:
    """Serves the clients of one listening socket, and those that are handed to it.

    Args:
        listening: Non-blocking; None to serve only those that are handed to it.
        path: Of the socket, removed at the end; '' if there is none.
    """

    def __init__(self, listening: socket.socket | None, path: str = '') -> None:
        self._listening = listening
        self._path = path
        self._uid = os.geteuid()
        self._clients: list[Client] = []
        self._bell, self._hears = socket.socketpair()
        for end in (self._bell, self._hears):
            end.setblocking(False)
        self._remote: Remote | None = None
        self._remote_lock = threading.Lock()
        self._ending = False
        self._ended = threading.Event()
        self._begun = threading.Event()
        self.waiting = False

    # ------------------------------------------------------------------ the program's threads
    def start(self) -> None:
        """Serve from now on."""
        threading.Thread(target=self._serve, name='pyfuncdbg listener', daemon=True).start()

    def adopt(self, connection: socket.socket, *, attached: bool = False) -> Client:
        """Take in a client that is connected already, such as one end of a socketpair; from any thread.

        Args:
            connection: Belongs to the server from now on.
            attached: Stops go to it from the start, before it has asked for anything.
        """
        connection.setblocking(False)
        connection.set_inheritable(False)
        client = Client(connection, self, self.wake)
        if attached:
            self._loaded().attach(client)
        client.send(self._hello(client))
        self._clients.append(client)
        self.wake()
        return client

    def wait(self) -> None:
        """Wait until a client says `cont`, or has left by `detach` or `quit`; Ctrl-C is the program's."""
        self.waiting = True
        try:
            self._begun.wait()
        finally:
            self.waiting = False

    def begin(self) -> None:
        """Let a program that waits begin."""
        self.waiting = False
        self._begun.set()

    def close(self) -> None:
        """Tell the clients that it is over, give them a moment to read what they were sent, and remove the socket."""
        with contextlib.suppress(OSError):      # it may be gone; without a listening socket there is none
            os.unlink(self._path)
        until = time.monotonic() + _LAST_WORDS
        while any(client.busy for client in self.clients) and time.monotonic() < until:
            time.sleep(0.002)                   # send pending answers, such as to `cont`
        for client in self.clients:
            client.send({'event': 'ended'})
            client.last = True
        self._ending = True                     # set last: clients without pending messages are closed then
        self.wake()
        self._ended.wait(_LAST_WORDS)

    def forget(self) -> None:
        """In a forked child: these are the parent's connections, and its threads are not here. No lock is taken."""
        for client in self._clients:
            client.attached = False
            client.gone = True
            client.connection.close()
        for one in (self._listening, self._bell, self._hears):
            if one is not None:
                one.close()
        self._clients = []

    @property
    def clients(self) -> tuple[Client, ...]:
        """The connected clients."""
        return tuple(self._clients)

    def broadcast(self, message: dict[str, Any]) -> None:
        """Tell all of them."""
        for client in self.clients:
            client.send(message)

    def wake(self) -> None:
        """Have the server's thread look around."""
        with contextlib.suppress(OSError):      # full: the server is awake anyway; closed: nothing is left to do
            self._bell.send(b'!')

    # ------------------------------------------------------------------ its own thread
    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._hears, selectors.EVENT_READ)
            if self._listening is not None:
                selector.register(self._listening, selectors.EVENT_READ)
            while not (self._ending and not self._clients):
                self._look(selector)
        if self._listening is not None:
            self._listening.close()
        self._ended.set()

    def _look(self, selector: selectors.BaseSelector) -> None:
        """One round: wait for something to do, and do it."""
        ready = selector.select()
        for key, events in ready:
            if self._listening is not None and key.fileobj is self._listening:
                self._welcome(self._listening)
            elif key.fileobj is self._hears:
                with contextlib.suppress(OSError):
                    self._hears.recv(1 << 12)
            elif isinstance(key.data, Client):
                if events & selectors.EVENT_READ:
                    key.data.receive()
                if events & selectors.EVENT_WRITE:
                    key.data.transmit()
        for client in self.clients:
            if client.gone or (self._ending and not client.writes):
                self._dismiss(client, selector)
            else:
                _listen_to(client, selector)

    def _welcome(self, listening: socket.socket) -> None:
        """Let a client in."""
        try:
            connection, _ = listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:                         # the program has used up its file descriptors: later, perhaps
            time.sleep(0.1)
            return
        connection.setblocking(False)
        uid = peer_uid(connection)
        client = Client(connection, self, self.wake)
        self._clients.append(client)
        if uid is not None and uid != self._uid:
            client.send({'id': None, 'error': f'this program belongs to user {self._uid}, you are user {uid}'})
            client.last = True
        elif len(self._clients) > MOST_CLIENTS:
            client.send({'id': None, 'error': f'{MOST_CLIENTS} clients are connected already'})
            client.last = True
        else:
            client.send(self._hello(client))

    def _hello(self, client: Client) -> dict[str, Any]:
        stop = self._remote.summary() if self._remote is not None else None
        return {'event': 'hello', 'protocol': VERSION, 'pid': os.getpid(), 'program': program_arguments(),
                'client': client.number, 'waiting': self.waiting, 'stop': stop}

    def _dismiss(self, client: Client, selector: selectors.BaseSelector) -> None:
        """A client is gone."""
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(client.connection)
        self._clients.remove(client)
        client.close()
        client.attached = False
        if self._remote is not None:
            self._remote.lost()

    def urgent(self, client: Client, line: bytes) -> bool:
        """Do what must not wait for the requests before it; False if that can wait."""
        number = cancelled_id(line)
        if number is not None and self._remote is not None:
            self._remote.cancel(client, number)
        return number is not None

    # ------------------------------------------------------------------ a client's thread
    def carry_out(self, client: Client, line: bytes) -> None:
        """One request."""
        self._loaded().carry_out(client, line)

    def _loaded(self) -> Remote:
        with self._remote_lock:
            if self._remote is None:
                from pyfuncdbg.ui.commands.socket.remote import Remote
                self._remote = Remote(self)
            return self._remote


def _listen_to(client: Client, selector: selectors.BaseSelector) -> None:
    """Wait for what matters now."""
    events = (selectors.EVENT_READ if client.reads else 0) | (selectors.EVENT_WRITE if client.writes else 0)
    key = selector.get_map().get(client.connection)
    if key is None:
        if events:
            selector.register(client.connection, events, client)
    elif not events:
        selector.unregister(client.connection)
    elif key.events != events:
        selector.modify(client.connection, events, client)
