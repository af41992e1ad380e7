"""The front end for users at the other end of the command socket, and the meaning of their requests.

Stops are served on the stopped thread, where their commands run too; without a stop, commands run on the thread of the
client that asks. Loaded when the first request has come.
"""
from __future__ import annotations

import ctypes
import io
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.debug.breakpoints import actions
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop, location_text
from pyfuncdbg.ui.commands.breakpoint_commands import carry_out_commands
from pyfuncdbg.ui.commands.completion import completions
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute, name_of
from pyfuncdbg.ui.commands.socket.protocol import ProtocolError, Request, encode, request

if TYPE_CHECKING:
    from pyfuncdbg.ui.commands.socket.clients import Client

_LONGEST = 8 << 20
"""Bytes of an answer."""
_SERVING = ('terminal', 'kernel', 'inspector', 'first process')
"""Front ends at which a stopped thread does what clients ask for while the user thinks."""
_WIDTH = 100
"""Columns of what is logged."""
_MOST_PRINTED = 1 << 20
"""Characters of what a command prints."""
_ANSWER: dict[str, Any] = {'text': '', 'data': None, 'error': None, 'command': '', 'printed': ''}


class ServerOfClients(Protocol):
    """The part of the server that requests use.

    Attributes:
        waiting: Whether the program waits for a client before it begins.
    """

    waiting: bool

    @property
    def clients(self) -> Sequence[Client]:
        """The connected clients."""

    def broadcast(self, message: dict[str, Any]) -> None:
        """Send a message to all clients."""

    def begin(self) -> None:
        """Let a program that waits begin."""


class Remote:
    """The front end for all clients together: each sees every stop, and the first to decide has decided.

    Attributes:
        name, priority: As a front end; before the program's own terminal, for a client that connects wants to be asked.
    """

    name = 'remote'
    priority = 1_000

    def __init__(self, server: ServerOfClients) -> None:
        self._server = server
        self._stop: Stop | None = None
        self._turn = threading.Lock()           # one command at a time: they share the trace and the stop
        self._doing = _Doing()
        self._by = 0
        actions.listeners = (*actions.listeners, self._log)

    # ------------------------------------------------------------------ as a front end, on the stopped thread
    def usable(self) -> bool:
        """Whether a client wants to be asked."""
        return any(client.attached and not client.gone for client in self._server.clients)

    def interact(self, stop: Stop, broker: Broker) -> None:
        """Serve the clients until one has decided, the prompt moves to another stop, or the last client is gone."""
        carry_out_logged(stop, self._log)
        if stop.decision is not None:
            return
        self._stop, self._by = stop, 0
        self._server.broadcast({'event': 'stopped', 'stop': describe_stop(stop)})
        try:
            while stop.decision is None and broker.focus is stop and self.usable():
                stop.serve()
        finally:
            self._stop = None
            if stop.decision is not None or not self.usable():
                verb = stop.decision.verb if stop.decision is not None else broker.lost
                self._server.broadcast({'event': 'resumed', 'stop': stop.number, 'verb': verb, 'by': self._by})

    # ------------------------------------------------------------------ the server's thread
    def summary(self) -> dict[str, Any] | None:
        """The stop that commands act on now."""
        stop = self._current()
        return describe_stop(stop) if stop is not None and stop.decision is None else None

    def _current(self) -> Stop | None:
        """The stop of the clients, or the one whose user types a line elsewhere: its thread does what others ask, too."""
        broker = debugger.broker
        asking = broker.asking
        return broker.focus if self._stop is None and asking is not None and asking.name in _SERVING else self._stop

    def lost(self) -> None:
        """A client is gone: stops that it was asked about look for another front end."""
        debugger.broker.recheck()

    def cancel(self, client: Client, number: int | str) -> None:
        """Break off this request of the client's, if it is under way or waits."""
        self._doing.break_off((client.number, number), waits=client.waits)

    def _log(self, line: str) -> None:
        self._server.broadcast({'event': 'log', 'text': line})

    # ------------------------------------------------------------------ a client's thread
    def carry_out(self, client: Client, line: bytes) -> None:
        """Answer one request."""
        try:
            client_request = request(line)
        except ProtocolError as error:
            client.send({'id': None, **_ANSWER, 'error': str(error)})
            return
        left = None
        printed = _Printed()
        try:
            if client_request.verb == 'attach':
                answer = self.attach(client)
            elif client_request.verb == 'detach':
                answer = self._detach(client)
            elif client_request.verb == 'trace':
                answer = _recorded_path()
            else:
                with self._turn:
                    answer, left = self._asked(client, client_request, printed)
        except PyfuncdbgError as error:
            answer = {**_ANSWER, 'error': str(error)}
        except KeyboardInterrupt:
            answer = {**_ANSWER, 'error': 'interrupted'}
        except BaseException as error:          # an internal error, or exit() typed at the prompt: report it and continue
            answer = {**_ANSWER, 'error': f'{client_request.text}: {type(error).__name__}: {error}'}
        self._doing.answered((client.number, client_request.id))
        client.send({'id': client_request.id, **answer, 'printed': printed.text, 'stop': self.summary(), 'left': left})

    def attach(self, client: Client) -> dict[str, Any]:
        """Stops go to this client from now on."""
        client.attached = True
        debugger.broker.add(self)
        debugger.start()
        return {**_ANSWER, 'command': 'attach'}

    def _detach(self, client: Client) -> dict[str, Any]:
        """The client is asked no more; if it was the last one, the threads that wait for it go on."""
        asked, client.attached = client.attached, False
        if asked and not self.usable():
            self._server.begin()
            if self._stop is not None:
                debugger.broker.release()
        return {**_ANSWER, 'command': 'detach'}

    def _asked(self, client: Client, asked: Request, printed: _Printed) -> tuple[dict[str, Any], int | None]:
        """The answer, and the stop that was left by it."""
        stop = self._current()
        if stop is None:
            return self._running(client, asked, printed), None

        def action() -> dict[str, Any]:
            with client.around(), self._doing.of((client.number, asked.id)):
                answer = self._executed(asked, stop, printed)
            if stop.decision is not None:
                self._by = client.number
            return answer
        answer = stop.do(action)
        return answer, stop.number if stop.decision is not None else None

    def _running(self, client: Client, asked: Request, printed: _Printed) -> dict[str, Any]:
        """A request while the program runs."""
        name = name_of(asked.text) if asked.verb == 'line' else ''
        if name == 'cont' and self._server.waiting:
            self._server.begin()
            return {**_ANSWER, 'command': name}
        if name == 'quit':
            debugger.quit()
            self._server.begin()
            return {**_ANSWER, 'command': name}
        # Calls made by this expression do not stop: this thread serves the client and could not answer.
        plan = debugger.plan(threading.get_native_id())
        plan.asking = True
        try:
            with self._doing.of((client.number, asked.id)):
                return self._executed(asked, None, printed)
        finally:
            plan.asking = False
            debugger.plans.pop(threading.get_native_id(), None)

    def _executed(self, asked: Request, stop: Stop | None, printed: _Printed) -> dict[str, Any]:
        context = Context(debugger.live.on_demand(stop), stop, asked.width, debugger, receive=printed.receive,
                          announce=lambda text: printed.receive(f'{text}\n'))
        if asked.verb == 'complete':
            found = completions(asked.text[:asked.position], context)
            return {**_ANSWER, 'completions': list(found.words), 'start': found.start}
        answer = execute(asked.text, context)
        drawn = {**_ANSWER, 'text': _draw_answer(answer, asked), 'data': json.loads(answer.json),
                 'command': answer.command.name, 'later': list(answer.later)}
        if len(encode(drawn)) > _LONGEST:
            raise CommandError(f'the answer is longer than {_LONGEST >> 20} MB; ask for less of it, or add ">> FILE"')
        return drawn


def _recorded_path() -> dict[str, Any]:
    """The path of the trace, written up to now; where nothing records, a recording begins."""
    recorder = debugger.live.recorder()
    recorder.flush()
    return {**_ANSWER, 'command': 'trace', 'trace': str(recorder.path.resolve())}


class _Printed:
    """Output of a command: its beginning, and how much more there was."""

    def __init__(self) -> None:
        self._text = io.StringIO()
        self._more = 0

    def receive(self, text: str) -> None:
        """Add what was printed just now."""
        room = _MOST_PRINTED - self._text.tell()
        self._text.write(text[:room])
        self._more += max(0, len(text) - room)

    @property
    def text(self) -> str:
        """All of it as whole lines, with a word on what was left out."""
        text = self._text.getvalue()
        ended = text if text.endswith('\n') or not text else text + '\n'
        return f'{ended}... {self._more:,} characters more\n' if self._more else ended


class _Doing:
    """The request that is under way: which one, by client and its id, and on which thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = 0
        self._which: tuple[int, int | str | None] = 0, None
        self._broken_off = False
        self._early: dict[int, int | str | None] = {}           # by client: the id of a request cancelled before it began

    def of(self, key: tuple[int, int | str | None]) -> _Doing:
        """Around this request."""
        self._which = key
        return self

    def __enter__(self) -> None:
        client, number = self._which
        with self._lock:
            if number is not None and self._early.get(client) == number:
                raise KeyboardInterrupt
            self._thread = threading.get_ident()

    def __exit__(self, *exception: object) -> None:
        """From here on nothing is raised in this thread, not even what was under way."""
        try:
            with self._lock:
                self._thread, broken_off, self._broken_off = 0, self._broken_off, False
            # Python raises it at the next jump of a loop. Cancelling it would make 3.11 loop forever while tracing.
            for _ in range(100 if broken_off and exception[0] is not KeyboardInterrupt else 0):
                pass
        except KeyboardInterrupt:
            self._thread, self._broken_off = 0, False

    def answered(self, key: tuple[int, int | str | None]) -> None:
        """Nothing of this request is left to be broken off."""
        client, number = key
        with self._lock:
            if self._early.get(client) == number:
                self._early.pop(client, None)

    def break_off(self, key: tuple[int, int | str], *, waits: bool) -> None:
        """Raise KeyboardInterrupt in the thread of a request while it is under way, or when it comes to it if the client
        `waits`; called from another thread. The next one is another request: the user has not seen it begin."""
        with self._lock:
            if not self._thread or self._which != key:
                if waits:
                    client, number = key
                    self._early[client] = number
            elif not self._broken_off:
                self._broken_off = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt))


def carry_out_logged(stop: Stop, log: Callable[[str], None]) -> None:
    """Carry out what the breakpoints of a stop want, on its thread; clients get the answers as lines of a log."""
    def one(line: str) -> None:
        log(f'{location_text(stop)}: {line}')
        printed = _Printed()
        try:
            answer = execute(line, Context(debugger.live.on_demand(stop), stop, _WIDTH, debugger, receive=printed.receive))
            log((printed.text + answer.text(_WIDTH)).rstrip('\n'))
        except PyfuncdbgError as error:
            log(f'*** {error}')
        except Exception as error:              # an error of ours or of an object must not end the program
            log(f'*** {line}: {type(error).__name__}: {error}')
    carry_out_commands(stop, debugger.breakpoints, one)


def describe_stop(stop: Stop) -> dict[str, Any]:
    """A stop as plain data; one of another process has the number that it has here."""
    if stop.remote is not None:
        return {**stop.remote.fields, 'number': stop.number, 'at': location_text(stop)}
    call = stop.call
    inner = stop.frames[-1] if stop.frames else None
    return {'number': stop.number, 'phase': stop.phase, 'at': location_text(stop), 'reason': stop.reason,
            'thread': stop.thread, 'thread_name': stop.thread_name,
            'call': {'number': call.id, 'site': call.site.name, 'ordinal': call.ordinal} if call is not None else None,
            'run': stop.run.id if stop.run is not None else None,
            'where': {'file': program_code(inner.frame.f_code).co_filename, 'line': inner.line,
                      'function': program_code(inner.frame.f_code).co_name} if inner is not None else None}


def _draw_answer(answer: Answer, asked: Request) -> str:
    text = io.StringIO()
    console = Console(file=text, width=asked.width, color_system='256' if asked.color else None,
                      force_terminal=asked.color, force_jupyter=False, legacy_windows=False, _environ={},
                      markup=False, emoji=False)
    answer.show(console)
    return ''.join(line.rstrip() + '\n' for line in text.getvalue().splitlines())
