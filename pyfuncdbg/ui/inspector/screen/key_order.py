"""Key dispatch in order: each key is handled to its end before the next, as the focus may have changed.

A letter outside of the command line is a key if no word follows it (`type_ahead`). Main thread of the app.
"""
from __future__ import annotations

import time

from textual import events
from textual.timer import Timer

from pyfuncdbg.ui.inspector.screen.command_line import CommandLine
from pyfuncdbg.ui.inspector.screen.full_screen import FullScreen
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout
from pyfuncdbg.ui.inspector.screen.type_ahead import AFTERTHOUGHT, PATIENCE, continues, waits


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
