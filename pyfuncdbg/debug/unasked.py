"""A stop at which nobody can be asked: one line on the program's real stderr and a note in every recording; it goes on.

On the thread that would have stopped.
"""
from __future__ import annotations

import contextlib
import sys

from pyfuncdbg.debug.stop import Stop
from pyfuncdbg.debug.whereabouts import whereabouts
from pyfuncdbg.record.recorder import recorders


def log_stop(stop: Stop) -> None:
    """Say that a stop was passed."""
    place = whereabouts(stop)
    say(f'not stopped {place}: {stop.reason} (nobody is there to ask)')
    call = stop.call
    for recorder in recorders():
        recorder.note('stop', {'stop': stop.number, 'phase': stop.phase, 'place': place, 'reason': stop.reason,
                               'call': call.id if call is not None else 0, 'thread': stop.thread, 'asked': False})


def say(text: str) -> None:
    """One line of ours on the real stderr, whatever the program has put in its place."""
    line = ''.join(char if char.isprintable() else char.encode('unicode_escape', 'surrogatepass').decode() for char in text)
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError):      # a closed terminal is no reason to end the program
            sys.__stderr__.write(f'pyfuncdbg: {line}\n')
            sys.__stderr__.flush()
