"""Queue of command lines, run one at a time on worker threads; the app gets each answer as `CommandAnswered`.

Everything else on the main thread of the app.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.text import Text
from textual.app import App

from pyfuncdbg.ui.commands.engine.answer import MOST_LATER
from pyfuncdbg.ui.inspector.desks.desk import Desk, DeskRequest, Reply
from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing, drawing
from pyfuncdbg.ui.inspector.lists.messages import CommandAnswered
from pyfuncdbg.ui.inspector.screen.answer_screen import AnswerScreen
from pyfuncdbg.ui.inspector.screen.pane_set import mistake


class CommandQueue:
    """Lines in the order of typing.

    Args:
        app: Gets the answers as messages.
        desk: What answers.

    Attributes:
        asked: The line that is carried out now, '' if none is.
        held: Whether the others wait although none is: the program goes on to its next stop, for which they are meant.
    """

    def __init__(self, app: App[Any], desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._lines: deque[str] = deque()
        self._rest: deque[str] = deque()        # remaining commands of the alias typed last
        self._taken = 0                         # commands run since then
        self._request = DeskRequest()               # of the running line
        self.asked = ''
        self.held = False

    def add(self, line: str) -> None:
        """One more."""
        self._lines.append(line)

    def answered(self, later: Sequence[str]) -> str:
        """The line is carried out; what it has left to do comes before the others.

        Returns:
            Why that is left out, '' mostly: a program could go on for ever.
        """
        self.asked = ''
        if self._taken + len(self._rest) + len(later) > MOST_LATER:
            self._rest.clear()
            return f'a line expands to more than {MOST_LATER:,} commands; the rest is dropped'
        self._rest.extendleft(reversed(later))
        return ''

    def go_on(self, result: AnswerScreen) -> None:
        """Carry out the next command unless one is running; drawn as this widget shows it."""
        if not self.asked and not self.held and (self._rest or self._lines):
            self._taken = self._taken + 1 if self._rest else 0
            self.asked, self._request = (self._rest or self._lines).popleft(), DeskRequest()
            self._app.run_worker(partial(self._answer, self.asked, self._request, result, result.columns), thread=True,
                                 group='commands', exit_on_error=False)

    @property
    def busy(self) -> bool:
        """Whether a line is carried out, or waits."""
        return bool(self.asked or self._rest or self._lines)

    def cancel(self) -> tuple[str, ...]:
        """Break off the one that is carried out. At once: later it could be the next one.

        Returns:
            The lines that wait, and will not be carried out: where none is carried out, or its end is near already.
        """
        if self.asked and not self._request.broken_off:
            self._request.break_off()
            return ()
        waiting = *self._rest, *self._lines
        self._rest.clear()
        self._lines.clear()
        return waiting

    def _answer(self, line: str, request: DeskRequest, result: AnswerScreen, width: int) -> None:
        try:
            reply = self._desk.answer(line, width, request)
            drawn = drawing(result.page(reply), width)
        except Exception as error:              # an internal error in a command: report it in one line and continue
            reply = Reply(line, '', Text(), None, mistake(error).plain)
            drawn = Drawing(line, ())
        self._app.post_message(CommandAnswered(reply, drawn))
