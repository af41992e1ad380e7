"""The command line at the bottom: Tab completion, history of all sessions, search and filter of the pane.

Main thread of the app; what completes it is asked on a worker thread.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Protocol

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from pyfuncdbg.ui.commands.engine.continuation import LISTED, QUESTION, add_line, commands_of, prompt_for_more
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST
from pyfuncdbg.ui.inspector.desks.desk import Desk, DeskRequest
from pyfuncdbg.ui.views.escape import one_line

_LEAST = 40
"""Characters of the line before, in a block."""
Mode = Literal['command', 'search', 'filter']
_PLACEHOLDERS: dict[Mode, str] = {
    'command': ': for a command, ? for help',
    'search': 'search: Enter or Down for the next place, Up for the one before, Esc ends',
    'filter': 'filter: a text that rows hold, or a pattern with *; Enter keeps it, Esc shows all rows'}


class CommandLineHandler(Protocol):
    """Receiver of what is typed in the command line. It is called, not told by messages: the next key comes after it."""

    def refuse_paste(self) -> None:
        """A text was pasted that is too long: say so, and `forget` the line."""

    def run_line(self, line: str) -> None:
        """Carry out a command line, after those before it."""

    def focus_shown(self) -> None:
        """The line is left: the keys go elsewhere."""

    def search(self, text: str, by: int) -> None:
        """Search a text. `by`: 0 as it is typed, 1 and -1 to the next and previous place; '' ends the search."""

    def narrow(self, text: str) -> None:
        """Show only rows that hold this text; '': all."""

    def settle(self) -> None:
        """The completion is there that Enter waits for: call `CommandLine.settle` in turn with the keys. Main thread."""


class _Line(Input):
    """The line itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('tab', 'complete(1)', 'complete', key_display='Tab'),
        Binding('shift+tab', 'complete(-1)', 'complete', show=False),
        Binding('up', 'older', 'earlier line', key_display='Up'), Binding('down', 'newer', 'newer line', show=False),
        Binding('escape', 'give_up', 'back', key_display='Esc')]

    _typing = True

    def put(self, text: str, position: int) -> None:
        """Replace the text, not as typed by the user."""
        self._typing = False
        self.value = text
        self._typing = True
        self.cursor_position = position

    async def take(self, event: events.Key | events.Paste) -> None:
        """A character, or what was pasted, at once."""
        if isinstance(event, events.Key):
            await self._on_key(event)
        elif not self._refused(event):
            super()._on_paste(event)

    def _on_paste(self, event: events.Paste) -> None:
        """Textual calls its own behind this one."""
        if self._refused(event):
            event.prevent_default()

    def _refused(self, event: events.Paste) -> bool:
        overlong = len(self.value) + len(event.text) > LONGEST
        if overlong:
            event.stop()
            self._of.refuse_paste()
        return overlong

    def watch_value(self, value: str) -> None:
        if self._typing:
            self._of.edited(value)

    def action_complete(self, by: int) -> None:
        self._of.complete(by)

    def action_older(self) -> None:
        self._of.go(-1)

    def action_newer(self) -> None:
        self._of.go(1)

    def action_give_up(self) -> None:
        self._of.give_up()

    async def action_submit(self) -> None:
        self._of.submit(self.value)

    @property
    def _of(self) -> CommandLine:
        assert isinstance(self.parent, CommandLine)
        return self.parent


class CommandLine(Vertical):
    """The input widget for commands.

    Args:
        desk: Has words that could complete a text; asked on a worker thread. At a stop a line that is no command is Python.
        consumer: Gets what is typed.
        past: Lines of earlier sessions, the oldest first.
        keep: Keeps a line for later sessions.
    """

    DEFAULT_CSS = """
    CommandLine { height: auto; }
    CommandLine > _Line { height: 1; border: none; padding: 0 1; background: $panel; }
    CommandLine > _Line:focus { border: none; background: $boost; }
    CommandLine > OptionList { height: auto; max-height: 8; border: none; padding: 0 1; display: none; }
    """

    def __init__(self, desk: Desk, consumer: CommandLineHandler,
                 past: Sequence[str] = (), keep: Callable[[str], None] = lambda line: None) -> None:
        super().__init__(id='command')
        self._desk = desk
        self._consumer = consumer
        self._past = list(past)
        self._keep = keep
        self._at = len(self._past)
        self._draft = ''
        self._words: list[str] = []
        self._start = 0
        self._chosen = -1
        self._asking: DeskRequest | None = None     # completions that are not there yet
        self._enter = False
        self._mode: Mode = 'command'
        self._begun = ''                        # lines of a command that is not whole

    def compose(self) -> ComposeResult:
        yield OptionList(id='completions', markup=False)
        yield _Line(placeholder=_PLACEHOLDERS['command'], id='line', select_on_focus=False)

    @property
    def line(self) -> _Line:
        """The widget that is typed into."""
        return self.query_one('#line', _Line)

    @property
    def settling(self) -> bool:
        """Whether Enter was typed and waits for a completion: keys behind it wait too."""
        return self._enter

    def begin(self, text: str = '') -> None:
        """Let the user type a command that begins so."""
        self._enter_mode('command', text)

    def preview(self, letter: str) -> None:
        """Show a letter that may become a command, while the keys go elsewhere; '' takes it away."""
        if not self.line.has_focus:
            self.line.put(letter, len(letter))

    def seek(self) -> None:
        """Let the user type what to search for."""
        self._enter_mode('search')

    def narrow(self, text: str) -> None:
        """Let the user type what rows must hold, from what is wanted now."""
        self._enter_mode('filter', text)

    def _enter_mode(self, mode: Mode, text: str = '') -> None:
        self._mode, self._begun = mode, ''
        self.line.placeholder = _PLACEHOLDERS[mode]
        self._set(text)
        self.screen.set_focus(self.line)        # at once: the next key may be typed already

    def _set(self, text: str) -> None:
        self.line.put(text, len(text))
        self._hide()

    # ------------------------------------------------------------------ typing
    def edited(self, text: str) -> None:
        """Search, or narrow the rows, while the text is typed."""
        self._hide()
        if self._mode == 'search':
            self._consumer.search(text, 0)
        elif self._mode == 'filter':
            self._consumer.narrow(text)

    def submit(self, text: str) -> None:
        """Carry it out."""
        if self._mode == 'search':
            self._consumer.search(text, 1)
            return
        if self._mode == 'filter':              # it stays, the line is for commands again
            self._leave()
            return
        if self._asking is not None:            # Tab and Enter typed fast: first the completion, then the line
            self._enter = True
            return
        text = add_line(self._begun, text) if self._begun else text.strip()
        commands = commands_of(text) if text.strip() else []
        prompt = prompt_for_more(commands[-1], at_stop=self._desk.stop() is not None) if commands else ''
        if prompt:
            self._go_on(text, prompt)
            return
        self._leave()
        if commands:
            self.remember(text)
        for command in commands:
            self._consumer.run_line(command)

    def _go_on(self, text: str, prompt: str) -> None:
        """Let the user type the next line of a command; what is typed so far stands where that will."""
        self._begun = text
        last = one_line(text.rpartition('\n')[2], _LEAST)
        ending = "'end'" if prompt == LISTED else 'an empty line'
        end = '' if prompt == QUESTION else f"after '{last}': {ending} ends it, Esc cancels it"
        self.line.placeholder = f'{prompt}{end}'
        self._set('')

    def settle(self) -> None:
        """Enter has waited for a completion, which is there."""
        self._enter = False
        self.submit(self.line.value)

    def refuse_paste(self) -> None:
        """A text was pasted that is too long."""
        self._consumer.refuse_paste()

    def forget(self) -> None:
        """Empty the line."""
        self._set('')

    def give_up(self) -> None:
        """Close the completions, or break them off; or leave the line."""
        if self._words or self._asking is not None or self._enter:
            self._hide()
            return
        if self._mode == 'search':
            self._consumer.search('', 0)
        elif self._mode == 'filter':
            self._consumer.narrow('')
        self._leave()

    def _leave(self) -> None:
        self._mode, self._begun = 'command', ''
        self.line.placeholder = _PLACEHOLDERS['command']
        self._set('')
        self._consumer.focus_shown()

    # ------------------------------------------------------------------ history
    def remember(self, line: str) -> None:
        """A line that was carried out."""
        if len(line) <= LONGEST and '\n' not in line and (not self._past or self._past[-1] != line):
            self._past.append(line)
            self._keep(line)
        self._at = len(self._past)

    def go(self, by: int) -> None:
        """Through the completions if they are shown; through the places that were found; else through the history."""
        if self._words:
            self.complete(by)
        elif self._mode == 'search':
            self._consumer.search(self.line.value, by)
        elif self._mode == 'command':
            if self._at == len(self._past):
                self._draft = self.line.value
            self._at = min(max(0, self._at + by), len(self._past))
            self._set(self._past[self._at] if self._at < len(self._past) else self._draft)

    # ------------------------------------------------------------------ completion
    def complete(self, by: int) -> None:
        """Put the next completion into the line, or ask for some."""
        if self._mode != 'command':
            return
        if not self._words:
            if self._asking is None:
                self._asking = DeskRequest()
                self._ask(self._asking, self.line.value, self.line.cursor_position)
            return
        self._chosen = (self._chosen + by) % len(self._words)
        self._insert(self._words[self._chosen])
        self.query_one('#completions', OptionList).highlighted = self._chosen

    @work(thread=True, group='complete', exit_on_error=False)
    def _ask(self, request: DeskRequest, text: str, position: int) -> None:
        try:
            words, start = self._desk.complete(text, position, request)
        except Exception:                       # an error in completion must not end the app
            words, start = [], position
        self.app.call_from_thread(self._answered, request, words, start)

    def _answered(self, request: DeskRequest, words: Sequence[str], start: int) -> None:
        """The completions; forgotten if the line is another one by now."""
        if request is not self._asking:
            return
        self._asking = None
        if words:
            self._offer(words, start)
        if self._enter:
            self._consumer.settle()

    def _offer(self, words: Sequence[str], start: int) -> None:
        self._start = start
        if len(words) == 1:
            self._words = []
            self._insert(words[0] + ' ')
            return
        shared = _shared(words)
        if len(shared) > self.line.cursor_position - start:
            self._insert(shared)
        self._words, self._chosen = list(words), -1
        options = self.query_one('#completions', OptionList)
        options.clear_options()
        options.add_options([Option(Content(one_line(word, 100))) for word in words])
        options.highlighted = None
        options.display = True

    def _insert(self, word: str) -> None:
        line = self.line
        rest = line.value[line.cursor_position:]
        line.put(line.value[:self._start] + word + rest, self._start + len(word))

    def _hide(self) -> None:
        """Completions are not wanted any more: those that are shown, and those that are asked for."""
        asking, self._asking, self._enter = self._asking, None, False
        if asking is not None:
            asking.break_off()
        self._words = []
        self.query_one('#completions', OptionList).display = False

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A completion was clicked."""
        event.stop()
        if event.option_index < len(self._words):
            self._insert(self._words[event.option_index] + ' ')
        self._hide()
        self.screen.set_focus(self.line)


def _shared(words: Sequence[str]) -> str:
    """The common prefix of all words."""
    first, last = min(words), max(words)
    same = next((index for index, char in enumerate(first) if index >= len(last) or last[index] != char), len(first))
    return first[:same]
