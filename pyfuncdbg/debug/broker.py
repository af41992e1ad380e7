"""The broker: one prompt at a time. Threads that stop queue here; the user lists them and switches.

`hold` is called on the thread that stops and returns when the user has decided. The program keeps its main thread.
"""
from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Protocol

from pyfuncdbg.debug.stop import Decision, Stop, Verb
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import errstate
from pyfuncdbg.hooks.call import current


_SCREENS = ('inspector', 'debugpy')
"""Front ends that are no prompt."""


class FrontEnd(Protocol):
    """Something that can ask the user.

    Attributes:
        name: 'inspector', 'debugpy', 'kernel', 'ipython', 'terminal', 'pipe', 'remote', 'none'.
        priority: The usable one of greatest priority gets the stop.
    """

    name: str
    priority: int

    def usable(self) -> bool:
        """Whether it can reach the user now; asked at each stop, on the stopped thread."""

    def interact(self, stop: Stop, broker: Broker) -> None:
        """Let the user look and decide.

        Runs on the stopped thread, one at a time in the process. Returns when `stop.decision` is set, when
        `broker.focus` is another stop, or when the user is lost (closed input, dead terminal): then it says so by
        `broker.lose(self)`.
        """


class Broker:
    """Holds the stops of this process.

    Attributes:
        lost: What a stop decides when the user is lost: 'cont' or 'abort'.
        wanted: Who is asked: 'auto' picks by priority, 'prompt' among those in which commands are typed, 'none' logs and
            goes on.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._stops: tuple[Stop, ...] = ()
        self._focus: Stop | None = None
        self._front_ends: tuple[FrontEnd, ...] = ()
        self.lost: Verb = 'cont'
        self.wanted = 'auto'
        self.on_log: Callable[[Stop], None] | None = None

    # ------------------------------------------------------------------ front ends
    def add(self, front_end: FrontEnd) -> None:
        """Offer a front end."""
        with self._changed:
            others = tuple(known for known in self._front_ends if known is not front_end)
            self._front_ends = tuple(sorted((*others, front_end), key=lambda known: -known.priority))

    def remove(self, front_end: FrontEnd) -> None:
        """Take a front end away; stops that wait there look for another one."""
        with self._changed:
            self._front_ends = tuple(known for known in self._front_ends if known is not front_end)
            for stop in self._stops:
                stop.wake()

    lose = remove

    def front_end(self) -> FrontEnd | None:
        """The usable one of greatest priority, None if there is none or the user wants none."""
        if self.wanted == 'none':
            return None
        for known in self._front_ends:
            if (self.wanted == 'auto' or known.name not in _SCREENS) and known.usable():
                return known
        return None

    # ------------------------------------------------------------------ stops
    @property
    def stops(self) -> tuple[Stop, ...]:
        """Those that wait, in order of coming."""
        return self._stops

    @property
    def focus(self) -> Stop | None:
        """The stop that has the prompt."""
        return self._focus

    def find(self, number: int) -> Stop:
        """The waiting stop of that number or on that thread.

        Raises:
            CommandError: There is none.
        """
        for stop in self._stops:
            if number in (stop.number, stop.thread):
                return stop
        known = ', '.join(str(stop.number) for stop in self._stops) or 'none'
        raise CommandError(f'no stop {number}; waiting are: {known}')

    def switch(self, stop: Stop) -> None:
        """Give the prompt to another stop. The thread that has it notices when its command is done."""
        with self._changed:
            if stop not in self._stops:
                raise CommandError(f'stop {stop.number} is not waiting any more')
            before, self._focus = self._focus, stop
            self._changed.notify_all()
        for one in (before, stop):
            if one is not None:
                one.wake()

    def release(self, verb: Verb = 'cont') -> int:
        """Let every waiting stop go on; how many there were."""
        stops = self._stops
        for stop in stops:
            if stop.decision is None:
                stop.decide(verb)
        return len(stops)

    def hold(self, stop: Stop) -> Decision:
        """Wait for the user; on the thread that stops. What the prompt prints is nobody's output."""
        front_end = self.front_end()
        if front_end is None:
            if self.on_log is not None:
                self.on_log(stop)
            return Decision('cont')
        speaking = current.set(None)
        errors = errstate.state.set(errstate.DEFAULT)
        with self._changed:
            self._stops = (*self._stops, stop)
            if self._focus is None:
                self._focus = stop
        try:
            while stop.decision is None:
                self._turn(stop)
            return stop.decision
        finally:
            with self._changed:
                self._stops = tuple(one for one in self._stops if one is not stop)
                if self._focus is stop:
                    self._focus = self._stops[0] if self._stops else None
                focus = self._focus
            stop.leave()
            if focus is not None:
                focus.wake()
            errstate.state.reset(errors)
            current.reset(speaking)

    def _turn(self, stop: Stop) -> None:
        """One turn of a stop: at the prompt if it has the focus, else waiting."""
        if self._focus is not stop:
            with contextlib.suppress(KeyboardInterrupt):        # Ctrl-C is for the prompt, which is in another thread
                stop.serve()
            return
        front_end = self.front_end()
        if front_end is None:
            stop.decide(self.lost)
            sys.__stderr__ and print(f'pyfuncdbg: nobody is there to ask: {self.lost}', file=sys.__stderr__)
            return
        front_end.interact(stop, self)
