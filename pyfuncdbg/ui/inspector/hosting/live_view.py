"""`pyfuncdbg run --live`: a program and its live figures, without the debugger.

One worker thread reads the growing trace, at most a tenth of the time; the program itself is asked nothing.
"""
from __future__ import annotations

import time
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Footer, Static
from textual.worker import Worker, get_current_worker

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.reports.live_counts import LiveCounter, LiveCounts
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.inspector.hosting.hosted_program import HostedProgram
from pyfuncdbg.ui.inspector.hosting.program_pane import ProgramPane
from pyfuncdbg.ui.inspector.screen.full_screen import FullScreen
from pyfuncdbg.ui.inspector.screen.keys import TO_PROGRAM
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.reports.live_counts import live_counts_view

_PERIOD = 0.5
"""Seconds between two looks."""
_SHARE = 10
"""A look may take this part of the time."""
_STALE = 2.0
"""Seconds after which figures are marked as old."""


class LiveView(FullScreen):
    """The app.

    Args:
        path: Folder of the trace, which may still be about to come.
        title: What the user called the program.
        program: The program.
        layout: Has the theme.
    """

    CSS = """
    #header { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    #counts { height: auto; max-height: 60%; padding: 0 1; }
    #program { height: 1fr; min-height: 5; border-top: solid $panel-lighten-2; border-title-color: $text-muted; }
    #program:focus { border-top: solid $accent; border-title-color: $text; }
    #said { height: auto; padding: 0 1; color: $warning; display: none; }
    .-screen #counts { display: none; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(TO_PROGRAM, 'program', "program's screen", show=True), Binding('f2', 'shade', 'light', key_display='F2'),
        Binding('ctrl+q', 'quit', 'quit', show=False, priority=True), Binding('q', 'quit', 'quit')]

    class CountsTaken(Message):
        """The counts at a time of the monotonic clock, or the reason why there are none."""

        def __init__(self, counts: LiveCounts | None, at: float, why: str = '') -> None:
            super().__init__()
            self.counts, self.at, self.why = counts, at, why

    def __init__(self, path: str, title: str, program: HostedProgram, layout: Layout = FIRST) -> None:
        super().__init__(layout)
        self._path = path
        self._called = one_line(title, 60)
        self._program = program
        self._counts: LiveCounts | None = None
        self._taken = 0.0
        self._why = ''                          # it cannot be taken any more
        self._seldom = 0.0                      # seconds that the last look took

    takes_all = True

    def compose(self) -> ComposeResult:
        """Numbers above, the program below."""
        yield Static(id='header', markup=False)
        with VerticalScroll(id='counts'):
            yield Static(id='numbers', markup=False)
        yield ProgramPane(self._program, id='program')
        yield Static(id='said', markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """The program has the keys."""
        self._caption()
        self._terminal.focus()
        self.set_interval(_PERIOD, self._redraw)
        self._look()

    @property
    def _terminal(self) -> ProgramPane:
        return self.query_one(ProgramPane)

    def _caption(self) -> None:
        state = self._program.ending or 'RUNNING'
        self.query_one('#header', Static).update(f'pyfuncdbg  {self._called}  {state}  {one_line(self._path, 60)}')

    @work(thread=True, exit_on_error=False)
    def _look(self) -> None:
        """On a thread of its own, until the app ends: read the counts again and again."""
        worker = get_current_worker()
        while not worker.is_cancelled:
            try:
                self._follow(worker)
            except PyfuncdbgError as error:     # shown beside the last figures; the trace may be readable again later
                self.post_message(self.CountsTaken(None, time.monotonic(), str(error)))
                if self._program.code is not None:
                    return
                time.sleep(_PERIOD)

    def _follow(self, worker: Worker[None]) -> None:
        """Look at the trace until the app ends.

        Raises:
            TraceError: It cannot be read.
        """
        with Trace.open(self._path) as trace:
            counter = LiveCounter(trace, self._program.pid)
            self.post_message(self.CountsTaken(counter.take(), time.monotonic()))
            over = False
            while not worker.is_cancelled:
                before, over = over, self._program.code is not None
                started = time.monotonic()
                if trace.refresh() or not before:
                    self.post_message(self.CountsTaken(counter.take(), started))
                self._seldom = time.monotonic() - started
                wait = max(_PERIOD, _SHARE * self._seldom)
                while wait > 0 and not worker.is_cancelled and (over or self._program.code is None):
                    time.sleep(min(wait, 0.1))
                    wait -= 0.1

    def on_live_view_counts_taken(self, message: CountsTaken) -> None:
        """Show it."""
        self._caption()
        self._why = message.why
        if message.counts is not None:
            self._counts, self._taken = message.counts, message.at
        self._draw()

    def _redraw(self) -> None:
        """Figures get old by themselves."""
        if self._why or time.monotonic() - self._taken > _STALE:
            self._draw()

    def _draw(self) -> None:
        """The figures, and how old they are if they are not of now."""
        if self._counts is None:
            if self._why:
                self.say(self._why)
            return
        old = 0.0 if self._counts.over else time.monotonic() - self._taken
        seldom = f'reading the trace takes {self._seldom:.1f} s, so it is read less often'
        why = self._why or ('the trace is being read' if self._seldom <= _PERIOD else seldom)
        stale = bool(self._why) or old > _STALE
        rows = max(3, self.size.height * 6 // 10 - 6)
        self.query_one('#numbers', Static).update(
            live_counts_view(self._counts, rows, old=old if stale else 0.0, why=why if stale else ''))

    def say(self, text: str, style: str = '') -> None:
        """A line above the keys."""
        said = self.query_one('#said', Static)
        said.display = bool(text)
        said.update(Text(visible(text), overflow='fold'))

    # ------------------------------------------------------------------ keys
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the program has the keys, it has all of them."""
        return not (isinstance(self.focused, ProgramPane) and self.focused.keeps_keys)

    def on_program_pane_left(self) -> None:
        """Ctrl-] was typed there."""
        self._free()

    def on_program_pane_ended(self) -> None:
        """The program has no use for keys any more."""
        self._caption()
        self._free()

    def on_program_pane_notified(self, message: ProgramPane.Notified) -> None:
        """The pane has something to tell."""
        self.say(message.text)

    def _free(self) -> None:
        self.screen.set_class(False, '-screen')
        self.query_one('#counts').focus()

    def action_program(self) -> None:
        """To the program's screen; once more: all of it."""
        if self._terminal.has_focus or self._program.code is not None:
            self.screen.toggle_class('-screen')
        self._terminal.focus()

    async def action_quit(self) -> None:
        """Leave; a program that runs goes on."""
        self._program.let_go()
        await super().action_quit()
