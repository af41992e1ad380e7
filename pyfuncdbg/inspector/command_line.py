"""The command line at the bottom: completion by Tab, the history of all sessions; a search and a filter of what is shown.

Main thread of the app; what completes it is asked on a worker thread.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from pyfuncdbg.views.escape import one_line

Mode = Literal['command', 'search', 'filter']
_PLACEHOLDERS: dict[Mode, str] = {
    'command': ': for a command, ? for help',
    'search': 'search: Enter or Down for the next place, Up for the one before, Esc ends',
    'filter': 'filter: a text that rows hold, or a pattern with *; Enter keeps it, Esc shows all rows'}


class _Line(Input):
    """The line itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('tab', 'complete(1)', 'complete', key_display='Tab'),
        Binding('shift+tab', 'complete(-1)', 'complete', show=False),
        Binding('up', 'older', 'earlier line', key_display='Up'), Binding('down', 'newer', 'newer line', show=False),
        Binding('escape', 'give_up', 'back', key_display='Esc')]

    def action_complete(self, by: int) -> None:
        self._of.complete(by)

    def action_older(self) -> None:
        self._of.go(-1)

    def action_newer(self) -> None:
        self._of.go(1)

    def action_give_up(self) -> None:
        self._of.give_up()

    async def action_submit(self) -> None:
        self._of.submit(self.value)             # at once, not by a message: keys that come before it would be taken for text

    @property
    def _of(self) -> CommandLine:
        assert isinstance(self.parent, CommandLine)
        return self.parent


class CommandLine(Vertical):
    """Where commands are typed.

    Args:
        complete: Words that could complete a text at a position, and where they begin; asked on a worker thread.
        run: Carries a line out, after those before it. It and `leave` are called, not told: the next key comes after them.
        leave: Lets the keys go elsewhere.
        past: Lines of earlier sessions, the oldest first.
        keep: Keeps a line for later sessions.
    """

    DEFAULT_CSS = """
    CommandLine { height: auto; }
    CommandLine > _Line { height: 1; border: none; padding: 0 1; background: $panel; }
    CommandLine > _Line:focus { border: none; background: $boost; }
    CommandLine > OptionList { height: auto; max-height: 8; border: none; padding: 0 1; display: none; }
    """

    class Sought(Message):
        """A text is to be searched. `by`: 0 as it is typed, 1 and -1 to the next and previous place; `over`: the end."""

        def __init__(self, text: str, by: int, *, over: bool = False) -> None:
            super().__init__()
            self.text, self.by, self.over = text, by, over

    class Narrowed(Message):
        """Only rows that hold this text are to be shown; '': all."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, complete: Callable[[str, int], tuple[list[str], int]], run: Callable[[str], None],
                 leave: Callable[[], None], past: Sequence[str] = (),
                 keep: Callable[[str], None] = lambda line: None) -> None:
        super().__init__(id='command')
        self._complete = complete
        self._run = run
        self._let_go = leave
        self._past = list(past)
        self._keep = keep
        self._at = len(self._past)
        self._draft = ''
        self._words: list[str] = []
        self._start = 0
        self._chosen = -1
        self._asked = self._enter = False
        self._mode: Mode = 'command'

    def compose(self) -> ComposeResult:
        yield OptionList(id='completions', markup=False)
        yield _Line(placeholder=_PLACEHOLDERS['command'], id='line', select_on_focus=False)

    @property
    def line(self) -> Input:
        """The widget that is typed into."""
        return self.query_one('#line', Input)

    def begin(self, text: str = '') -> None:
        """Let the user type a command that begins so."""
        self._enter_mode('command', text)

    def seek(self) -> None:
        """Let the user type what to search for."""
        self._enter_mode('search')

    def narrow(self, text: str) -> None:
        """Let the user type what rows must hold, from what is wanted now."""
        self._enter_mode('filter', text)

    def _enter_mode(self, mode: Mode, text: str = '') -> None:
        self._mode = mode
        self.line.placeholder = _PLACEHOLDERS[mode]
        self._set(text)
        self.screen.set_focus(self.line)        # at once: the next key may be typed already

    def _set(self, text: str) -> None:
        with self.prevent(Input.Changed):
            self.line.value = text
        self.line.cursor_position = len(text)
        self._hide()

    # ------------------------------------------------------------------ typing
    def on_input_changed(self, event: Input.Changed) -> None:
        """What is sought is found while it is typed; rows are narrowed likewise."""
        event.stop()
        self._hide()
        if self._mode == 'search':
            self.post_message(self.Sought(event.value, 0))
        elif self._mode == 'filter':
            self.post_message(self.Narrowed(event.value))

    def submit(self, text: str) -> None:
        """Carry it out."""
        if self._mode == 'search':
            self.post_message(self.Sought(text, 1))
            return
        if self._mode == 'filter':              # it stays, the line is for commands again
            self._leave()
            return
        if self._asked:                         # Tab and Enter typed fast: first the completion, then the line
            self._enter = True
            return
        self._set('')
        self._let_go()
        if text := text.strip():
            self.remember(text)
            self._run(text)

    def give_up(self) -> None:
        """Close the completions; or leave the line."""
        if self._words:
            self._hide()
            return
        if self._mode == 'search':
            self.post_message(self.Sought('', 0, over=True))
        elif self._mode == 'filter':
            self.post_message(self.Narrowed(''))
        self._leave()

    def _leave(self) -> None:
        self._mode = 'command'
        self.line.placeholder = _PLACEHOLDERS['command']
        self._set('')
        self._let_go()

    # ------------------------------------------------------------------ history
    def remember(self, line: str) -> None:
        """A line that was carried out."""
        if not self._past or self._past[-1] != line:
            self._past.append(line)
            self._keep(line)
        self._at = len(self._past)

    def go(self, by: int) -> None:
        """Through the completions if they are shown; through the places that were found; else through the history."""
        if self._words:
            self.complete(by)
        elif self._mode == 'search':
            self.post_message(self.Sought(self.line.value, by))
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
            self._asked = True
            self._ask(self.line.value, self.line.cursor_position)
            return
        self._chosen = (self._chosen + by) % len(self._words)
        self._insert(self._words[self._chosen])
        self.query_one('#completions', OptionList).highlighted = self._chosen

    @work(thread=True, group='complete', exclusive=True, exit_on_error=False)
    def _ask(self, text: str, position: int) -> None:
        try:
            words, start = self._complete(text, position)
        except Exception:                       # no completion is worth a crash: the line stays as it is
            words, start = [], position
        self.app.call_from_thread(self._answered, text, words, start)

    def _answered(self, text: str, words: Sequence[str], start: int) -> None:
        """The completions of a text that was asked about; forgotten if the line is another one by now."""
        enter, self._asked, self._enter = self._enter, False, False
        if self.line.value == text and words:
            self._offer(words, start)
        if enter:
            self.call_later(self.line.action_submit)

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
        with self.prevent(Input.Changed):
            line.value = line.value[:self._start] + word + rest
        line.cursor_position = self._start + len(word)

    def _hide(self) -> None:
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
    """What all words begin with."""
    first, last = min(words), max(words)
    same = next((index for index, char in enumerate(first) if index >= len(last) or last[index] != char), len(first))
    return first[:same]
