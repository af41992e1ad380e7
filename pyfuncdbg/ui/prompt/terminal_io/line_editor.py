"""Line editor over prompt_toolkit, as IPython's: colours, completion by Tab, a history that outlives the session.

In the thread that `terminal.TerminalReader` makes for each line, on the terminal's device and not on the program's streams.
"""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style
from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.completion import Completions
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST
from pyfuncdbg.ui.commands.execute import is_for_python
from pyfuncdbg.ui.prompt.terminal_io.conversation import LineRequest
from pyfuncdbg.ui.prompt.terminal_io.paste_limit import limit_pastes
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_LINE

Complete = Callable[[str, Stop, str], Completions]

_STYLE = Style.from_dict({'prompt': 'bold ansicyan', 'command': 'bold', 'pygments.keyword': 'ansiblue bold',
                          'pygments.literal.string': 'ansigreen', 'pygments.literal.number': 'ansicyan',
                          'pygments.operator': 'ansimagenta', 'pygments.name.builtin': 'ansiblue',
                          'pygments.comment': 'ansibrightblack'})
"""Colours of the terminal's own palette, which can be read on dark and on light."""


class LineEditor:
    """One for the process; each stop uses it in turn.

    Args:
        screen: The terminal.
        complete: How a text could go on; called on the stopped thread.
    """

    def __init__(self, screen: Screen, complete: Complete) -> None:
        self._screen = screen
        self._complete = complete
        # No cursor position requests: their answers would reach a program that reads the terminal when a line is cancelled.
        output = Vt100_Output(screen.file, lambda: Size(*screen.size()), os.environ.get('TERM'), enable_bell=False,
                              enable_cpr=False)
        source = Vt100Input(screen.file)
        self._session: PromptSession[str] = PromptSession(
            history=history(), enable_history_search=True, lexer=_Colours(), style=_STYLE,
            include_default_pygments_style=False, completer=_Words(self), complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE, input=source, output=output)
        limit_pastes(self._session, source, screen.say)
        self._cancelled = False
        self._wanted = LineRequest()
        self.stop: Stop | None = None

    def edit(self, stop: Stop, request: LineRequest) -> str:
        """The line; see `terminal.Editor`."""
        self.stop, self._wanted = stop, request
        self._screen.settle()
        try:
            with guard_of(self._screen.descriptor).held(self._screen.descriptor, LEAVE_LINE):
                return self._session.prompt([('class:prompt', request.prompt)], handle_sigint=False,
                                            pre_run=self._end_if_cancelled)
        finally:
            self.stop, self._cancelled = None, False

    def cancel(self) -> None:
        """End the line that is being typed."""
        self._cancelled = True
        loop = self._session.app.loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):     # the loop has just been closed
                loop.call_soon_threadsafe(self._end_if_cancelled)

    def _end_if_cancelled(self) -> None:
        app = self._session.app
        if self._cancelled and app.is_running and not (app.future is None or app.future.done()):
            app.exit(exception=KeyboardInterrupt(), style='class:aborting')

    def words(self, text: str) -> Completions:
        """Completions, from the stopped thread."""
        stop = self.stop
        if stop is None:
            return Completions(len(text), ())
        try:
            return stop.do(lambda: self._complete(text, stop, self._wanted.before))
        except CommandError:                    # the thread has gone on meanwhile
            return Completions(len(text), ())


class _Words(Completer):
    """Asks the editor."""

    def __init__(self, editor: LineEditor) -> None:
        self._editor = editor

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        found = self._editor.words(text)
        return [Completion(word, found.start - len(text)) for word in found.words]


class _Colours(Lexer):
    """A command's name is bold; the rest is coloured as Python."""

    def __init__(self) -> None:
        self._python = PygmentsLexer(PythonLexer)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        of_python = self._python.lex_document(document)
        lines = document.lines

        def line(number: int) -> StyleAndTextTuples:
            text = lines[number] if number < len(lines) else ''
            if number or is_for_python(text):
                return of_python(number)
            blanks = len(text) - len(text.lstrip())
            end = blanks + len(text.split(None, 1)[0]) if text.strip() else 0
            rest = self._python.lex_document(Document(text[end:]))(0)
            return [('class:command', text[:end]), *rest]
        return line


def history() -> History:
    """The lines of earlier sessions, kept in the user's state folder; where that cannot be written, of this session only."""
    folder = Path(os.environ.get('XDG_STATE_HOME') or Path.home() / '.local' / 'state') / 'pyfuncdbg'
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        os.close(os.open(folder / 'history', os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    except OSError:
        return _OwnHistory()
    return _SharedHistory(str(folder / 'history'))


class _LineHistory(History):
    """History of lines, without any that is too long for one."""

    def append_string(self, string: str) -> None:
        if len(string) <= LONGEST:
            super().append_string(string)


class _OwnHistory(_LineHistory, InMemoryHistory):
    """History of this session."""


class _SharedHistory(_LineHistory, FileHistory):
    """A file that may become unwritable at any time."""

    def load_history_strings(self) -> Iterable[str]:
        return (line for line in super().load_history_strings() if len(line) <= LONGEST)

    def store_string(self, string: Any) -> None:
        with contextlib.suppress(OSError):
            super().store_string(string)
