"""A full-screen app of ours: theme, screenshots, suspension by Ctrl-Z. The inspector and the live view are such apps.

Main thread of the app.
"""
from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import constants
from textual.app import App, SystemCommand
from textual.color import Color as Shade
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen

from pyfuncdbg.ui.inspector.screen.driver import InspectorDriver
from pyfuncdbg.ui.inspector.screen.saved_layout import FIRST, Layout
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard


class FullScreen(App[int]):
    """The app.

    Args:
        layout: Has the theme to begin with.

    Attributes:
        guard: Puts the terminal back if the app is killed while it has the terminal; None where another process cares.
        takes_all: Whether any text may be sent to it: the keys are a program's.
    """

    TITLE = 'pyfuncdbg'
    takes_all = False

    def __init__(self, layout: Layout = FIRST) -> None:
        super().__init__()
        readable(self)
        self.guard: TerminalGuard | None = None
        self.theme = layout.theme or self.theme

    def get_driver_class(self) -> type[Driver]:
        """Ours, unless the environment names one."""
        return InspectorDriver if constants.DRIVER is None else super().get_driver_class()

    def say(self, text: str, style: str = '') -> None:
        """Tell the user something in one line; '' takes it away."""

    def action_shade(self) -> None:
        """Light or dark."""
        self.theme = 'textual-light' if self.current_theme.dark else 'textual-dark'

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Entries of the palette besides our commands, nodes and calls: keys are on the page of `help`."""
        wanted = ('Theme', 'Screenshot', 'Quit')
        yield from (command for command in super().get_system_commands(screen) if command.title in wanted)

    def action_suspend(self) -> None:
        """To the shell; its `fg` comes back."""
        driver = self._driver
        if not (isinstance(driver, InspectorDriver) and driver.suspend_job()):
            self.say('cannot suspend: the inspector is not a job that a shell could resume', 'yellow')

    def deliver_screenshot(self, filename: str | None = None, path: str | None = None,
                           time_format: str | None = None) -> None:
        """Save a picture of the screen in the current folder, and say where it is.

        Args:
            filename: Name of the file; None for one with the time. One that exists is not written over.
            path: Another folder.
            time_format: Of the time in the name.
        """
        name = filename or f'pyfuncdbg-{datetime.now().strftime(time_format or "%Y%m%d-%H%M%S")}.svg'
        stem, ending = os.path.splitext(os.path.join(path or '', name))
        picture = self.export_screenshot()
        for number in itertools.count(1):
            place = os.path.abspath(f'{stem}{f"-{number}" if number > 1 else ""}{ending}')
            try:
                with open(place, 'x', encoding='utf-8') as file:
                    file.write(picture)
            except FileExistsError:
                continue
            except OSError as error:
                self.say(f'no screenshot: {place}: {error.strerror}', 'bold red')
            else:
                self.say(f'screenshot saved to {place}')
            return


def readable(app: App[Any]) -> None:
    """Keep text and ground of an app apart, if it has no colours: Textual turns both to grey before."""
    if app.no_color:
        app._filters.append(_Contrast())        # Textual has no public place for one


class _Contrast(LineFilter):
    """A filter that makes text white or black if it is too near to its background."""

    def apply(self, segments: list[Segment], background: Shade) -> list[Segment]:
        """The segments, readable."""
        return [Segment(text, style and _apart(style), None) for text, style, _ in segments]


_APART = 0.35
"""Least difference in brightness, of 1, between a text and its ground."""


@lru_cache(4096)
def _apart(style: Style) -> Style:
    if style.color is None or style.bgcolor is None:
        return style
    ink, ground = (Shade.from_rich_color(color).brightness for color in (style.color, style.bgcolor))
    if abs(ink - ground) >= _APART:
        return style
    level = 255 if ground < 0.5 else 0
    return style + Style(color=Color.from_rgb(level, level, level))
