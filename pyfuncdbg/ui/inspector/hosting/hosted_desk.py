"""The desk of a program that the inspector started: answers come from the program, after its end from its trace.

Worker threads of the app ask; a thread of the desk's own changes over.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.inspector.desks.desk import Desk, DeskRequest, Event, Reply
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk


class HostedDesk:
    """The desk of a running program, and later of its trace.

    Args:
        program: While it runs.
        path: Folder of its trace.
        title: What the user called it.

    Attributes:
        trace: Of the program, then of the folder.
        live: Whether the program runs.
        printed: Nothing: the program has a screen of its own.
    """

    printed = ''

    def __init__(self, program: Desk, path: str, title: str) -> None:
        self._program = program
        self._desk = program
        self._path = path
        self.title = title
        self.trace: Trace = program.trace
        self.live = True

    @property
    def share_read(self) -> float:
        """The share of the trace that is read."""
        return self._desk.share_read

    def finish_reading(self, request: DeskRequest | None = None) -> None:
        """Read the rest of the trace."""
        self._desk.finish_reading(request)

    def stop(self) -> dict[str, Any] | None:
        """The stop that commands act on now."""
        return self._desk.stop()

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        """Carry out a command line."""
        return self._desk.answer(line, width, request)

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        """Completions of a text at a position."""
        return self._desk.complete(text, position, request)

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Say what happens from now on, past the end of the program."""
        def hear(event: Event) -> None:
            if event.kind in ('ended', 'lost') and self.live:
                event = self._change_over(event, on_event)
            on_event(event)
        self._program.listen(hear)

    def _change_over(self, event: Event, on_event: Callable[[Event], None]) -> Event:
        """The program is over; its last calls may still be on the way to the disk."""
        try:
            saved = SavedDesk(self._path)
        except PyfuncdbgError as error:
            return Event(event.kind, text=f'{event.text}; {error}')
        self._desk, self.trace, self.live = saved, saved.trace, False
        saved.listen(on_event)
        on_event(Event('grown'))
        return event

    def close(self) -> None:
        """Give everything back; a program that runs goes on."""
        if not self.live:
            self._desk.close()
        self._program.close()
