"""The desk of a saved trace: commands are carried out in this process, on the thread that asks.

Made by `pyfuncdbg open`; a trace that still grows is looked at again twice a second.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from rich.text import Text

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.index.indexing import Progress
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.completion import completions
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.commands.execute import execute, name_of
from pyfuncdbg.ui.inspector.desks.desk import DeskRequest, Event, Reply

_PERIOD = 0.5
"""Seconds between two reads of a trace that may grow."""


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

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        """Open the trace; `progress` gets how far the reading has come.

        Raises:
            TraceError: There is none, or it cannot be read.
        """
        self._trace = Trace.open(path, progress)
        self.trace: Trace = self._trace
        self.title = os.fspath(path)
        self._closed = threading.Event()

    def stop(self) -> dict[str, Any] | None:
        """A saved trace has none."""
        return None

    def answer(self, line: str, width: int, request: DeskRequest | None = None) -> Reply:
        """Carry out a command line; one that has begun takes not long enough to be broken off."""
        name = name_of(line)
        if request is not None and request.broken_off:
            return Reply(line, name, Text(), None, 'interrupted')
        try:
            answer = execute(line, Context(self.trace, width=width))
            return Reply(line, answer.command.name, answer, plain(answer.result), later=answer.later)
        except PyfuncdbgError as error:
            return Reply(line, name, Text(), None, str(error))

    def complete(self, text: str, position: int, request: DeskRequest | None = None) -> tuple[list[str], int]:
        """Completions of a text at a position."""
        found = completions(text[:position], Context(self.trace))
        return list(found.words), found.start

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Say when the trace has grown: its program may run still."""
        threading.Thread(target=self._watch, args=(on_event,), name='pyfuncdbg trace', daemon=True).start()

    def _watch(self, on_event: Callable[[Event], None]) -> None:
        while not self._closed.wait(_PERIOD):
            try:
                if self._trace.refresh():
                    on_event(Event('grown'))
            except PyfuncdbgError as error:
                on_event(Event('lost', text=str(error)))
                return

    def close(self) -> None:
        """Close the trace."""
        self._closed.set()
        self._trace.close()
