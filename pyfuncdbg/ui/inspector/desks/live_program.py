"""The desk of a running program: commands cross the command socket, the trace is read in this process.

Worker threads of the app ask; threads of the desk's own hear what the program says, and read the trace as it grows
while the screen is shown.
"""
from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, cast

from rich.text import Text

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.execute import name_of
from pyfuncdbg.ui.inspector.desks.desk import DeskRequest, Event, Reply
from pyfuncdbg.ui.prompt.connecting.connection import BrokenOffError, Connection, LostConnectionError, completions_of
from pyfuncdbg.ui.views.escape import keep_styles, one_line

_PERIOD = 0.5
"""Seconds between two reads of a growing trace; more where a read takes long."""
_MOST_PRINTED = 1 << 15
_MOST_LEFT = 1_000
_SHARE = 10
"""A look may take this part of the time."""


class LiveDesk:
    """A program at the other end of a connection.

    Args:
        connection: To the program; closed with the desk.
        attach: Whether the program's stops shall come here. Otherwise it says by itself which do.

    Attributes:
        trace: The program's newest recording.
        live: Always.
        title: The program and its process number.
        printed: The end of what the program has written while its terminal was lent.

    Raises:
        LostError: The program is gone.
    """

    live = True

    def __init__(self, connection: Connection, *, attach: bool = True) -> None:
        self._connection = connection
        hello = connection.hello
        first, *rest = hello['program'] or ('',)
        self.title = one_line(f'{" ".join((os.path.basename(first), *rest))} ({hello["pid"]})', 100)
        self.printed = ''
        self._told = 0.0
        self._untold = False                    # more was printed
        self._looking = True
        self._due = threading.Event()           # the trace is to be read now, up to what has just happened
        self._stop: dict[str, Any] | None = hello.get('stop')
        self._left: deque[int] = deque(maxlen=_MOST_LEFT)       # numbers of stops that are over
        self._trace = GrowingTrace(connection)
        self.trace = cast(Trace, self._trace)
        self._heard: Callable[[Event], None] = lambda event: None
        self._closed = False
        if attach:
            self._notice(connection.ask(attach=True))

    @property
    def share_read(self) -> float:
        """All of it: the program's newest calls are read at each look."""
        return 1.0

    def finish_reading(self, request: DeskRequest | None = None) -> None:
        """Nothing is left to read."""

    # ------------------------------------------------------------------ worker threads
    def stop(self) -> dict[str, Any] | None:
        """The stop that commands act on now."""
        return self._stop

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        """Carry out a command line in the program."""
        try:
            answer = self._ask(request, line=line, width=width, color=True)
        except CommandError as error:
            return Reply(line, name_of(line), Text(), None, str(error))
        self._notice(answer)
        mistake = f'{answer["error"]}\n{answer["printed"]}'.strip() if answer['error'] else ''
        return Reply(line, answer['command'] or name_of(line),
                     Text.from_ansi(keep_styles(answer['printed'] + answer['text'])),
                     answer['data'], mistake, tuple(answer['later']))

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        """Completions of a text at a position."""
        try:
            answer = self._ask(request, complete=text, position=position)
        except CommandError:
            return [], position
        return completions_of(answer, position)

    def _ask(self, request: DeskRequest | None, **asked: Any) -> dict[str, Any]:
        if request is None:
            return self._connection.ask(**asked)
        if request.broken_off:
            raise BrokenOffError
        begun = self._connection.begin(**asked)
        request.under_way(lambda: self._connection.cancel(begun))
        return begun.result()

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Say what happens from now on."""
        self._heard = on_event
        threading.Thread(target=self._follow, name='pyfuncdbg news', daemon=True).start()
        threading.Thread(target=self._read_on, name='pyfuncdbg trace', daemon=True).start()

    def close(self) -> None:
        """Leave the program, which goes on; what waited for us alone goes on too."""
        self._closed = True
        self._due.set()
        self._connection.close()
        self._trace.close()

    def _notice(self, answer: dict[str, Any]) -> None:
        """Take the stop from an answer. That none is there is left to events: the next one may have come since."""
        self._leave(answer['left'])
        stop = answer['stop']
        if stop is not None and stop['number'] not in self._left:
            self._stop = stop

    def _leave(self, number: int | None) -> None:
        """This stop is over."""
        if number is not None:
            self._left.append(number)
            if self._stop is not None and self._stop['number'] == number:
                self._stop = None

    def look(self) -> None:
        """The screen is shown again."""
        self._looking, self.printed = True, ''
        self._due.set()

    def note_printed(self, text: str) -> None:
        """The program has written this to its terminal, which is lent. Any thread."""
        self.printed = (self.printed + text)[-_MOST_PRINTED:]
        self._untold = True
        if time.monotonic() - self._told > _PERIOD:
            self._tell_printed()

    def _tell_printed(self) -> None:
        self._told, self._untold = time.monotonic(), False
        self._heard(Event('grown'))

    def look_away(self) -> None:
        """The screen is hidden: the trace may grow unread."""
        self._looking = False

    # ------------------------------------------------------------------ threads of its own
    def _follow(self) -> None:
        while True:
            message = self._connection.events.get()
            kind = message['event']
            if kind == 'stopped':
                self._stop = message['stop']
                self._heard(Event('stopped', message['stop']))
                self._due.set()
            elif kind == 'resumed':
                self._leave(message['stop'])
                self._heard(Event('resumed', text=message['verb']))
            elif kind == 'log':
                self._heard(Event('log', text=message['text']))
            elif kind in ('ended', 'lost'):
                self._end(kind, message.get('text') or 'the program was killed')
                return

    def _read_on(self) -> None:
        """Read the trace at stops, and as it grows while the screen is shown."""
        while not self._closed:
            due = self._due.wait(self._trace.pause if self._looking else None)
            self._due.clear()
            if due or self._looking:
                self._look(renew=due)
            if self._untold:
                self._tell_printed()

    def _look(self, *, renew: bool) -> None:
        """Read what the trace has more; with `renew` the program is asked first to write all it has."""
        try:
            if not self._closed and self._trace.refresh(renew=renew):
                self._heard(Event('grown'))
        except LostConnectionError:                       # told by the other thread
            pass
        except PyfuncdbgError as error:
            if not self._closed:
                self._heard(Event('log', text=str(error)))

    def _end(self, kind: str, why: str) -> None:
        self._stop = None
        with contextlib.suppress(PyfuncdbgError):
            if self._trace.refresh():           # a temporary trace is removed with its program
                self._heard(Event('grown'))
        if kind == 'ended':
            self._heard(Event('ended', text='the program has ended'))
        else:
            self._heard(Event('lost', text=f'the connection is lost: {why}'))
        self._looking = False


class GrowingTrace:
    """The newest trace of the program, opened at the first query and replaced once there is a newer one.

    Attributes:
        pause: Seconds to wait before the next look.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._trace: Trace | None = None
        self.pause = _PERIOD

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        with self._lock:
            trace = self._trace or self._renew()
        return getattr(trace, name)

    def refresh(self, *, renew: bool = False) -> bool:
        """Read what came since; True if anything did."""
        with self._lock:
            before, started = self._trace, time.monotonic()
            trace = self._renew() if renew or before is None else before
            try:
                return trace.refresh() or trace is not before
            finally:
                self.pause = max(_PERIOD, _SHARE * (time.monotonic() - started))

    def close(self) -> None:
        with self._lock:
            if self._trace is not None:
                self._trace.close()

    def _renew(self) -> Trace:
        """The program's newest trace, which has written all that happened."""
        answer = self._connection.ask(trace=True)
        if answer['error']:
            raise CommandError(answer['error'])
        path = answer['trace']
        if self._trace is None or str(self._trace.path) != path:
            before, self._trace = self._trace, Trace.open(path)
            if before is not None:
                before.close()
        return self._trace
