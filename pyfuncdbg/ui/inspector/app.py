"""The inspector: panes that follow one call or stop, screens of commands, a command line. A process of its own.

Textual's main thread draws and takes keys; traces and programs are asked on worker threads, whose messages come back here.
"""
# long: Textual looks for the action of a key among the methods of the app
from __future__ import annotations

import os.path
from collections.abc import Callable
from typing import ClassVar, cast

from rich.console import RenderableType
from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input, Static

from pyfuncdbg.ui.inspector.desks.desk import Desk, Event, Reply
from pyfuncdbg.ui.inspector.lists.messages import (
    CallFound,
    CallSelected,
    CommandAnswered,
    DeskChanged,
    MessagePosted,
    while_open,
)
from pyfuncdbg.ui.inspector.lists.scrolling_lines import NOT_HERE, ScrollingLines
from pyfuncdbg.ui.inspector.panes.calls import CallList
from pyfuncdbg.ui.inspector.panes.scene import Follower, Scene
from pyfuncdbg.ui.inspector.panes.table import PANES
from pyfuncdbg.ui.inspector.panes.tape import tape_line
from pyfuncdbg.ui.inspector.panes.timeline import TimelinePane
from pyfuncdbg.ui.inspector.screen.answer_screen import AnswerScreen, is_short
from pyfuncdbg.ui.inspector.screen.arrangement import arrange
from pyfuncdbg.ui.inspector.screen.bars import BottomLine, MessageLine, PlaceBar
from pyfuncdbg.ui.inspector.screen.call_search import CALL, CallSearch, call_after, flagged_call_after
from pyfuncdbg.ui.inspector.screen.command_line import CommandLine
from pyfuncdbg.ui.inspector.screen.command_queue import CommandQueue
from pyfuncdbg.ui.inspector.screen.key_order import CARD_PATIENCE, PATIENCE, KeyByKey
from pyfuncdbg.ui.inspector.screen.keys import ELSEWHERE, IN_FUNCTION, RUNNING, acts_on_stop, bindings
from pyfuncdbg.ui.inspector.screen.palette import PaletteProvider
from pyfuncdbg.ui.inspector.screen.pane_set import Panes
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout, theme_of
from pyfuncdbg.ui.prompt.terminal_io.paste_limit import REFUSAL

_STEP = 0.3
"""Seconds that a step may take before the panes show a program that runs."""


class Inspector(KeyByKey):
    """The full-screen app.

    Args:
        desk: What answers: a saved trace or a program.
        past: Command lines of earlier sessions, the oldest first.
        keep: Keeps a command line for later sessions.
        layout: Theme and panes to begin with.

    Attributes:
        arrangement: Theme and panes at the end.
    """

    AUTO_FOCUS = None
    CSS_PATH = os.path.join(os.path.dirname(__file__), 'inspector.tcss')
    COMMANDS = App.COMMANDS | {PaletteProvider}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, desk: Desk, *, past: tuple[str, ...] = (), keep: Callable[[str], None] = lambda line: None,
                 layout: Layout = FIRST) -> None:
        super().__init__(layout)
        self._begun = self.arrangement = layout
        self.desk = desk
        self._past, self._keep = past, keep
        self._lines = CommandQueue(self, desk)
        self._call_search = CallSearch(self, desk)

    # ------------------------------------------------------------------ what is typed
    def refuse_paste(self) -> None:
        """Forget what is typed: it is the beginning of a text that is too long."""
        self.query_one(CommandLine).forget()
        self.say(REFUSAL, 'bold red')

    # ------------------------------------------------------------------ the screen
    def compose(self) -> ComposeResult:
        """Header, panes or a result, what was said, the command line, the keys."""
        yield PlaceBar()
        with ContentSwitcher(initial='panes', id='places'):
            yield Panes(self.desk, self._begun.pane)
            yield AnswerScreen(live=self.desk.live)
        yield Static(id='too_small')
        yield MessageLine()
        yield CommandLine(self.desk, self, self._past, self._keep)
        yield BottomLine()

    def on_mount(self) -> None:
        """Begin where something went wrong."""
        arrange(self.screen, self.size)
        self.screen.set_class(self._begun.zoomed, '-zoomed')
        self._title()
        self._show()
        self.desk.listen(self._heard)
        stop = self.desk.stop()
        if stop is not None:
            self.follow(Scene(stop=stop))
        else:
            self._call_search.begin(self.scene)

    def _heard(self, event: Event) -> None:
        """On the desk's thread."""
        self.post_message(DeskChanged(event))

    def on_resize(self, event: events.Resize) -> None:
        """Another size may need another arrangement."""
        arrange(self.screen, event.size)
        self._title()

    def _title(self) -> None:
        self.query_one(PlaceBar).tell(self.desk, self.scene, self.panes.info, self.panes.chosen)

    @property
    def panes(self) -> Panes:
        """All panes."""
        return self.query_one(Panes)

    @property
    def scene(self) -> Scene:
        """The scene that the panes show."""
        return self.panes.scene

    @property
    def result(self) -> AnswerScreen:
        """The widget for answers that need a screen."""
        return self.query_one(AnswerScreen)

    @property
    def shown(self) -> ScrollingLines | Follower:
        """The widget that is shown: a result, or the pane that was chosen."""
        return self.result if self.result.here else self.panes.sheet

    def follow(self, scene: Scene) -> None:
        """Let every pane show this; the card of a stop that is over goes."""
        self.panes.follow(scene)
        self._title()
        if scene.stop is None and self.result.history.leave_card():
            self._show()

    @while_open
    def on_panes_drawn(self) -> None:
        """The trace may hold more by now."""
        self._title()

    def say(self, text: str, style: str = '') -> None:
        """Put a few lines above the command line; '' takes them away."""
        self.query_one(MessageLine).say(text, style)

    # ------------------------------------------------------------------ commands
    def run_line(self, line: str) -> None:
        """Carry out a command line, after those before it."""
        if self.desk.live or line not in ('q', 'quit', 'exit'):
            self._lines.add(line)
            self._lines.go_on(self.result)
        else:
            self.exit(0)

    @while_open
    def _release(self) -> None:
        """The program has stopped, or runs on; or the app is being closed."""
        self._lines.held = False
        if self.scene.stop is not None and self.desk.stop() is None:
            self.follow(Scene(self.scene.call))
        self._lines.go_on(self.result)

    @while_open
    def on_command_answered(self, message: CommandAnswered) -> None:
        """Show an answer: a mistake or a short answer in the lines below the panes, a longer one on its own screen."""
        reply, drawn = message.reply, message.drawn
        endless = self._lines.answered(reply.later)
        lines_shown = [line for line in drawn.lines if line.text]
        if reply.error:
            self.say(f'{reply.line}: {reply.error}', 'bold red')
        elif self._adopted(reply):
            self.say('')
            self.action_pane(reply.command)
        elif reply.command in RUNNING or (not self.result.here and is_short(reply, lines_shown)):
            self.query_one(MessageLine).show(lines_shown)
            if reply.command in RUNNING:
                self._lines.held = True
                self.set_timer(_STEP, self._release)
            elif self.scene.stop is not None:           # the panes may have something else to show
                self.follow(Scene(self.scene.call, self.desk.stop()))
        else:
            self.say('')
            self.result.add(reply, drawn)
            self._show()
            if reply.command == 'call' and isinstance(reply.data, dict) and reply.data.get('number'):
                self.select_call(str(reply.data['number']))
        if endless:
            self.say(f'{reply.line}: {endless}', 'bold red')
        self._lines.go_on(self.result)

    def _adopted(self, reply: Reply) -> bool:
        """Whether a pane shows itself what a command lists."""
        return ((reply.command == 'calls' and self.query_one(CallList).adopt(reply.line))
                or (reply.command == 'timeline' and self.query_one(TimelinePane).adopt(reply.line)))

    def _show(self, *, panes: bool = False) -> None:
        """The answer that is to be seen, or the panes."""
        if panes:
            self.result.history.leave()
        self.query_one('#places', ContentSwitcher).current = 'result' if self.result.here else 'panes'
        if self.result.here:
            self.result.show_again()
        if not isinstance(self.focused, Input):         # a line is typed: what has come meanwhile does not end that
            self.focus_shown()

    def focus_shown(self) -> None:
        """The keys go there at once: those that are waiting already were meant for it."""
        self.screen.set_focus(cast(Widget, self.shown))
        self.screen.refresh_bindings()          # Textual does so after a refresh, which may come late

    def on_scrolling_lines_chosen(self, message: ScrollingLines.Chosen) -> None:
        """A line or word was chosen. A call that is not selected yet is followed, everything else is typed."""
        words = message.command.split()
        if words[:1] == ['call'] and not self.result.here and not self.scene.is_at(words[-1]):
            self.select_call(words[-1])
        else:
            self.query_one(CommandLine).remember(message.command)
            self.run_line(message.command)

    def select_call(self, name: str) -> None:
        """Select a call, by number or label: every pane follows."""
        self._call_search.seek(lambda desk, scene: desk.trace.call(name), self.scene)

    @while_open
    def on_call_selected(self, message: CallSelected) -> None:
        """The cursor of a list of calls rests on one; a list that is filling does not select the first call."""
        if self.scene != Scene() and not self.scene.is_at(message.key):
            self.select_call(message.key)

    @while_open
    def on_message_posted(self, message: MessagePosted) -> None:
        """Show the outcome of a search."""
        self.say(message.text)

    @while_open
    def on_call_found(self, message: CallFound) -> None:
        """Select the call; one that was not requested only while none is selected."""
        late = message.quiet and self.scene != Scene() and not (message.call and self.scene.is_at(message.call.number))
        if late or not self._call_search.is_current(message):
            return
        if message.call is not None:
            if message.quiet and not self.desk.live:
                self.say(message.why)
            self.follow(Scene(message.call, self.desk.stop()))
            if message.leave and self.result.here:
                self._show(panes=True)
        elif message.why:
            self.say(message.why, 'yellow')
        elif message.quiet:
            self.follow(Scene(None, self.desk.stop()))
        self._call_search.go_on(self.scene)

    @while_open
    def on_desk_changed(self, message: DeskChanged) -> None:
        """The program stopped, went on or said something; the trace has grown."""
        event = message.event
        if event.kind == 'stopped':
            self.say('')
            self._show(panes=True)
            self.follow(Scene(stop=event.stop))
            self._release()
            if (event.stop or {}).get('phase') in ('run', 'end'):
                self.run_line('stop')           # no source says as much as the card of the run
        elif event.kind == 'resumed':
            self.set_timer(_STEP, self._release)
        elif event.kind == 'reading':
            self._title()
        elif event.kind == 'grown':
            if self.scene == Scene():
                self._call_search.begin(self.scene)
            if self.scene.stop is None or self.desk.stop() is not None:
                self.panes.grown()
        else:
            self.say(event.text or {'ended': 'the program has ended', 'lost': 'the program is gone'}.get(event.kind, ''),
                     'bold red' if event.kind == 'lost' else '')
            if event.kind != 'log':
                self.follow(Scene(self.scene.call))
                self._call_search.begin(self.scene)

    # ------------------------------------------------------------------ keys
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that act on a program exist only where one runs; a line that is typed has all keys but two."""
        if action == 'typed' and parameters and acts_on_stop(line := str(parameters[0])):
            return self.desk.live and (line not in IN_FUNCTION or self._in_function)
        if action == 'explain':
            return not self.desk.live
        return action in ('leave', 'cancel', 'suspend') or not isinstance(self.focused, Input)

    @property
    def at_stop(self) -> bool:  # type: ignore[override]
        """Whether a thread has stopped."""
        return self.desk.stop() is not None

    @property
    def patience(self) -> float:  # type: ignore[override]
        """At the card of a run words are typed."""
        return CARD_PATIENCE if self.at_stop and not self._in_function else PATIENCE

    @property
    def _in_function(self) -> bool:
        return (self.desk.stop() or {'phase': 'run'}).get('phase') not in ('run', 'end')

    def action_explain(self, key: str) -> None:
        """A key that acts on stops, where there can be none."""
        self.say(ELSEWHERE[key], 'yellow')

    def action_typed(self, line: str) -> None:
        """A key that types a command: carried out, or offered to be completed."""
        if line.endswith(' '):
            self.query_one(CommandLine).begin(line)
        else:
            line = tape_line(self.desk.trace, self.scene.call) if line == 'tape' and self.scene.call is not None else line
            self.query_one(CommandLine).remember(line)
            self.run_line(line)

    def action_difference(self) -> None:
        """Show the changes in the selected tensor; where none is, the user names one: the call's output, say."""
        shown, call = self.shown, self.scene.call
        if isinstance(shown, ScrollingLines) and shown.tensor:
            self.action_typed(f'pt --diff {shown.tensor}')
        else:
            self.query_one(CommandLine).begin('pt --diff ' + (f'#{call.number}:0' if call and call.outputs else ''))

    def action_type(self) -> None:
        """To the command line."""
        self.query_one(CommandLine).begin()

    def action_search(self) -> None:
        """Search what is shown."""
        self.query_one(CommandLine).seek()

    def action_filter(self) -> None:
        """Filter what is shown: by its command, to be typed on; where that has no filter, by a text."""
        line, shown = self.shown.filter_line(), self.shown
        if line or not isinstance(shown, ScrollingLines):
            self.query_one(CommandLine).begin(line)
        else:
            self.query_one(CommandLine).narrow(shown.pattern)

    def narrow(self, text: str) -> None:
        """Show the rows that hold a text."""
        if isinstance(self.shown, ScrollingLines):
            self.shown.narrow(text)

    def search(self, text: str, by: int) -> None:
        """Find a text on the screen, or in the pane that was chosen last; a number that is not there is a call's."""
        self.say(said := self.shown.search(text, by))
        if by and CALL.fullmatch(text) and (said.endswith(NOT_HERE) or isinstance(self.shown, TimelinePane)):
            self._call_search.step(lambda desk, scene: desk.trace.call(text), self.scene, '')

    def action_call_by(self, by: int) -> None:
        """To the next call, or the one before."""
        self._call_search.step(lambda desk, scene: call_after(desk, scene, by), self.scene,
                               'this is the last call' if by > 0 else 'this is the first call')

    def action_call_with(self, what: str, by: int) -> None:
        """To the next call, or one before, that raised or gave NaN or infinity."""
        self._call_search.step(lambda desk, scene: flagged_call_after(desk, scene, by), self.scene,
                               f'no {"further" if by > 0 else "earlier"} call raised or gave NaN or infinity')

    def action_screen_back(self) -> None:
        """To the screen before."""
        self.result.history.back()
        self._show()

    def action_screen_forward(self) -> None:
        """To the screen after."""
        self.result.history.forward()
        self._show()

    def action_leave(self) -> None:
        """Break off what runs or waits; else to the panes."""
        self._call_search.drop()
        if self._lines.busy:
            self._break_off()
            return
        self.screen.set_class(False, '-zoomed')
        self.say('')
        self._show(panes=True)

    def action_cancel(self) -> None:
        """Break off the command that runs, or the line that is typed."""
        if isinstance(self.focused, Input) and not self._lines.asked:
            self.query_one(CommandLine).give_up()
        elif self._lines.busy:
            self._break_off()
        else:
            self.say('no program runs here; q leaves the inspector')

    def _break_off(self) -> None:
        waiting = self._lines.cancel()
        if waiting:
            self.say(f'not executed: {" ;; ".join(waiting)}')

    def action_pane(self, name: str) -> None:
        """To a pane."""
        self.panes.choose(name)
        self._show(panes=True)
        self._title()

    def action_pane_by(self, by: int) -> None:
        """To the next pane, or the one before."""
        names = [pane.name for pane in PANES]
        self.action_pane(names[(names.index(self.panes.chosen) + by) % len(names)])

    def action_zoom(self) -> None:
        """One pane on the whole screen, and back."""
        self.action_pane(self.panes.chosen)
        self.screen.toggle_class('-zoomed')

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End, and remember how the screen was arranged."""
        if self.query('Panes'):
            zoomed = self.screen_stack[0].has_class('-zoomed')
            self.arrangement = Layout(theme_of(self, self._begun), self.panes.chosen, zoomed)
        super().exit(result, return_code, message)

    def action_leave_inspector(self) -> None:
        """Leave; a program that runs goes on."""
        self.exit(0)
