"""Known threads of the program: those that wait at a stop, and the calls that run.

Called on any thread; the stops of others are read, never changed.
"""
from __future__ import annotations

import time
from dataclasses import dataclass

from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import location_text
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

_NEWEST = 1000
"""Calls among which those that run are looked for."""


@dataclass(frozen=True, slots=True)
class WaitingThread:
    """A thread that waits.

    Attributes:
        stop: Number of its stop.
        thread, name: Native id, and Python's name.
        phase: As in `Stop`, in one word.
        where: The same in a few words.
        reason: Why it has stopped.
        seconds: For how long.
        current: Whether it has the prompt.
    """

    stop: int
    thread: int
    name: str
    phase: str
    where: str
    reason: str
    seconds: float
    current: bool


@dataclass(frozen=True, slots=True)
class ThreadList:
    """Waiting threads and running calls of the program.

    Attributes:
        waiting: Those that wait, in order of coming.
        running: Calls that have begun and not ended on threads that do not wait, the newest first.
    """

    waiting: tuple[WaitingThread, ...]
    running: tuple[CallRecord, ...]


def threads_of(broker: Broker, trace: Trace) -> ThreadList:
    """The current state of the threads."""
    now, focus = time.monotonic(), broker.focus
    waiting = tuple(WaitingThread(stop.number, stop.thread, stop.thread_name, stop.phase, location_text(stop), stop.reason,
                                  now - stop.since, stop is focus) for stop in broker.own_stops)
    held = {stop.thread for stop in waiting}
    return ThreadList(waiting, tuple(call for call in trace.calls(newest_first=True, limit=_NEWEST)
                                     if call.duration is None and call.thread not in held))
