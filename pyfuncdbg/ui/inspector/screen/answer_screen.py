"""The screen of an answer, and those that were seen before it. Main thread of the app; a worker thread draws."""
from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, work
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from pyfuncdbg.ui.inspector.desks.desk import Reply
from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing, DrawnLine, DrawnPicture, PicturePart, drawing, head_of
from pyfuncdbg.ui.inspector.lists.list_command import ListLine, key_at, list_line
from pyfuncdbg.ui.inspector.lists.scrolling_lines import ScrollingLines
from pyfuncdbg.ui.inspector.panes.stop_panes import offers_of
from pyfuncdbg.ui.inspector.screen.key_help import key_help
from pyfuncdbg.ui.views.escape import one_line

_SHORT = 4
"""Lines of an answer that needs no screen of its own."""
MOST = 50


def is_short(reply: Reply, lines: Sequence[DrawnLine]) -> bool:
    """Whether an answer needs no screen: one of a few lines, and no list, which can be sorted and filtered."""
    asked = list_line(reply.line)
    return len(lines) <= _SHORT and (asked is None or not (asked.keys or asked.narrowing))


class AnswerScreen(ScrollingLines):
    """A sheet for answers.

    Args:
        live: Whether a program runs: more keys are explained then.

    Attributes:
        history: The answers that were shown, and which of them is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('o', 'sort(1)', 'sort by the next column', show=False),
        Binding('O', 'sort(0)', 'sort the other way round', show=False)]

    class Redrawn(Message):
        """An answer was drawn for another width, or once more."""

        def __init__(self, reply: Reply, drawn: Drawing) -> None:
            super().__init__()
            self.reply, self.drawn = reply, drawn

    def __init__(self, *, live: bool) -> None:
        super().__init__('result', id='result')
        self._live = live
        self.history = ScreenHistory()

    @property
    def here(self) -> bool:
        """Whether an answer is shown, not the panes."""
        return self.history.position >= 0

    def page(self, reply: Reply) -> DrawnPicture:
        """The screen of an answer; the list of commands begins with the keys. On any thread."""
        keys = [PicturePart(key_help(live=self._live))] if reply.command == 'help' and not reply.line.split()[1:] else []
        offers = offers_of(reply.data) if reply.command == 'stop' else ()
        return DrawnPicture(reply.line, [*keys, PicturePart(reply.shown, offers=offers)])

    def add(self, reply: Reply, drawn: Drawing) -> None:
        """Show another answer, all of it."""
        self.history.add(reply)
        self.pattern = ''
        self.show(drawn, keep=False)

    def show(self, drawing: Drawing, *, keep: bool = True) -> None:
        """With the place among the screens in the frame."""
        super().show(drawing, keep=keep)
        place = f'  ({self.history.position + 1} of {len(self.history)})' if len(self.history) > 1 else ''
        offer = one_line(drawing.lines[drawing.chosen].chosen, 60) if drawing.chosen >= 0 else ''
        self.border_title = Content(one_line(drawing.title, 120) + place + (f'  Enter: {offer}' if offer else ''))

    def show_again(self) -> None:
        """Draw the answer that is to be seen now."""
        reply = self.history.current
        if reply is not None:
            self._draw(reply, self.columns)

    @work(thread=True, group='redraw', exclusive=True, exit_on_error=False)
    def _draw(self, reply: Reply, width: int) -> None:
        self.post_message(self.Redrawn(reply, drawing(self.page(reply), width)))

    def on_answer_screen_redrawn(self, message: Redrawn) -> None:
        """Show it, unless the user is elsewhere by now."""
        message.stop()
        if message.reply is self.history.current:
            self.show(message.drawn)

    # ------------------------------------------------------------------ lists
    @property
    def _list(self) -> ListLine | None:
        return list_line(self.history.current.line) if self.history.current is not None else None

    def filter_line(self) -> str:
        """The command of a list with its filter at the end, to be typed on."""
        asked = self._list
        return asked.to_narrow() if asked is not None else ''

    @property
    def tensor(self) -> str:
        """The tensor of the line, or the one that the whole screen is about."""
        words = self.drawing.title.split()
        return words[1] if words[:1] == ['pt'] and len(words) == 2 else super().tensor

    def header_line(self, y: int, index: int) -> str:
        """The header of a list types the command for its order; a second time for the other way round."""
        list_line = self._list
        if list_line is None or not list_line.keys or y != head_of(self.drawing) - 2:
            return ''
        key = key_at(self.drawing.lines[y].text, index, list_line.keys)
        return list_line.sorted_by(key) if key else ''

    def action_sort(self, by: int) -> None:
        """By the next key, or (0) the other way round; no list has other keys."""
        list_line = self._list
        if list_line is None or not list_line.keys or not (by or list_line.reversing):
            raise SkipAction
        self.post_message(self.Chosen(list_line.sorted_after(by)))

    def on_resize(self, event: events.Resize) -> None:
        """An answer is drawn for a width."""
        self.show_again()


class ScreenHistory:
    """Answers that have a screen; before the first are the panes.

    Attributes:
        position: Of the screen that is shown, -1 for the panes.
    """

    def __init__(self) -> None:
        self._seen: list[Reply] = []
        self.position = -1

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def current(self) -> Reply | None:
        """The screen that is shown, None for the panes."""
        return self._seen[self.position] if self.position >= 0 else None

    def add(self, reply: Reply) -> None:
        """Another screen: it follows the one that is shown; those further on are forgotten."""
        if self.position >= 0:
            del self._seen[self.position + 1:]
        self._seen = [*self._seen, reply][-MOST:]
        self.position = len(self._seen) - 1

    def back(self) -> Reply | None:
        """One back; before the first are the panes."""
        self.position = max(-1, self.position - 1)
        return self.current

    def forward(self) -> Reply | None:
        """One forward, if there is one."""
        self.position = min(len(self._seen) - 1, self.position + 1)
        return self.current

    def leave(self) -> Reply | None:
        """To the panes; `last` comes back to where this was."""
        self.position = -1
        return None

    def leave_card(self) -> bool:
        """To the panes if the card of a stop is shown, which says nothing of a program that has gone on; whether it was."""
        is_shown = self.current is not None and self.current.command == 'stop'
        if is_shown:
            self.leave()
        return is_shown
