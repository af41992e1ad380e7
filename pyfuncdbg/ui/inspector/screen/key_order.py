"""Key dispatch in order: each key is handled to its end before the next, as the focus may have changed.

A letter outside of the command line is a key if no word follows it. Main thread of the app.

A letter is both a key and the beginning of a word (`n` steps, and begins `node`): it waits for the next one as long as a
word takes to go on.
"""
from __future__ import annotations

import time

from textual import events
from textual.timer import Timer

from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.inspector.screen.command_line import CommandLine
from pyfuncdbg.ui.inspector.screen.full_screen import FullScreen
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout

PATIENCE = 0.3
"""Seconds that a letter waits for the next one: longer than a person takes within a word, shorter than between two steps."""
CARD_PATIENCE = 0.7
"""The same at the card of a run: its commands are words, and nothing there is done in a hurry."""
AFTERTHOUGHT = 1.0
"""Seconds after a letter has acted in which Enter is still the one that pdb's users type behind it."""
_EAGER = frozenset('jk')
"""Letters that move the cursor: they act at once, and no harm is done where a word follows."""
_WORDS = frozenset(name for name in TABLE.names if len(name) > 1)
_IN_PYTHON = frozenset('.([=_')
"""Characters that may follow a name in Python."""


def waits(letter: str, *, at_stop: bool) -> bool:
    """Whether a letter could begin a word; at a stop any could, of Python."""
    return letter not in _EAGER and letter.isalpha() and (at_stop or any(word.startswith(letter) for word in _WORDS))


def continues(text: str, char: str, *, at_stop: bool, waits: bool = True) -> bool:
    """Whether a character goes on with a letter as a word.

    Args:
        text: The letter.
        char: What was typed behind it.
        at_stop: Python may be meant.
        waits: The letter has not acted yet. Otherwise, and of the same letter twice, only a command's beginning is a word.
    """
    if not waits or text == char:
        return any(word.startswith(text + char) for word in _WORDS)
    return char.isalpha() or char == ' ' or (at_stop and char in _IN_PYTHON)


class KeyByKey(FullScreen):
    """An app with a command line.

    Textual puts a key into the queue of the widget that has the focus when the key is read. What the widget has no use for,
    Enter and Esc too, goes from queue to queue back to the app, while the keys behind it go to the same widget.
    """

    def __init__(self, layout: Layout = FIRST) -> None:
        super().__init__(layout)
        self._behind: list[events.Key | events.Paste] = []      # keys typed after an Enter that waits for a completion
        self._waiting: events.Key | None = None                 # a letter that may begin a word
        self._timer: Timer | None = None
        self._last = ('', 0.0)                                  # the letter that was a key last, and when

    at_stop = False
    """Whether lines that are no command are Python."""
    patience = PATIENCE
    """Seconds that a letter waits for the next one."""

    async def on_event(self, event: events.Event) -> None:
        """Deal with a key at once; those of the palette and of a program go the usual way."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded or not self._at_once:
            await super().on_event(event)
            return
        if isinstance(event, events.Key) and event.key.startswith('alt+') and event.is_printable:
            character = event.character or ''   # Esc and a letter behind it at once: a terminal sends the same for Alt
            await self._take(events.Key('escape', '\x1b'))
            event = events.Key(character, character)
        await self._take(event)

    async def _take(self, event: events.Key | events.Paste) -> None:
        breaks_off = isinstance(event, events.Key) and event.key in ('escape', 'ctrl+c')
        if self._command_line.settling and not breaks_off:
            self._behind.append(event)
            return
        self._behind.clear()                    # the completion they wait for is cancelled
        self.app_focus = True
        if self.focused is not self._command_line.line and await self._typed_ahead(event):
            return
        await self._deal_with(event)

    @property
    def _at_once(self) -> bool:
        """Whether a key is dealt with before the next one is looked at."""
        return len(self.screen_stack) == 1 and bool(self.query(CommandLine))

    @property
    def _command_line(self) -> CommandLine:
        return self.query_one(CommandLine)

    async def _deal_with(self, event: events.Key | events.Paste) -> None:
        line = self._command_line.line
        if isinstance(event, events.Key):
            if await self._check_bindings(event.key, priority=True):
                return
            if event.key == 'escape':
                self.screen.clear_selection()   # as Textual's screen does for the key
            if not event.is_printable or self.focused is not line:
                await self._check_bindings(event.key)
                return
        if self.focused is line:
            await line.take(event)

    # ------------------------------------------------------------------ words
    @property
    def waiting(self) -> str:
        """The letter that waits for the next one, '' if none does."""
        return self._waiting.character or '' if self._waiting is not None else ''

    async def _typed_ahead(self, event: events.Key | events.Paste) -> bool:
        """Whether this is a part of a word, or a letter that waits until that is known."""
        key = event.key if isinstance(event, events.Key) else ''
        char = (event.character or '') if isinstance(event, events.Key) and event.is_printable else ''
        waiting = self._waiting is not None
        letter, since = (self.waiting, time.monotonic()) if waiting else self._last
        recent = time.monotonic() - since
        if char and letter and recent < PATIENCE and continues(letter, char, at_stop=self.at_stop, waits=waiting):
            self._forget()
            self._command_line.begin(letter + char)
            return True
        if waiting:
            if key in ('escape', 'ctrl+c', 'backspace'):
                self._forget()
                return True
            await self._act()
        if key == 'enter' and letter and recent < AFTERTHOUGHT:
            self._last = ('', 0.0)
            return True
        self._last = ('', 0.0)
        if not char.isalpha():
            return False
        if key not in self.active_bindings:     # not a key here, so it begins a word
            self._command_line.begin(char)
        elif waits(char, at_stop=self.at_stop):
            self._wait(event)
        else:
            self._last = (char, time.monotonic())
            return False
        return True

    def _wait(self, event: events.Key | events.Paste) -> None:
        assert isinstance(event, events.Key)
        self._waiting = event
        self._command_line.preview(event.character or '')
        self._timer = self.set_timer(self.patience, self._act)

    def _forget(self) -> None:
        self._waiting, self._last = None, ('', 0.0)
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._command_line.preview('')

    async def _act(self) -> None:
        """No word has followed: the letter is a key."""
        event = self._waiting
        if event is None:
            return
        self._forget()
        self._last = (event.character or '', time.monotonic())
        if self._at_once:
            await self._deal_with(event)

    def settle(self) -> None:
        """The completion is there for which an Enter has waited."""
        self.call_later(self._settle)           # behind the keys that have been read

    async def _settle(self) -> None:
        if self._command_line.settling:
            self._command_line.settle()
            behind, self._behind = self._behind, []
            for event in behind:
                await self.on_event(event)
