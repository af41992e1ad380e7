"""Unattended stop: no front end can ask the user. It is logged on the real stderr and noted in every recording, and the
program goes on.

On the thread that would have stopped.
"""
from __future__ import annotations

from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.stops.location import whereabouts
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.recorder import recorders


def log_stop(stop: Stop) -> None:
    """Say that a stop was passed, and note it."""
    say(f'not stopped {whereabouts(stop)}: {stop.reason} (no user is connected)')
    note_stop(stop)


def note_stop(stop: Stop) -> None:
    """Note in every recording that a stop was passed."""
    place = whereabouts(stop)
    call = stop.call
    for recorder in recorders():
        recorder.note('stop', {'stop': stop.number, 'phase': stop.phase, 'place': place, 'reason': stop.reason,
                               'call': call.id if call is not None else 0, 'thread': stop.thread, 'asked': False})
