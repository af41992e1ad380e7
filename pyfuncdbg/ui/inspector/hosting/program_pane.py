"""The pane in which a program shows its screen. While it has the focus, keys are the program's; Ctrl-] leaves it.

Main thread of the app. What the program writes is read on another thread, and drawn at most thirty times a second.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pyfuncdbg.ui.inspector.hosting.hosted_program import HostedProgram
from pyfuncdbg.ui.inspector.hosting.keystrokes import encode_key, encode_paste
from pyfuncdbg.ui.inspector.screen.keys import TO_PROGRAM

LEAVE = 'ctrl+right_square_bracket'
_PERIOD = 1 / 30
_CURSOR = Style(reverse=True)
_SCROLLING = ('pageup', 'pagedown', 'up', 'down', 'home', 'end')


class ProgramPane(ScrollView, can_focus=True):
    """A terminal.

    Args:
        program: The program.
        stopped: Whether the debugger holds it now.
        id: As any widget's.
        classes: As any widget's.
    """

    DEFAULT_CSS = """
    ProgramPane { background: $background; overflow-x: hidden; overflow-y: scroll; scrollbar-size: 1 1; }
    """
    class Left(Message):
        """Request of the user to have the keys back."""

    class Notified(Message):
        """There is something to tell the user."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class _Written(Message):
        """The program has written something."""

    class Ended(Message):
        """The program is over."""

    def __init__(self, program: HostedProgram, stopped: Callable[[], bool] = lambda: False, *, id: str | None = None,
                 classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._program = program
        self._stopped = stopped
        self._told = self._over = False
        self._end = 0
        self.border_title = Content('program')

    @property
    def keeps_keys(self) -> bool:
        """Whether keys are the program's while the pane has the focus, also those that the app has a use for."""
        return self._program.code is None       # the end is seen elsewhere on the screen before it is drawn here

    def on_mount(self) -> None:
        """Begin to listen."""
        self._program.start(self._changed, self._go)
        self._caption()

    def _go(self) -> None:
        """On a thread of the hosted program: it is time to leave."""
        with contextlib.suppress(RuntimeError):         # the user has just done so
            self.app.call_from_thread(self.app.exit, 0)

    def let_go(self) -> None:
        """The user leaves."""
        self._program.let_go()

    def _changed(self) -> None:
        """On a thread of the hosted program: something is new."""
        if not self._told:
            self._told = True
            self.post_message(self._Written())

    def on_program_pane__written(self) -> None:
        """Draw it soon, with what comes until then."""
        self.set_timer(_PERIOD, self._show)

    def _show(self) -> None:
        self._told = False
        # Where the end was, for the pane may have shrunk since: the live view above it grows.
        follows = self.scroll_offset.y >= min(self._end, self.max_scroll_y)
        self.virtual_size = Size(self.size.width, self._program.screen.height)
        if follows:
            self.scroll_end(animate=False, immediate=True)
            self._end = self.max_scroll_y
        self.refresh()
        if self._program.code is not None and not self._over:
            self._over = True
            self._caption()
            self.post_message(self.Ended())

    def _caption(self) -> None:
        if self._over:
            end_text = self._program.ending
        else:
            end_text = 'it has the keys; Ctrl-] takes them back' if self.has_focus else f'{TO_PROGRAM} gives it the keys'
        self.border_title = Content(f'program: {end_text}')

    # ------------------------------------------------------------------ drawing
    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        number = y + self.scroll_offset.y
        width = self.size.width
        strip = Strip(self._program.screen.segments(number))
        cursor = self._program.screen.cursor
        if cursor is not None and cursor[1] == number and self.has_focus and not self._over:
            strip = strip.adjust_cell_length(max(strip.cell_length, cursor[0] + 1))
            before, under, behind = strip.divide([cursor[0], cursor[0] + 1, max(strip.cell_length, cursor[0] + 1)])
            strip = Strip.join([before, Strip([Segment(part.text, (part.style or Style()) + _CURSOR) for part in under]),
                                behind])
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)

    def on_resize(self, event: events.Resize) -> None:
        """The program's terminal is as large as the pane."""
        size = self.scrollable_content_region.size
        if size.width > 1 and size.height > 0:
            self._program.resize(size.width, size.height)
            self._show()

    def on_focus(self) -> None:
        """The program has the keys."""
        self.call_later(self._caption)

    def on_blur(self) -> None:
        """The app has the keys."""
        self.call_later(self._caption)

    # ------------------------------------------------------------------ keys
    async def on_key(self, event: events.Key) -> None:
        """A key is the program's, but for the one that leaves, and those that scroll back."""
        if event.key in ('shift+pageup', 'shift+pagedown') or (self._over and event.key in _SCROLLING):
            self._scroll(event.key.removeprefix('shift+'))
        elif event.key == LEAVE or (self._over and event.key in ('escape', 'tab', 'shift+tab')):
            self.post_message(self.Left())
        elif not self.keeps_keys:
            return                              # the program reads no keys: the app gets them
        elif event.key in ('ctrl+c', 'ctrl+backslash') and self._stopped():
            self.post_message(self.Notified("the program is stopped: 'abort' ends the run, 'cont' continues"))
        else:
            if event.key == 'ctrl+z':
                self.post_message(self.Notified('Ctrl-Z does nothing: no shell could resume the program'))
            self.scroll_end(animate=False)
            self._program.type(encode_key(event.key, event.character, application=self._program.screen.application_keys))
        event.stop()
        event.prevent_default()

    def _scroll(self, key: str) -> None:
        {'pageup': self.scroll_page_up, 'pagedown': self.scroll_page_down, 'up': self.scroll_up, 'down': self.scroll_down,
         'home': self.scroll_home, 'end': self.scroll_end}[key](animate=False)

    def on_paste(self, event: events.Paste) -> None:
        """Type a pasted text into the program."""
        self._program.type(encode_paste(event.text, brackets=self._program.screen.brackets_paste))
        event.stop()


