"""The lines around the panes: the selected call or stop above; messages and keys below. Main thread of the app.

On a small terminal the names of the panes stand above too. Messages are short answers, mistakes, what the program logs; of
the keys there are as many as the terminal has room for, help and leaving always.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnLine
from pyfuncdbg.ui.inspector.panes.scene import Pane, Scene
from pyfuncdbg.ui.inspector.panes.table import PANES
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.units import count, size


class PlaceBar(Vertical):
    """Both lines."""

    DEFAULT_CSS = """
    PlaceBar { height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Static(id='header')
        yield Static(id='bar')

    def tell(self, desk: Desk, scene: Scene, info: TraceInfo | None, chosen: str) -> None:
        """Show what is selected, and in which pane."""
        line = self.query_one('#header', Static)
        line.update(header(desk, scene, info, self.app.size.width), layout=False)
        line.set_class(scene.stop is not None, 'hit')
        self.query_one('#bar', Static).update(bar(PANES, chosen), layout=False)


def header(desk: Desk, scene: Scene, info: TraceInfo | None, width: int) -> Content:
    """'pyfuncdbg  demo.pfd  call #313 normalize[26] in run #29      226 runs, 2,645 calls'."""
    words = ['pyfuncdbg', one_line(desk.title, max(26, width // 4))]
    if scene.stop is not None:
        words.append(stop_text(scene.stop))
    elif desk.live:
        words.append('RUNNING')
    if scene.call is not None:
        words.append(f'call #{one_line(scene.call.number, 20)} {one_line(scene.call.label, 60)} in run #{scene.call.run}')
    if desk.share_read < 1:
        words.insert(2, f'READING {desk.share_read:.0%} (lists are not complete yet)')
    if info is not None and info.damage and not desk.live:
        words.insert(2, 'DAMAGED (info tells where)')
    if info is not None:
        held = f'{count(info.runs, "run")}, {count(info.calls, "call")}, {size(info.nbytes)}'
        # A part of a number would be another number.
        words += [held] if cell_len('  '.join([*words, held])) <= width - 2 else []
    return Content('  '.join(words))


def stop_text(stop: dict[str, Any]) -> str:
    """'STOPPED before norm[3] model.py:41 (breakpoint 1)', 'STOPPED before run #2 train.py:30 (1st run of train)'."""
    words = ['STOPPED', one_line(str(stop.get('at', '')), 100)]
    if (where := stop.get('where')) and stop.get('phase') in ('run', 'end', 'before', 'after'):    # else it is in `at`
        words.append(f'{one_line(str(where.get("file", "")).rsplit("/", 1)[-1], 40)}:{where.get("line", 0)}')
    if stop.get('reason'):
        words.append(f'({one_line(str(stop["reason"]), 60)})')
    return ' '.join(words)


def bar(panes: tuple[Pane, ...], chosen: str) -> Content:
    """The names of the panes, each with its key; a click goes there."""
    names = [Content.from_markup(f"[@click=app.pane('{pane.name}')]{pane.key} {pane.name}[/]") for pane in panes]
    return Content(' ').join([Content.assemble('[', name, ']').stylize('reverse') if pane.name == chosen else
                              Content.assemble(' ', name, ' ') for pane, name in zip(panes, names, strict=True)])


_FIRST_TO_GO = ':aluRdiD.wrhgtfbpN&/csn'
"""Keys that are left out where there is no room, the first one first; the line above says what ':' does."""


class BottomLine(Footer):
    """The keys that act now."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._width = 0

    def compose(self) -> ComposeResult:
        """The entries that there is room for."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        too_long = sum(_length(key) for key in keys) - 1 - self._width
        for shown in _FIRST_TO_GO:
            hidden = next((key for key in keys if key.key_display == shown), None)
            if too_long > 0 and hidden is not None:
                keys.remove(hidden)
                too_long -= _length(hidden)
        yield from keys

    def on_resize(self, event: events.Resize) -> None:
        """There is room for more, or for less."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.call_after_refresh(self.recompose)


def _length(key: FooterKey) -> int:
    return cell_len(f'{key.key_display} {key.description} ')


class MessageLine(Static):
    """The last message to the user; without one it takes no line."""

    DEFAULT_CSS = """
    MessageLine { height: auto; max-height: 5; padding: 0 1; background: $surface; display: none; }
    """

    def say(self, text: str, style: str = '') -> None:
        """Say this; '' takes away what was said."""
        self.display = text != ''
        self.update(Text(visible(text), style, overflow='fold'))

    def show(self, lines: Sequence[DrawnLine]) -> None:
        """A short answer."""
        self.display = bool(lines)
        self.update(Text('\n').join(Text.assemble(*((segment.text, segment.style or '') for segment in line.strip))
                                    for line in lines))
