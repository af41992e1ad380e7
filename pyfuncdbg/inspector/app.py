"""The inspector: panes that follow one call or stop, screens of commands, a command line. A process of its own.

Textual's main thread draws and takes keys; traces and programs are asked on worker threads, whose messages come back here.
"""
from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Footer, Static

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.inspector import place_bar
from pyfuncdbg.inspector.command_line import CommandLine
from pyfuncdbg.inspector.desk import Desk, Event, Reply
from pyfuncdbg.inspector.key_help import key_help
from pyfuncdbg.inspector.keys import RUNNING, acts_on_stop, bindings
from pyfuncdbg.inspector.moves import call_after, flagged_after, opening_call
from pyfuncdbg.inspector.palette import Everything
from pyfuncdbg.inspector.panes.table import PANES
from pyfuncdbg.inspector.picture import Drawing, Part, Picture, drawing
from pyfuncdbg.inspector.scene import Scene
from pyfuncdbg.inspector.sheet import Sheet
from pyfuncdbg.inspector.visited import Visited
from pyfuncdbg.record.records import CallRecord, TraceInfo
from pyfuncdbg.views.escape import one_line, visible

WIDE = (110, 34)
"""Columns and rows from which on all panes are seen at once."""
SMALLEST = (40, 12)
_SHORT = 4
"""Lines of an answer that needs no screen of its own."""


class Inspector(App[int]):
    """The full-screen app.

    Args:
        desk: What answers: a saved trace or a program.
        program: Makes the pane in which a program shows its own screen, if it runs under a terminal of ours.
        past: Command lines of earlier sessions, the oldest first.
        keep: Keeps a command line for later sessions.
    """

    TITLE = 'pyfuncdbg'
    CSS_PATH = 'inspector.tcss'
    COMMANDS = App.COMMANDS | {Everything}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    class Painted(Message):
        """Panes were drawn for a scene."""

        def __init__(self, drawings: dict[str, Drawing], info: TraceInfo | None) -> None:
            super().__init__()
            self.drawings, self.info = drawings, info

    class Answered(Message):
        """A command was carried out, and its answer drawn."""

        def __init__(self, reply: Reply, drawn: Drawing) -> None:
            super().__init__()
            self.reply, self.drawn = reply, drawn

    class Found(Message):
        """A call to look at was found, or none: why."""

        def __init__(self, call: CallRecord | None, why: str = '', *, quiet: bool = False) -> None:
            super().__init__()
            self.call, self.why, self.quiet = call, why, quiet

    class Happened(Message):
        """The program or the trace did something."""

        def __init__(self, event: Event) -> None:
            super().__init__()
            self.event = event

    def __init__(self, desk: Desk, program: Callable[[], Widget] | None = None, *, past: tuple[str, ...] = (),
                 keep: Callable[[str], None] = lambda line: None) -> None:
        super().__init__()
        self.desk = desk
        self.scene = Scene()
        self.visited = Visited()
        self._program = program
        self._past, self._keep = past, keep
        self._info: TraceInfo | None = None
        self._painting = self._stale = False
        self._waiting: deque[str] = deque()
        self._asking = ''
        self._pane = 'source'

    # ------------------------------------------------------------------ the screen
    def compose(self) -> ComposeResult:
        """Header, panes or a result, what was said, the command line, the keys."""
        yield Static(id='header')
        yield Static(id='bar')
        with ContentSwitcher(initial='panes', id='places'):
            with Container(id='panes'):
                for pane in PANES:
                    yield Sheet(pane.name, id=pane.name, classes='pane')
            yield Sheet('result', id='result')
            if self._program is not None:
                with Container(id='program'):
                    yield self._program()
        yield Static(id='too_small')
        yield Static(id='said')
        yield CommandLine(self._past, self._keep)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin where something went wrong."""
        self._arrange()
        self.action_pane(self._pane)
        self.desk.listen(self._heard)
        stop = self.desk.stop()
        if stop is not None:
            self.follow(Scene(stop=stop))
        else:
            self._find(opening_call, quiet=True)

    def _heard(self, event: Event) -> None:
        """On the desk's thread."""
        self.post_message(self.Happened(event))

    def on_resize(self, event: events.Resize) -> None:
        """Another size may need another arrangement."""
        self._arrange()

    def _arrange(self) -> None:
        width, height = self.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        self.screen.set_class(small, '-small')
        self.screen.set_class(width < WIDE[0] or height < WIDE[1], '-tabs')
        if small:
            self.query_one('#too_small', Static).update(
                Content(f'{width}x{height}: too small, {SMALLEST[0]}x{SMALLEST[1]} is needed'))
        self._title()

    def _title(self) -> None:
        header = self.query_one('#header', Static)
        header.update(place_bar.header(self.desk, self.scene, self._info))
        header.set_class(self.scene.stop is not None, 'hit')
        self.query_one('#bar', Static).update(place_bar.bar(PANES, self._pane))
        self.refresh_bindings()

    def say(self, shown: RenderableType | str, style: str = '') -> None:
        """Put a few lines above the command line; '' takes them away."""
        said = self.query_one('#said', Static)
        said.display = shown != ''
        said.update(Text(visible(shown), style, overflow='fold') if isinstance(shown, str) else shown)

    # ------------------------------------------------------------------ panes
    def follow(self, scene: Scene) -> None:
        """Let every pane show this."""
        self.scene = scene
        self._title()
        self._repaint()

    def _repaint(self) -> None:
        """Draw the panes; if that is under way, once more behind it."""
        if self._painting:
            self._stale = True
            return
        self._painting, self._stale = True, False
        self._paint(self.scene, {pane.name: self.query_one(f'#{pane.name}', Sheet).columns for pane in PANES})

    @work(thread=True, group='panes', exit_on_error=False)
    def _paint(self, scene: Scene, widths: dict[str, int]) -> None:
        drawn: dict[str, Drawing] = {}
        info: TraceInfo | None = None
        for pane in PANES:
            if self._stale:
                break
            try:
                picture = pane.paint(self.desk, scene, widths[pane.name])
            except PyfuncdbgError as error:
                picture = Picture(pane.name, [Part(Text(visible(str(error)), 'yellow', overflow='fold'))])
            except Exception as error:          # a mistake of ours in one pane: told there in one line, the others go on
                picture = Picture(pane.name, [Part(_mistake(error))])
            drawn[pane.name] = drawing(picture, widths[pane.name])
        with contextlib.suppress(PyfuncdbgError):       # the panes have said so
            info = self.desk.trace.info()
        self.post_message(self.Painted(drawn, info))

    def on_inspector_painted(self, message: Painted) -> None:
        """Show what was drawn."""
        self._painting = False
        self._info = message.info or self._info
        for name, drawn in message.drawings.items():
            self.query_one(f'#{name}', Sheet).show(drawn)
        self._title()
        if self._stale:
            self._repaint()

    def on_sheet_resized(self, message: Sheet.Resized) -> None:
        """Draw it again for its new width."""
        if message.sheet.id == 'result':
            self._show(self.visited.current)
        else:
            self._repaint()

    # ------------------------------------------------------------------ commands
    def run_line(self, line: str) -> None:
        """Carry out a command line, after those before it."""
        if not self.desk.live and line in ('q', 'quit', 'exit'):
            self.exit(0)
            return
        self._waiting.append(line)
        self._next_line()

    def _next_line(self) -> None:
        if not self._asking and self._waiting:
            self._asking = self._waiting.popleft()
            self._answer(self._asking, self._width())

    def _width(self) -> int:
        result = self.query_one('#result', Sheet)
        return result.columns if result.size.width else max(10, self.size.width - 1)

    @work(thread=True, group='commands', exit_on_error=False)
    def _answer(self, line: str, width: int) -> None:
        try:
            reply = self.desk.answer(line, width)
            drawn = drawing(self._page(reply), width)
        except Exception as error:              # a mistake of ours in a command: told in one line, the app goes on
            reply = Reply(line, '', Text(), None, _mistake(error).plain)
            drawn = Drawing(line, ())
        self.post_message(self.Answered(reply, drawn))

    def _page(self, reply: Reply) -> Picture:
        """The screen of an answer; the list of commands begins with the keys."""
        keys = [Part(key_help(live=self.desk.live))] if reply.command == 'help' and not reply.line.split()[1:] else []
        return Picture(reply.line, [*keys, Part(reply.shown)])

    def on_inspector_answered(self, message: Answered) -> None:
        """Show an answer: a mistake or a short answer in the lines below the panes, a longer one on its own screen."""
        self._asking = ''
        reply, drawn = message.reply, message.drawn
        shown = [line for line in drawn.lines if line.text]
        if reply.error:
            self.say(f'{reply.line}: {reply.error}', 'bold red')
        elif reply.command in RUNNING or (self.visited.position < 0 and len(shown) <= _SHORT):
            self.say(reply.shown if shown else '')
            self._refollow()
        else:
            self.visited.add(reply)
            self.say('')
            self._place('result')
            self.query_one('#result', Sheet).show(drawn, keep=False)
            if reply.command == 'call' and isinstance(reply.data, dict) and reply.data.get('number'):
                self._find(lambda desk, scene: desk.trace.call(str(reply.data['number'])))
        self._next_line()

    def _refollow(self) -> None:
        """The command may have changed what the panes of a stop show."""
        if self.scene.stop is not None:
            self.follow(Scene(self.scene.call, self.desk.stop()))

    def _show(self, reply: Reply | None) -> None:
        """A screen that was seen before, or the panes."""
        if reply is None:
            self._place('panes')
            self.query_one(f'#{self._pane}').focus()
        else:
            self._place('result')
            self._redraw(reply, self._width())

    @work(thread=True, group='redraw', exclusive=True, exit_on_error=False)
    def _redraw(self, reply: Reply, width: int) -> None:
        drawn = drawing(self._page(reply), width)
        self.call_from_thread(self.query_one('#result', Sheet).show, drawn)

    def _place(self, name: str) -> None:
        self.query_one('#places', ContentSwitcher).current = name
        if name == 'result':
            self.query_one('#result').focus()

    def on_command_line_entered(self, message: CommandLine.Entered) -> None:
        """A line was typed."""
        self._back_to_place()
        self.run_line(message.line)

    def on_command_line_given_up(self) -> None:
        """The command line was left."""
        self._back_to_place()

    def _back_to_place(self) -> None:
        self.query_one('#result' if self.visited.position >= 0 else f'#{self._pane}').focus()

    def on_sheet_chosen(self, message: Sheet.Chosen) -> None:
        """A line or word was chosen. A call that is not looked at yet is followed, everything else is typed."""
        words = message.command.split()
        if words[:1] == ['call'] and self.visited.position < 0 and not self._is_here(words[-1]):
            self._find(lambda desk, scene: desk.trace.call(words[-1]))
        else:
            self.query_one(CommandLine).remember(message.command)
            self.run_line(message.command)

    def _is_here(self, name: str) -> bool:
        call = self.scene.call
        return call is not None and name.removeprefix('#') in (call.number, call.label)

    # ------------------------------------------------------------------ calls
    def select_call(self, name: str) -> None:
        """Look at a call, by number or label: every pane follows."""
        self._find(lambda desk, scene: desk.trace.call(name))

    @work(thread=True, group='find', exclusive=True, exit_on_error=False)
    def _find(self, find: Callable[[Desk, Scene], CallRecord | None], *, none: str = '', quiet: bool = False) -> None:
        try:
            call, why = find(self.desk, self.scene), none
        except PyfuncdbgError as error:
            call, why = None, str(error)
        except Exception as error:              # a mistake of ours: told in one line, the app goes on
            call, why = None, _mistake(error).plain
        self.post_message(self.Found(call, why, quiet=quiet))

    def on_inspector_found(self, message: Found) -> None:
        """Look at the call."""
        if message.call is not None:
            self.follow(Scene(message.call, self.desk.stop()))
        elif message.why:
            self.say(message.why, 'yellow')
        elif message.quiet:
            self.follow(Scene(None, self.desk.stop()))

    # ------------------------------------------------------------------ events
    def on_inspector_happened(self, message: Happened) -> None:
        """The program stopped, went on or said something; the trace has grown."""
        event = message.event
        if event.kind == 'stopped':
            self.say('')
            self.visited.leave()
            self._show(None)
            self.follow(Scene(stop=event.stop))
        elif event.kind == 'resumed':
            self.follow(Scene(self.scene.call))
        elif event.kind == 'grown':
            if self.scene == Scene():
                self._find(opening_call, quiet=True)
            else:
                self._repaint()
        else:
            self.say(event.text or {'ended': 'the program has ended', 'lost': 'the program is gone'}.get(event.kind, ''),
                     'bold red' if event.kind == 'lost' else '')
            if event.kind != 'log':
                self.follow(Scene(self.scene.call))

    # ------------------------------------------------------------------ keys
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that act on a program that runs exist only where one does."""
        if action == 'typed' and parameters and acts_on_stop(str(parameters[0])):
            return self.desk.live
        return True

    def action_typed(self, line: str) -> None:
        """A key that types a command: carried out, or offered to be completed."""
        if line.endswith(' '):
            self.query_one(CommandLine).begin(line)
        else:
            self.query_one(CommandLine).remember(line)
            self.run_line(line)

    def action_type(self) -> None:
        """To the command line."""
        self.query_one(CommandLine).begin()

    def action_search(self) -> None:
        """Search what is shown."""
        self.query_one(CommandLine).seek()

    def on_command_line_sought(self, message: CommandLine.Sought) -> None:
        """Find a text on the screen, or in the pane that was chosen last."""
        sheet = self.query_one('#result' if self.visited.position >= 0 else f'#{self._pane}', Sheet)
        self.say(sheet.search('' if message.over else message.text, message.by))

    @work(thread=True, group='complete', exclusive=True, exit_on_error=False)
    def _complete(self, text: str, position: int) -> None:
        try:
            words, start = self.desk.complete(text, position)
        except Exception:                       # no completion is worth a crash: the line stays as it is
            words, start = [], position
        self.call_from_thread(self.query_one(CommandLine).offer, text, words, start)

    def on_command_line_completing(self, message: CommandLine.Completing) -> None:
        """Ask how a line could go on."""
        self._complete(message.text, message.position)

    def action_call_by(self, by: int) -> None:
        """To the next call, or the one before."""
        self._find(lambda desk, scene: call_after(desk, scene, by), none='there is no further call' if by > 0 else
                   'there is no call before')

    def action_call_with(self, what: str, by: int) -> None:
        """To the next call, or one before, that raised or gave NaN or infinity."""
        self._find(lambda desk, scene: flagged_after(desk, scene, by),
                   none=f'no {"further" if by > 0 else "earlier"} call raised or gave NaN or infinity')

    def action_screen_back(self) -> None:
        """To the screen before."""
        self._show(self.visited.back())

    def action_screen_forward(self) -> None:
        """To the screen after."""
        reply = self.visited.forward()
        if reply is not None:
            self._show(reply)

    def action_leave(self) -> None:
        """Break off what runs; else to the panes."""
        if self._asking:
            self.action_cancel()
            return
        self.screen.set_class(False, '-zoomed')
        self.say('')
        self._show(self.visited.leave())

    @work(thread=True, group='cancel', exit_on_error=False)
    def action_cancel(self) -> None:
        """Break off the command that runs."""
        self.desk.cancel()

    def action_pane(self, name: str) -> None:
        """To a pane."""
        self._pane = name
        self.visited.leave()
        for pane in PANES:
            self.query_one(f'#{pane.name}').set_class(pane.name == name, '-shown')
        self._show(None)
        self._title()

    def action_pane_by(self, by: int) -> None:
        """To the next pane, or the one before."""
        names = [pane.name for pane in PANES]
        self.action_pane(names[(names.index(self._pane) + by) % len(names)])

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A pane was clicked."""
        if event.widget.has_class('pane') and event.widget.id:
            self._pane = event.widget.id

    def action_zoom(self) -> None:
        """One pane on the whole screen, and back."""
        self.action_pane(self._pane)
        self.screen.toggle_class('-zoomed')

    def action_shade(self) -> None:
        """Light or dark."""
        self.theme = 'textual-light' if self.current_theme.dark else 'textual-dark'

    def action_leave_inspector(self) -> None:
        """Leave; a program that runs goes on."""
        self.exit(0)


def _mistake(error: Exception) -> Text:
    """A mistake of ours in one line."""
    return Text(f'pyfuncdbg failed here: {type(error).__name__}: {one_line(str(error), 200)}', 'bold red')
