"""The inspector of a program that it started: its panes, and below them the program's screen.

While the program runs the keys are the program's, as in any terminal; at a stop they are the inspector's.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from textual import events, work
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.inspector.app import Inspector
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.hosting.program_pane import ProgramPane
from pyfuncdbg.ui.inspector.lists.messages import DeskChanged
from pyfuncdbg.ui.inspector.screen.command_line import CommandLine
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout

_SOON = 0.4
"""Seconds after which a program that goes on has the keys; a step is shorter."""


class HostedInspector(Inspector):
    """The app.

    Args:
        desk: Of the program.
        pane: Its screen.
        commands: Carried out at the first stop.
        past, keep, layout: As for any inspector.
    """

    CSS = """
    #program { height: 30%; min-height: 6; border-top: solid $panel-lighten-2; border-title-color: $text-muted; }
    #program:focus { border-top: solid $accent; border-title-color: $text; }
    .-screen #places { display: none; }
    .-screen #program { height: 1fr; }
    .-small #program { display: none; }
    """

    def __init__(self, desk: Desk, pane: ProgramPane, commands: Sequence[str] = (), *, past: tuple[str, ...] = (),
                 keep: Callable[[str], None] = lambda line: None, layout: Layout = FIRST) -> None:
        super().__init__(desk, past=past, keep=keep, layout=layout)
        self._terminal = pane
        self._commands = list(commands)
        self._handing: Timer | None = None
        self._handed = desk.live and desk.stop() is None

    def compose(self) -> ComposeResult:
        """The program's screen is below the panes, and has the keys from the first moment: the user may be typing."""
        for widget in super().compose():
            if widget.id == 'too_small':
                yield self._terminal
            yield widget

    @property
    def _at_once(self) -> bool:
        return super()._at_once and self.focused is not self._terminal      # the program gets its keys as they come

    def on_mount(self) -> None:
        """Run the commands at once if the program has stopped already."""
        if not self._handed:
            self.call_after_refresh(self._first_commands)

    # ------------------------------------------------------------------ keys
    @property
    def takes_all(self) -> bool:  # type: ignore[override]
        """Whether the program has the keys, which may be sent any text. Keys are read before there is a screen."""
        return bool(self.screen_stack) and self.focused is self._terminal and self._terminal.keeps_keys

    def on_desk_changed(self, message: DeskChanged) -> None:
        """A stop takes the keys; when it is over the program has them again."""
        kind = message.event.kind
        if self._handing is not None and kind in ('stopped', 'resumed', 'ended', 'lost'):
            self._handing.stop()
            self._handing = None
        if kind == 'resumed':
            self._handing = self.set_timer(_SOON, self._hand_over)
        elif kind == 'stopped':
            self._handed = False                # and the app gives them to a pane
            self.call_after_refresh(self._first_commands)
        elif kind in ('ended', 'lost') and self._handed:
            self._take_back()

    def focus_shown(self) -> None:
        """The keys go back to where they belong after a command or a look elsewhere."""
        if self._handed:
            self.screen.set_focus(self._terminal)
        else:
            super().focus_shown()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The user has clicked somewhere."""
        if not isinstance(event.widget, Input):
            self._handed = event.widget is self._terminal

    def _hand_over(self) -> None:
        """Keys are the program's, unless the user types a command just now."""
        line = self.query_one(CommandLine).line
        busy = line.has_focus and bool(line.value)
        if self.desk.live and self.desk.stop() is None and not busy and len(self.screen_stack) == 1:
            self._handed = True
            self.focus_shown()

    def _take_back(self) -> None:
        self._handed = False
        self.screen.set_class(False, '-screen')
        self.focus_shown()

    def on_program_pane_left(self) -> None:
        """Ctrl-] was typed there."""
        self._take_back()

    def on_program_pane_ended(self) -> None:
        """The program has no use for keys any more: they go back to the inspector, and other bindings apply."""
        if self.focused is self._terminal:
            self._take_back()
        self.screen.refresh_bindings()

    def on_program_pane_notified(self, message: ProgramPane.Notified) -> None:
        """The pane has something to tell."""
        self.say(message.text, 'yellow')

    def _first_commands(self) -> None:
        lines, self._commands = self._commands, []
        for line in lines:
            self.run_line(line)

    # ------------------------------------------------------------------ keys
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the program has the keys, it has all of them."""
        if self.focused is self._terminal and self._terminal.keeps_keys:
            return False
        return action == 'program' or super().check_action(action, parameters)

    def action_suspend(self) -> None:
        """A program in the pane would stop with us, without a visible reason."""
        self.say("Ctrl-Z would stop the program's terminal too: q leaves, and the program continues in the shell", 'yellow')

    def action_program(self) -> None:
        """To the program's screen; once more: let it fill the place of the panes, and back."""
        if self.screen.has_class('-screen') or self.focused is self._terminal:
            self.screen.toggle_class('-screen')
        self._handed = True
        self.focus_shown()

    def action_leave_inspector(self) -> None:
        """Leave; at a stop that is `quit`, as the user cannot be asked any more. Its later output goes to the terminal."""
        self._terminal.let_go()
        if self.desk.live and self.desk.stop() is not None:
            self._lines.cancel()                # it must end first
            self._quit(self.result.columns)
        else:
            super().action_leave_inspector()

    @work(thread=True, group='leave', exclusive=True, exit_on_error=False)
    def _quit(self, width: int) -> None:
        with contextlib.suppress(PyfuncdbgError):           # the program is gone
            self.desk.answer('quit', width)
        self.call_from_thread(self.exit, 0)
