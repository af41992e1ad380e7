"""The broker: one prompt at a time. Threads that stop queue here; the user lists them and switches.

`hold` is called on the thread that stops and returns when the user has decided. The program keeps its main thread. A stop
that no front end can show is logged on the real stderr and noted in every recording, and the program goes on.
"""
from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.forking_thread import parent_thread_id
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.observers.debug.stops.stop import DIFFERS, STOPS_AGAIN, Decision, Stop, Verb, location_text
from pyfuncdbg.observers.record.recorder import recorders

_SCREENS = ('inspector', 'debugpy')
"""Front ends that are no prompt."""


_PATIENCE = 0.3
"""Seconds that the prompt waits for the thread that steps while others wait for the prompt."""


class FrontEnd(Protocol):
    """Protocol of front ends, which ask the user what a stopped thread shall do.

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
    """Queue of the stops of this process.

    Attributes:
        lost: What a stop decides once the user is lost: 'cont' or 'abort'.
        front_end_name: 'auto' and 'inspector' pick a front end by priority, 'prompt' one of those for typed
            commands, 'none' logs and goes on.
        on_log: Called with a stop at which no front end can ask the user.
        asking: The front end that has the prompt now.
        on_waiting: Called when a stop waits for the user, and when none does any more, nor is one expected soon.
        is_first: Whether this is the process of the program that asks the user.
        holds_others: Whether the other threads of the program wait as long as one is at the prompt.
    """

    def __init__(self) -> None:
        self._lock = new_rlock()          # re-entrant: a signal handler may release what its own thread holds
        self._stops: tuple[Stop, ...] = ()
        self._focus: Stop | None = None
        self._talking: Stop | None = None
        self._expected = 0                      # native id of the thread that the prompt waits for
        self._front_ends: tuple[FrontEnd, ...] = ()
        self._user_lost = self._alone_said = False
        self._repeats: dict[int, Decision] = {}
        """By thread: how it steps on at its next stop without being asked."""
        self.asking: FrontEnd | None = None
        self.lost: Verb = 'cont'
        self.front_end_name = 'auto'
        self.on_log: Callable[[Stop], None] | None = log_stop
        self.on_waiting: Callable[[bool], object] = lambda is_waiting: None
        self.is_first = True
        self.holds_others = False
        _brokers.add(self)

    # ------------------------------------------------------------------ front ends
    @property
    def has_front_ends(self) -> bool:
        """Whether there is a front end for a stop."""
        return bool(self._front_ends)

    def add(self, front_end: FrontEnd) -> None:
        """Offer a front end."""
        with self._lock:
            others = tuple(known for known in self._front_ends if known is not front_end)
            self._front_ends = tuple(sorted((*others, front_end), key=lambda known: -known.priority))

    def remove(self, front_end: FrontEnd) -> None:
        """Take a front end away; stops that wait there look for another one."""
        with self._lock:
            self._front_ends = tuple(known for known in self._front_ends if known is not front_end)
            stops = self._stops
        for stop in stops:
            stop.wake()

    def recheck(self) -> None:
        """Let every waiting stop look whether its user is still there."""
        for stop in self._stops:
            stop.wake()

    def lose(self, front_end: FrontEnd) -> None:
        """The user of a front end is gone for good: where no other user can be asked, `lost` says how every stop goes on."""
        self._user_lost = True
        self.remove(front_end)

    def front_end(self) -> FrontEnd | None:
        """The usable one of greatest priority, None if there is none or the user wants none."""
        if self.front_end_name == 'none':
            return None
        for front_end in self._front_ends:
            if self.front_end_name in ('auto', 'inspector') or front_end.name not in _SCREENS:
                try:
                    if front_end.usable():
                        return front_end
                except Exception as error:      # a broken front end must not end the debugged program
                    self._drop(front_end, error)
        return None

    def _drop(self, front_end: FrontEnd, error: Exception) -> None:
        self.remove(front_end)
        say(f'the front end {front_end.name!r} failed and is disabled: {type(error).__name__}: {error}')

    # ------------------------------------------------------------------ stops
    @property
    def stops(self) -> tuple[Stop, ...]:
        """The waiting stops of all processes of the program that bring theirs here, oldest first."""
        return self._stops

    @property
    def own_stops(self) -> tuple[Stop, ...]:
        """Those of this process."""
        return tuple(stop for stop in self._stops if stop.remote is None)

    @property
    def focus(self) -> Stop | None:
        """The stop that has the prompt."""
        return self._focus

    def find(self, number: int) -> Stop:
        """The waiting stop of this process of that number or on that thread.

        Raises:
            CommandError: There is none.
        """
        stops = self.own_stops
        for stop in sorted(stops, key=lambda stop: stop.number != number):
            if number in (stop.number, stop.thread):
                return stop
        known = ', '.join(str(stop.number) for stop in stops) or 'none'
        raise CommandError(f'no stop {number}; waiting are: {known}')

    def switch(self, stop: Stop) -> None:
        """Give the prompt to another stop. The thread that has it notices when its command is done.

        Raises:
            CommandError: It does not wait any more.
        """
        with self._lock:
            if stop not in self._stops or stop.decision is not None:
                raise CommandError(f'stop {stop.number} is not waiting any more')
            before, self._focus, self._expected = self._focus, stop, 0
            stop.shown = True
        for one in (before, stop):
            if one is not None:
                one.wake()

    def release(self, verb: Verb = 'cont') -> int:
        """Let every waiting stop go on; how many there were."""
        count = 0
        self._repeats.clear()
        for stop in self._stops:
            with contextlib.suppress(CommandError):     # another client has decided it just now
                stop.decide(verb)
                count += 1
        return count

    def hold(self, stop: Stop) -> Decision:
        """Wait for the user; on the thread that stops. What the prompt prints is no call's output."""
        if any(one.thread == stop.thread for one in self._stops):
            return Decision('cont')             # the thread waits already and serves the user's requests
        again = self._repeats.pop(stop.thread, None)
        if again is not None and _is_step(stop):
            return self._repeat_step(stop, again)
        if self.front_end() is None:
            if self._user_lost:
                return Decision(self.lost)
            if self.on_log is not None:
                self.on_log(stop)
            return Decision('cont')
        speaking = current.set(None)
        errors = numpy_errstate.state.set(numpy_errstate.DEFAULT)
        with self._lock:
            self._stops = (*self._stops, stop)
            if self._focus is None and self._expected in (0, stop.thread):
                self._focus, self._expected = stop, 0
        self.on_waiting(True)
        try:
            while stop.decision is None:
                self._turn(stop)
            return self._repeat_step(stop, stop.decision)
        finally:
            self._leave(stop)
            numpy_errstate.state.reset(errors)
            current.reset(speaking)

    def _repeat_step(self, stop: Stop, decision: Decision) -> Decision:
        if decision.times > 1:
            self._repeats[stop.thread] = replace(decision, times=decision.times - 1)
        return decision

    def _leave(self, stop: Stop) -> None:
        """A stop is over, however it ended: the prompt goes to the one that has waited longest."""
        with self._lock:
            self._stops = tuple(one for one in self._stops if one is not stop)
            if self._focus is stop:
                steps = stop.decision is not None and stop.decision.verb in STOPS_AGAIN
                self._expected = stop.thread if steps and (self._stops or self.holds_others) else 0
                self._focus = self._stops[0] if self._stops and not self._expected else None
                expected = self._expected
            else:
                expected = 0
            if self._talking is stop:
                self._talking = None
            focus, is_waiting = self._focus, bool(self._stops or self._expected)
        stop.leave()
        if not is_waiting:
            self.on_waiting(False)
        if focus is not None:
            focus.wake()
        if expected:
            self._wait_for(expected)

    def _wait_for(self, thread: int) -> None:
        """A thread that steps has the prompt at its next stop, if that comes soon; then others may have it."""
        def give_up() -> None:
            with self._lock:
                if self._expected != thread or self._focus is not None:
                    return
                self._expected = 0
                self._focus = focus = self._stops[0] if self._stops else None
            if focus is not None:
                focus.wake()
            else:
                self.on_waiting(False)
        timer = threading.Timer(_PATIENCE, give_up)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:                    # no thread can start at interpreter shutdown
            give_up()

    def _turn(self, stop: Stop) -> None:
        """One turn of a stop: at the prompt if it has the focus, else waiting."""
        with self._lock:
            has_prompt = self._focus is stop and self._talking is None        # the one before may still be in its prompt
            if has_prompt:
                self._talking = stop
        if not has_prompt:
            with contextlib.suppress(KeyboardInterrupt):        # Ctrl-C is for the prompt, which is in another thread
                stop.serve()
            return
        front_end = None
        try:
            was_shown, stop.shown = stop.shown, True
            front_end = self.front_end()
            if not was_shown and not stop.stands():
                with contextlib.suppress(CommandError):         # decided by another thread
                    stop.decide('cont')
            elif front_end is None:
                self._go_on_alone(stop)
            else:
                self.asking = front_end
                front_end.interact(stop, self)
        except Exception as error:              # a broken front end must not end the debugged program
            if front_end is not None:
                self._drop(front_end, error)
        finally:
            self._fall_silent()

    def _fall_silent(self) -> None:
        """The prompt is free: the stop that has the focus may begin."""
        with self._lock:
            self._talking = self.asking = None
            focus = self._focus
        if focus is not None:
            focus.wake()

    def _go_on_alone(self, stop: Stop) -> None:
        """A stop that waits has no user any more."""
        with self._lock:
            was_said, self._alone_said = self._alone_said, True
            self._user_lost = True
        with contextlib.suppress(CommandError):                 # decided by another thread
            stop.decide(self.lost)
        if not was_said:
            end = 'ends' if self.lost == 'abort' else 'continues without stops'
            say(f'the user is gone: the program {end}')

    def after_fork(self) -> None:
        """In a forked child: the stops of other threads are the parent's."""
        self._expected = 0
        thread, before = threading.get_native_id(), parent_thread_id()
        self._stops = tuple(stop for stop in self._stops if stop.thread == before)
        for stop in self._stops:
            stop.thread = thread
        self._focus = self._stops[0] if self._stops else None
        if self._talking is not self._focus:
            self._talking = None


_brokers: weakref.WeakSet[Broker] = weakref.WeakSet()


def _is_step(stop: Stop) -> bool:
    """Whether a thread has only stepped to a stop: no breakpoint, no divergence from a recording, and no error."""
    return stop.error is None and not (stop.hits or stop.reason.startswith(('breakpoint', DIFFERS)))


def _after_fork() -> None:
    for broker in list(_brokers):
        broker.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def log_stop(stop: Stop) -> None:
    """Say that a stop was passed, and note it."""
    say(f'not stopped {location_text(stop)}: {stop.reason} (no user is connected)')
    note_stop(stop)


def note_stop(stop: Stop) -> None:
    """Note in every recording that a stop was passed."""
    place = location_text(stop)
    call = stop.call
    for recorder in recorders():
        recorder.note('stop', {'stop': stop.number, 'phase': stop.phase, 'place': place, 'reason': stop.reason,
                               'call': call.id if call is not None else 0, 'thread': stop.thread, 'asked': False})
