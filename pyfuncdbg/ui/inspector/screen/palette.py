"""Entries of the command palette: the commands of the table, nodes and calls. A hit types a command line."""
from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.commands.engine.command import Command, parser_of
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.views.escape import one_line

_NODES = 5_000
_CALLS = 200
"""Calls that are found by a part of their name; any other by its number or label."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A palette entry: name, description, and the line that it types; a blank at its end asks for more."""

    name: str
    help: str
    line: str


class TypingApp(Protocol):
    """The app whose command line a hit types into."""

    desk: Desk

    def action_typed(self, line: str) -> None:
        """Carry out a command line, or offer it to be completed where it ends in a blank."""


class PaletteProvider(Provider):
    """Commands, nodes and calls."""

    _entries: tuple[PaletteEntry, ...] = ()

    async def startup(self) -> None:
        """Read the trace, elsewhere."""
        self._entries = await asyncio.to_thread(entries, self._typing_app.desk)

    @property
    def _typing_app(self) -> TypingApp:
        return cast(TypingApp, self.app)

    async def discover(self) -> Hits:
        """Before anything is typed: the commands."""
        for entry in self._entries[:len(TABLE)]:
            yield DiscoveryHit(Content(entry.name), partial(self._choose, entry.line), entry.name, entry.help)

    async def search(self, query: str) -> Hits:
        """The entries that match."""
        matcher = self.matcher(query)
        named = await asyncio.to_thread(_called, self._typing_app.desk, query)
        for entry in (*named, *self._entries):
            score = 1.0 if entry in named else matcher.match(entry.name)
            if score > 0:
                yield Hit(score, Content(entry.name), partial(self._choose, entry.line), entry.name, entry.help)

    def _choose(self, line: str) -> None:
        self._typing_app.action_typed(line)


def entries(desk: Desk) -> tuple[PaletteEntry, ...]:
    """All that can be found by name, commands first."""
    palette_entries = []
    for command in TABLE:
        palette_entries.append(PaletteEntry(command.name, command.help, command.name + ' ' * _takes_more(command)))
    try:
        for site in desk.trace.sites()[:_NODES]:
            line = f'ni {shlex.quote(site.name)}'
            palette_entries.append(PaletteEntry(one_line(site.name, 80), f'node, {one_line(site.op_type, 40)}', line))
        for call in desk.trace.calls(kind='python', limit=_CALLS):
            palette_entries.append(_of_call(call.number, call.label))
    except PyfuncdbgError:
        pass                                    # the panes report an unreadable trace
    return tuple(palette_entries)


def _takes_more(command: Command) -> bool:
    """Whether a line of the name alone would be a mistake."""
    return bool(command.expression) or any(action.required for action in parser_of(command)._actions)


def _called(desk: Desk, query: str) -> tuple[PaletteEntry, ...]:
    """The call of that number or label."""
    if not any(char.isdigit() for char in query):
        return ()
    try:
        call = desk.trace.call(query.strip())
    except PyfuncdbgError:
        return ()
    return (_of_call(call.number, call.label),)


def _of_call(number: str, label: str) -> PaletteEntry:
    return PaletteEntry(f'#{number} {one_line(label, 80)}', 'call', f'call {number}')
