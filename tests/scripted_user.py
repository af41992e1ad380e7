"""A user who types prepared lines at stops: a front end without a terminal, for tests of what stops a program."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.table import TABLE

Line = str | Callable[[Stop], Any]


class ScriptedUser:
    """Types a line, or calls a function with the stop, until the stop is left; `cont` when nothing is left to type.

    Attributes:
        stops: (phase, reason) of every stop, in order.
        answers: What each line gave: the result of a command, or the error as text.
    """

    name = 'terminal'
    priority = 10_000

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.lines = iter(lines)
        self.stops: list[tuple[str, str]] = []
        self.answers: list[Any] = []
        self.lock = threading.Lock()

    @property
    def phases(self) -> list[str]:
        return [phase for phase, _ in self.stops]

    def usable(self) -> bool:
        return True

    def next_line(self, stop: Stop) -> Line:
        """What is typed next."""
        with self.lock:
            return next(self.lines, 'cont')

    def interact(self, stop: Stop, broker: Broker) -> None:
        self.stops.append((stop.phase, stop.reason))
        while stop.decision is None:
            line = self.next_line(stop)
            try:
                self.answers.append(line(stop) if callable(line) else execute(line, context_of(stop)).result)
            except PyfuncdbgError as error:
                self.answers.append(str(error))

    def __enter__(self) -> ScriptedUser:
        debugger.broker.add(self)
        debugger.left = False
        return self

    def __exit__(self, *exception: object) -> None:
        """The user goes, and debugging ends: nothing of it reaches another test."""
        debugger.broker.remove(self)
        debugger.leave()
        for recorder in recorders():
            recorder.stop()
        debugger.plans.clear()
        debugger.left = False


def context_of(stop: Stop) -> Context:
    """What commands at this stop act on."""
    return Context(debugger.live.trace(), stop, debugger=debugger, table=TABLE)
