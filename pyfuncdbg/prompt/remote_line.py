"""Typing a line for a program elsewhere: history, and completion that the program is asked for.

On the main thread of `pyfuncdbg connect`. What other threads print meanwhile comes above the line.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from pyfuncdbg.errors import CommandError
from pyfuncdbg.prompt.conversation import PROMPT
from pyfuncdbg.prompt.line_editor import history
from pyfuncdbg.prompt.remote import Connection


class _Completer(Completer):
    """Asks the program."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        try:
            answer = self._connection.ask(complete=document.text, position=document.cursor_position)
        except CommandError:                    # it is gone
            return
        start = answer.get('start', 0) - document.cursor_position
        for text in answer.get('completions', ()):
            yield Completion(text, start)


class LineEditor:
    """Reads lines from a terminal, within `with`."""

    def __init__(self, connection: Connection) -> None:
        self._session: PromptSession[str] = PromptSession(completer=_Completer(connection), complete_in_thread=True,
                                                          complete_while_typing=False, history=history(),
                                                          complete_style=CompleteStyle.READLINE_LIKE)
        self._stack = ExitStack()
        self._over = False

    def __enter__(self) -> LineEditor:
        self._stack.enter_context(patch_stdout(raw=True))
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()

    def read(self) -> str:
        """The next line; EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C."""
        if self._over:
            raise EOFError
        return self._session.prompt(PROMPT)

    def end(self) -> None:
        """Break off the line, from another thread."""
        self._over = True
        app = self._session.app
        loop = app.loop
        if loop is not None and app.is_running:
            loop.call_soon_threadsafe(lambda: app.exit(exception=EOFError()) if app.is_running else None)
