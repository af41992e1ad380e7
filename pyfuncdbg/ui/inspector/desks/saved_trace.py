"""The desk of a saved trace: commands are carried out in this process, on the thread that asks.

Made by `pyfuncdbg open`; a trace that still grows is looked at again twice a second. The rest of a long one is read while
its first calls are shown.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from rich.text import Text

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.completion import completions
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.commands.execute import execute, name_of
from pyfuncdbg.ui.inspector.desks.desk import DeskRequest, Event, Reply

_PERIOD = 0.5
"""Seconds between two reads of a trace that may grow."""
_PART, _PAUSE = 0.05, 0.01
"""Seconds of reading between which queries have their turn, and how long that is."""
_GROWTH = 3.0
"""How many times as much is read before lists are made anew."""


class SavedDesk:
    """A trace on disk.

    Attributes:
        trace: Open until `close`.
        live: No program runs behind it.
        title: The folder.
        printed: Nothing.
    """

    live = False
    printed = ''

    def __init__(self, path: str | os.PathLike[str], patience: float | None = None) -> None:
        """Open the trace.

        What is not read after `patience` seconds is read later, by `listen` and by commands.

        Raises:
            TraceError: There is none, or it cannot be read.
        """
        self._trace = Trace.open(path, patience=patience)
        self.trace: Trace = self._trace
        self.title = os.fspath(path)
        self._closed = threading.Event()
        self._on_event: Callable[[Event], None] | None = None

    def stop(self) -> dict[str, Any] | None:
        """A saved trace has none."""
        return None

    @property
    def share_read(self) -> float:
        """The share of the trace that is read."""
        return self._trace.share_read

    def finish_reading(self, request: DeskRequest | None = None) -> None:
        """Read the rest; queries of other threads have their turn meanwhile."""
        while self.share_read < 1 and not (request is not None and request.broken_off) and not self._closed.wait(_PAUSE):
            self._trace.refresh(patience=_PART)

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        """Carry out a command line on the whole trace; one that has begun takes not long enough to be broken off."""
        name = name_of(line)
        try:
            self.finish_reading(request)
            if request is not None and request.broken_off:
                return Reply(line, name, Text(), None, 'interrupted')
            answer = execute(line, Context(self.trace, width=width, announce=self._announce))
            return Reply(line, answer.command.name, answer, plain(answer.result), later=answer.later)
        except PyfuncdbgError as error:
            return Reply(line, name, Text(), None, str(error))

    def _announce(self, text: str) -> None:
        if self._on_event is not None:
            self._on_event(Event('log', text=text))

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        """Completions of a text at a position."""
        found = completions(text[:position], Context(self.trace))
        return list(found.words), found.start

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Say when the trace has grown: its program may run still."""
        self._on_event = on_event
        threading.Thread(target=self._watch, args=(on_event,), name='pyfuncdbg trace', daemon=True).start()

    def _watch(self, on_event: Callable[[Event], None]) -> None:
        shown = self.share_read
        while not self._closed.wait(_PAUSE if shown < 1 else _PERIOD):
            try:
                grown, share = self._trace.refresh(patience=_PART), self.share_read
                if (grown and share == 1) or shown < share == 1 or share > shown * _GROWTH:
                    shown = share
                    on_event(Event('grown'))
                elif share < 1:
                    on_event(Event('reading'))
            except PyfuncdbgError as error:
                on_event(Event('lost', text=str(error)))
                return

    def close(self) -> None:
        """Close the trace."""
        self._closed.set()
        self._trace.close()
