"""A front end that types: it carries out command lines at each stop, through the table, and keeps what they show."""
from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


class Typist:
    """Types lines, one after the other; when there are no more, `cont`.

    Attributes:
        stops: (phase, function, line) of each stop.
        cards: What `stop` showed at each.
        said: (line, what it showed) of each command; what was refused begins with '*** '.
        answers: The answer of each command that was carried out, by its line.
        trace: What commands look at.
    """

    name = 'typist'
    priority = 1000

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.stops: list[tuple[str, str, int]] = []
        self.cards: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.answers: dict[str, Answer] = {}
        self.threads: list[int] = []
        self.trace: Any = None

    def usable(self) -> bool:
        return True

    def interact(self, stop: Stop, broker: Broker) -> None:
        context = Context(self.trace, stop, 80, debugger)  # type: ignore[arg-type]
        frame = stop.frame if stop.phase in ('call', 'line', 'return', 'exception') else None
        self.stops.append((stop.phase, frame.f_code.co_name if frame else '', frame.f_lineno if frame else 0))
        self.threads.append(threading.get_native_id())
        self.cards.append(execute('stop', context).text(80))
        while stop.decision is None:
            line = next(self._lines, 'cont')
            try:
                answer = execute(line, context)
                self.answers[line] = answer
                assert answer.json              # every result is plain data
                self.said.append((line, answer.text(80)))
            except CommandError as error:
                self.said.append((line, f'*** {error}'))

    def shown(self, line: str) -> str:
        """What a line showed, the last time."""
        return next(text for said, text in reversed(self.said) if said == line)

    @property
    def lines(self) -> list[tuple[str, int]]:
        """(function, line) of the stops in Python."""
        return [(function, line) for _, function, line in self.stops if function]


@contextmanager
def typing(*lines: str, at_next_call: bool = True, typist: type[Typist] = Typist) -> Iterator[Typist]:
    """Debug what is inside, on this thread from the next call on; nothing is left of it afterwards."""
    one = typist(lines)
    debugger.broker.add(one)
    debugger.start()
    if at_next_call:
        debugger.plan(threading.get_native_id()).next_call = True
    try:
        yield one
    finally:
        debugger.leave()
        debugger.catching = False
        debugger.broker.remove(one)
        debugger.plans.clear()


def wrapped(function: Any, *inputs: Any) -> Any:
    """Call a function as a wrapped one, in eager mode: it gives whatever the function gives."""
    from pyfuncdbg import tf
    return tf.numpy_function(function, list(inputs), tf.float64)
