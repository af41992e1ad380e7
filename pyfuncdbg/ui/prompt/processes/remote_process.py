"""Another process of the program whose stops are asked about here.

It is the server of a connection in the protocol of the command socket, and this process its client. A thread of the
connection's own receives; another one, the holder, has a place in the broker's queue for each stop.
"""
from __future__ import annotations

import contextlib
import queue
import socket
import threading
from concurrent.futures import Future, TimeoutError as LateError
from dataclasses import dataclass
from typing import Any, cast, get_args

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.stops.stop import Phase, Stop, Verb
from pyfuncdbg.ui.prompt.connecting.connection import Connection, LostConnectionError
from pyfuncdbg.ui.views.escape import one_line

_LOOK = 0.05
"""Seconds after which a wait for an answer lets Ctrl-C through."""
_PATIENCE = 5.0
"""Seconds that a process has to leave a stop that is decided."""
_LONGEST = 200
_MOST_LEFT = 1_000
"""Stops that are remembered as left."""
_VERBS = frozenset(get_args(Verb))
_PHASES = frozenset(get_args(Phase))


@dataclass(frozen=True, slots=True)
class StopElsewhere:
    """One stop of the process; see `RemoteStop`.

    Attributes:
        owner: The process.
        fields: As it has described the stop.
        commands: What its breakpoints want to be carried out.
    """

    owner: RemoteProcess
    fields: dict[str, Any]
    commands: tuple[str, ...]

    @property
    def pid(self) -> int:
        return self.owner.pid

    @property
    def process(self) -> str:
        return self.owner.name

    @property
    def label(self) -> str:
        return self.owner.label

    @property
    def place(self) -> str:
        return one_line(self.fields['at'], _LONGEST)

    def ask(self, **request: Any) -> dict[str, Any]:
        return self.owner.ask(self.fields['number'], request)


class RemoteProcess:
    """The process.

    Args:
        connection: Its socket, which is this object's from now on.
        pid: Its id.
        label: 'worker:3', '' where nothing says which of many it is.
        debugger: Of this process, whose broker has the queue for the stops.

    Raises:
        UsageError: It does not speak the protocol.
    """

    def __init__(self, connection: socket.socket, pid: int, label: str, debugger: Debugger) -> None:
        self.pid = pid
        self.label = label
        self.name = label or f'process {pid}'
        self._debugger = debugger
        self._waiting: queue.SimpleQueue[tuple[dict[str, Any], tuple[str, ...]] | None] = queue.SimpleQueue()
        self._left: dict[int, Verb] = {}
        self._changed = threading.Condition()
        self._stop: Stop | None = None
        self._is_lost = False
        self._connection = Connection(connection, self._receive)

    # ------------------------------------------------------------------ the thread of the connection
    def _receive(self, event: dict[str, Any], size: int) -> None:
        kind = event['event']
        if kind == 'stopped':
            lines = event.get('commands')
            commands = tuple(filter(lambda line: isinstance(line, str), lines)) if isinstance(lines, list) else ()
            self._waiting.put((event['stop'], commands))
        elif kind == 'resumed':
            self._note_left(event['stop'], event['verb'])
        elif kind in ('ended', 'lost'):
            self._note_lost(killed=kind == 'lost')

    def _note_left(self, number: int, verb: str) -> None:
        """The thread has left a stop, by this client or another one."""
        with self._changed:
            self._left[number] = cast(Verb, verb) if verb in _VERBS else 'cont'
            if len(self._left) > _MOST_LEFT:
                del self._left[next(iter(self._left))]
            stop = self._stop
            self._changed.notify_all()
        if stop is not None and stop.remote is not None and stop.remote.fields['number'] == number:
            with contextlib.suppress(CommandError):     # decided here
                stop.decide(self._left[number])

    def _note_lost(self, *, killed: bool) -> None:
        with self._changed:
            self._is_lost = True
            stop = self._stop
            self._changed.notify_all()
        if stop is not None and stop.decision is None:
            say(f'{self.name} {"was killed" if killed else "has ended"} while it was stopped')
            with contextlib.suppress(CommandError):
                stop.decide('cont')
        self._waiting.put(None)

    # ------------------------------------------------------------------ the holder
    def hold_stops(self) -> None:
        """Ask the user about one stop after the other, until the process ends."""
        while (entry := self._waiting.get()) is not None:
            self._hold(StopElsewhere(self, *entry))
        self._connection.close()

    def _hold(self, remote: StopElsewhere) -> None:
        fields = remote.fields
        phase = cast(Phase, fields['phase']) if fields['phase'] in _PHASES else 'line'
        with self._changed:
            if fields['number'] in self._left or self._is_lost:
                return
            stop = self._stop = Stop(phase, reason=one_line(fields['reason'], _LONGEST), remote=remote)
        stop.thread_name = self.name
        try:
            verb = 'quit' if self._debugger.left else self._debugger.broker.hold(stop).verb
        finally:
            self._stop = None
        with self._changed:
            has_left = fields['number'] in self._left or self._is_lost
        if has_left and verb == 'quit':         # its process tells the others, which takes a moment
            self._debugger.leave()
        elif not has_left:                      # decided here: no user, the end of input, or quit elsewhere
            verb = 'abort' if verb == 'abort' else 'quit' if self._debugger.left else 'cont'
            with contextlib.suppress(CommandError):
                self._connection.ask(patience=_PATIENCE, line=verb)

    def ask(self, number: int, request: dict[str, Any]) -> dict[str, Any]:
        """Have the thread carry out a request; where that ends the stop, wait until it has.

        Args:
            number: Of the stop, in the process.
            request: As the protocol has it.

        Raises:
            CommandError: The process has ended.
            KeyboardInterrupt: The user broke it off.
        """
        reply = self._answer(self._connection.begin(**request))
        now = reply['stop']
        if now is None or now['number'] != number:
            with self._changed:
                self._changed.wait_for(lambda: number in self._left or self._is_lost, _PATIENCE)
        return reply

    def _answer(self, answer: Future[dict[str, Any]]) -> dict[str, Any]:
        """The first Ctrl-C breaks the command off, the second one gives up waiting."""
        has_cancelled = False
        while True:
            try:
                return answer.result(_LOOK)
            except LateError:
                continue
            except LostConnectionError:
                raise CommandError(f'{self.name} has ended') from None
            except KeyboardInterrupt:
                if has_cancelled:
                    raise
                has_cancelled = True
                self._connection.cancel(answer)

    def forget(self) -> None:
        """In a forked child: the connection is the parent's."""
        self._connection.abandon()
