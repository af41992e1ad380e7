"""Switch of the recordings of this process: off and on again in mid-run.

Used by the program, a command or a signal, on any thread. Calls that begin while a recording is off are not in its trace,
which says when that was; they are not counted.
"""
from __future__ import annotations

import _thread
import contextlib
import signal
from pathlib import Path
from typing import Any, Protocol

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.notice import say

NUMBER = signal.SIGUSR1 if hasattr(signal, 'SIGUSR1') else None


class Switchable(Protocol):
    """A recorder."""

    @property
    def path(self) -> Path:
        """Of its trace."""

    @property
    def is_paused(self) -> bool:
        """Whether it sees no calls now."""

    def pause(self) -> None:
        """See no calls from now on; those that run are recorded to their end."""

    def resume(self) -> None:
        """See them again."""


_recordings: list[Switchable] = []


def recordings() -> tuple[Switchable, ...]:
    """The recordings that have begun and not ended.

    Returns:
        In order of starting.
    """
    return tuple(_recordings)


def register(recorder: Switchable) -> None:
    """Let the user switch a recording.

    Args:
        recorder: It begins.
    """
    _recordings.append(recorder)


def unregister(recorder: Switchable) -> None:
    """Forget a recording; an unknown one is ignored.

    Args:
        recorder: It has ended, or is none of the user's.
    """
    with contextlib.suppress(ValueError):
        _recordings.remove(recorder)


def switch(on: bool | None = None) -> tuple[Switchable, ...]:
    """Switch all recordings.

    Args:
        on: On or off; None for the other way round, by the newest.

    Returns:
        The recordings.
    """
    recorders = recordings()
    if recorders:
        on = recorders[-1].is_paused if on is None else on
        for recorder in recorders:
            if on:
                recorder.resume()
            else:
                recorder.pause()
    return recorders


class SignalSwitch:
    """SIGUSR1 as the switch, unless the program has a handler of its own. Made on the main thread, before that runs."""

    def __init__(self) -> None:
        """Install it.

        Raises:
            TraceError: This system has no such signal, or whoever started the process has it ignored or handled.
        """
        if NUMBER is None:
            raise TraceError('--signal: this system has no SIGUSR1')
        before = signal.getsignal(NUMBER)
        if before is not signal.SIG_DFL:
            whose = 'is ignored here' if before is signal.SIG_IGN else 'has a handler'
            raise TraceError(f"--signal: SIGUSR1 {whose}, and that stays; switch with 'record off' at a prompt, or with "
                             "the recorder's pause()")
        signal.signal(NUMBER, self._heard)

    @property
    def is_replaced(self) -> bool:
        """Whether the program has installed another handler: that is the one which counts."""
        return NUMBER is not None and signal.getsignal(NUMBER) != self._heard

    def _heard(self, number: int, frame: Any) -> None:
        # On a thread of its own: the main thread may hold any lock of ours here.
        _thread.start_new_thread(_switch_and_say, ())

    def end(self) -> None:
        """Undo it, or say that the program has."""
        if self.is_replaced:
            say('the program has set a handler of SIGUSR1 after --signal: from then on the signal was the program\'s')
        elif NUMBER is not None:
            signal.signal(NUMBER, signal.SIG_DFL)


def _switch_and_say() -> None:
    known = switch()
    if known:
        say(f'recording is {"off" if known[-1].is_paused else "on"}, by SIGUSR1')
