"""The first process of the program as a front end: stops of this one are asked about at its prompt.

Used in every other process of the program, as long as the first one answers. The stopped thread does what the user asks for
there, in the protocol of the command socket.
"""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.processes.process_label import own_label
from pyfuncdbg.observers.debug.stops.broker import Broker, FrontEnd
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.breakpoint_commands import commands_at
from pyfuncdbg.ui.commands.socket.listen import adopt
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import asking, interruptible

if TYPE_CHECKING:
    from pyfuncdbg.ui.commands.socket.clients import Client

_PATIENCE = 30.0
"""Seconds that the first process has to answer: it may be in native code that holds the GIL."""

_LAST_WORDS = 1.0
"""Seconds that the answer of what ends a stop may take to be sent."""


class FirstProcess:
    """The front end.

    Args:
        debugger: Whose stops.
        path: Where the first process listens; '' where this is the first one, or there is none.
        elsewhere: Front ends that are used instead where they are usable.
    """

    name = 'first process'
    priority = 300

    def __init__(self, debugger: Debugger, path: Callable[[], str], elsewhere: Sequence[FrontEnd]) -> None:
        self._debugger = debugger
        self._path = path
        self._elsewhere = elsewhere
        self.forget()
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """In a forked child: the connection is the parent's."""
        self._lock = new_rlock()
        self._client: Client | None = None
        self._failed = ''

    def usable(self) -> bool:
        path = self._path()
        if not path or self._failed == path or any(one.usable() for one in self._elsewhere):
            return False
        with self._lock:
            if self._client is None or self._client.gone:
                self._client = self._connected(path)
            return self._client is not None

    def _connected(self, path: str) -> Client | None:
        """A connection with the first process; None if it has none."""
        from pyfuncdbg.ui.commands.socket.first_process import meet  # with `socket`, which most programs never need
        try:
            connection, _ = meet(path, 'stops', _PATIENCE, label=own_label())
        except (OSError, CommandError) as error:
            self._failed = path
            if isinstance(error, TimeoutError | CommandError):
                say(f'the first process of the program cannot be asked: {error}')
            return None
        client = adopt(connection)
        client.around = interruptible           # Ctrl-C on the terminal reaches this process, too
        return client

    def interact(self, stop: Stop, broker: Broker) -> None:
        from pyfuncdbg.ui.commands.socket.remote import describe_stop  # with all commands
        client = self._client
        if client is None:
            return
        lines = [] if stop.attended else commands_at(stop, self._debugger.breakpoints)
        stop.attended = True
        client.send({'event': 'stopped', 'stop': describe_stop(stop), 'commands': lines})
        with asking():
            while stop.decision is None and broker.focus is stop and not client.gone:
                with contextlib.suppress(KeyboardInterrupt):    # Ctrl-C is for the prompt, in the other process
                    stop.serve()
        # A thread that waits on, behind another one that has the focus now, is no stop for the user any more.
        verb = stop.decision.verb if stop.decision is not None else 'step'
        client.send({'event': 'resumed', 'stop': stop.number, 'verb': verb, 'by': client.number})
        client.settle(_LAST_WORDS)              # the process may end at once, by `os._exit`
