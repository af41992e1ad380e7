"""Line editor for a program elsewhere: history, and completion by the program.

On the main thread of `pyfuncdbg connect`. What other threads print meanwhile comes above the line.
"""
from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output import create_output
from prompt_toolkit.shortcuts import CompleteStyle

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.prompt.connecting.connection import Connection, completions_of
from pyfuncdbg.ui.prompt.terminal_io.conversation import PROMPT
from pyfuncdbg.ui.prompt.terminal_io.line_editor import history
from pyfuncdbg.ui.prompt.terminal_io.paste_limit import limit_pastes
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_LINE

_PATIENCE = 2.0
"""Seconds to wait for completions, in which no key is read."""
_MOST_WAITING = 1 << 16
"""Characters that wait to be printed above the line; who prints more waits, too."""


class _Completer(Completer):
    """Asks the program."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        position = document.cursor_position
        try:
            answer = self._connection.ask(patience=_PATIENCE, complete=document.text, position=position)
        except CommandError:                    # it is gone, or busy
            return
        words, start = completions_of(answer, position)
        yield from (Completion(word, start - position) for word in words)


class RemoteLineEditor(io.TextIOBase):
    """Reads lines from a terminal; within `with` it is `sys.stdout`, and what is printed comes above the line.

    prompt_toolkit's own `patch_stdout` prints from a thread that may write just when the line is first drawn: the line is
    gone then until a key is pressed.
    """

    def __init__(self, connection: Connection) -> None:
        source = Vt100Input(sys.stdin)
        self._session: PromptSession[str] = PromptSession(
            completer=_Completer(connection), complete_in_thread=True, complete_while_typing=False, history=history(),
            complete_style=CompleteStyle.READLINE_LIKE, input=source, output=create_output(sys.__stdout__))
        limit_pastes(self._session, source, lambda text: _print(text + '\n'))
        self._lock = threading.Condition()
        self._reading = self._due = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[str] = []
        self._size = 0
        self._redirect = redirect_stdout(self)
        self._over = False

    def __enter__(self) -> RemoteLineEditor:
        self._redirect.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._redirect.__exit__(*exception)

    # ------------------------------------------------------------------ printing, from any thread
    def write(self, text: str) -> int:
        """Print at once, or above the line that is being typed; a thread that prints much waits until it is printed."""
        with self._lock:
            self._lock.wait_for(lambda: self._size < _MOST_WAITING or not self._reading)
            if not self._reading:
                _print(text)
                return len(text)
            self._waiting.append(text)
            self._size += len(text)
            loop = None if self._due else self._loop
            self._due = self._due or loop is not None
        if loop is not None:
            with suppress(RuntimeError):        # the line has just ended: `read` prints what waits
                loop.call_soon_threadsafe(self._above)
        return len(text)

    def _above(self) -> None:
        """On the loop of the line: print what waits."""
        with self._lock:
            self._due = False
            text = self._taken()
        if text:
            run_in_terminal(lambda: _print(text))

    def _taken(self) -> str:
        """Take the waiting text; under the lock."""
        text = ''.join(self._waiting)
        self._waiting.clear()
        self._size = 0
        self._lock.notify_all()
        return text

    # ------------------------------------------------------------------ reading
    def read(self, prompt: str = PROMPT) -> str:  # type: ignore[override]
        """The next line; EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C."""
        if self._over:
            raise EOFError
        with self._lock:
            self._reading = True
        try:
            with guard_of(0).held(0, LEAVE_LINE):
                return self._session.prompt(prompt, pre_run=self._begun)
        finally:
            with self._lock:
                self._reading, self._loop, self._due = False, None, False
                _print(self._taken())

    def _begun(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            self._loop = loop
        loop.call_soon(self._above)

    def end(self) -> None:
        """Break off the line, from another thread."""
        self._over = True
        app = self._session.app
        loop = app.loop
        if loop is not None and app.is_running:
            loop.call_soon_threadsafe(lambda: app.exit(exception=EOFError()) if app.is_running else None)


def _print(text: str) -> None:
    if text and sys.__stdout__ is not None:
        with suppress(BrokenPipeError):
            sys.__stdout__.write(text)
            sys.__stdout__.flush()
