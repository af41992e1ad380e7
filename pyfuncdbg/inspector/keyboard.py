"""Keys one after the other: each has done all it does before the next one is looked at, which may be for somebody else then.

Main thread of the app.
"""
from __future__ import annotations

from textual import events
from textual.app import App

from pyfuncdbg.inspector.command_line import CommandLine
from pyfuncdbg.inspector.panes.program import ProgramPane


class KeyByKey(App[int]):
    """An app with a command line.

    Textual puts a key into the queue of the widget that has the focus when the key is read. What the widget has no use for,
    Enter and Esc too, goes from queue to queue back to the app, while the keys behind it go to the same widget.
    """

    def __init__(self) -> None:
        super().__init__()
        self._behind: list[events.Key | events.Paste] = []      # they came behind an Enter that waits for a completion

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
        self._behind.clear()                    # what they came behind is broken off
        self.app_focus = True
        await self._deal_with(event)

    @property
    def _at_once(self) -> bool:
        return (len(self.screen_stack) == 1 and bool(self.query(CommandLine))
                and not isinstance(self.focused, ProgramPane))

    @property
    def _command_line(self) -> CommandLine:
        return self.query_one(CommandLine)

    async def _deal_with(self, event: events.Key | events.Paste) -> None:
        line = self._command_line.line
        if isinstance(event, events.Key):
            if await self._check_bindings(event.key, priority=True):
                return
            if event.key == 'escape':
                self.screen.clear_selection()   # as Textual's screen does when the key comes by
            if not event.is_printable or self.focused is not line:
                await self._check_bindings(event.key)
                return
        if self.focused is line:
            await line.take(event)

    def settle(self) -> None:
        """The completion is there for which an Enter has waited."""
        self.call_later(self._settle)           # behind the keys that have been read

    async def _settle(self) -> None:
        if self._command_line.settling:
            self._command_line.settle()
            behind, self._behind = self._behind, []
            for event in behind:
                await self.on_event(event)
