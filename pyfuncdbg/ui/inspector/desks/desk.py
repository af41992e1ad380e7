"""The desk: Protocol between the inspector and a running program or a saved trace, which answers commands.

The app calls it on worker threads only, and makes and breaks off requests on its main thread; `listen` hands events over on
a thread of the desk's own.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rich.console import RenderableType

from pyfuncdbg.observers.record.trace import Trace


class DeskRequest:
    """A command line or a completion that a desk is asked for.

    It may be broken off before and after the desk has begun.

    Attributes:
        broken_off: Whether the answer is no longer wanted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._way: Callable[[], None] | None = None
        self.broken_off = False

    def break_off(self) -> None:
        """The answer is no longer wanted. Never blocks for long."""
        with self._lock:
            self.broken_off, way = True, self._way
        if way is not None:
            way()

    def under_way(self, way: Callable[[], None]) -> None:
        """It has begun, and this breaks it off: at once, where that was asked for already."""
        with self._lock:
            self._way = way
            too_late = self.broken_off
        if too_late:
            way()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one command line.

    Attributes:
        line: As typed.
        command: Canonical name of the command, '' if none was recognised.
        shown: What the view drew.
        data: The same as plain data, as `--json` gives it.
        error: The user's mistake, one message; '' if there was none.
        later: Lines to carry out next: the rest of an alias.
    """

    line: str
    command: str
    shown: RenderableType
    data: Any
    error: str = ''
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event that no command of the inspector caused.

    Attributes:
        kind: 'grown': the trace has more calls. 'reading': more of it is read. 'ended', 'lost': the program is over, or was
            killed.
        stop: The stop, as `socket.remote.described` gives it.
        text: Of a log line, or why something ended.
    """

    kind: Literal['stopped', 'resumed', 'log', 'grown', 'reading', 'ended', 'lost']
    stop: dict[str, Any] | None = None
    text: str = ''


class Desk(Protocol):
    """A saved trace, or a program that runs.

    Attributes:
        trace: For panes and lists; thread-safe.
        live: Whether a program runs behind it.
        title: What the header shows: the trace's folder, or the program.
        printed: What the program has written to its terminal while that was ours; '' where it is not lent.
        share_read: The share of the trace that is read; below 1 lists hold less than the trace does.
    """

    trace: Trace
    live: bool
    title: str
    printed: str

    @property
    def share_read(self) -> float: ...

    def stop(self) -> dict[str, Any] | None:
        """The stop that commands act on now, None without one; never blocks for long."""

    def finish_reading(self, request: DeskRequest | None = None) -> None:
        """Block until all of the trace is read that there was at first.

        Args:
            request: Breaks it off; None if that cannot happen.
        """

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        """Carry out a command line; blocks until it is done. The user's mistakes are in the reply, never raised.

        Args:
            line: As typed.
            width: Columns for what is drawn.
            request: Breaks it off; None if that cannot happen.
        """

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        """The words that could stand at a position of the text, and where what they replace begins; blocks like `answer`."""

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Call `on_event` for every event from now on, on a thread of the desk's own."""

    def close(self) -> None:
        """Give everything back; a program that runs goes on."""
