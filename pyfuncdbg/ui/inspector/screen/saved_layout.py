"""The user's choice of theme and panes of the inspector, kept in the configuration between sessions.

Read before an app is made, kept when it has ended; main thread.
"""
from __future__ import annotations

from dataclasses import dataclass

from textual.app import App
from textual.constants import DEFAULT_THEME
from textual.theme import BUILTIN_THEMES

from pyfuncdbg.errors import nearest
from pyfuncdbg.ui.commands.configuration import Say, configuration, keep, location
from pyfuncdbg.ui.inspector.panes.table import PANES


@dataclass(frozen=True, slots=True)
class Layout:
    """The choice.

    Attributes:
        theme: Of Textual, '' for its own.
        pane: That has the keys.
        zoomed: Whether it has the whole screen.
    """

    theme: str = ''
    pane: str = 'source'
    zoomed: bool = False


FIRST = Layout()
"""Before anything was chosen."""


def load_layout(say: Say = lambda text: None) -> Layout:
    """The saved layout; unknown names are reported."""
    settings = configuration(say)
    panes = [pane.name for pane in PANES]
    for name, value, known in (('theme', settings.theme, list(BUILTIN_THEMES)), ('pane', settings.pane, panes)):
        if value and value not in known:
            say(f'{location()}: {name} is {value!r:.60}, expected {", ".join(known)}.{nearest(value, known, 1)}')
    return Layout(settings.theme if settings.theme in BUILTIN_THEMES else '',
                  settings.pane if settings.pane in panes else FIRST.pane, settings.zoomed)


def save_layout(before: Layout, after: Layout) -> str:
    """Keep what has changed; why that could not be done, '' if it was, or nothing has changed."""
    changes = {name: getattr(after, name) for name in Layout.__slots__ if getattr(after, name) != getattr(before, name)}
    why = keep(changes) if changes else ''
    return f'theme and layout are not saved: {why}' if why else ''


def theme_of(app: App[int], layout: Layout) -> str:
    """The theme of an app, as it is kept: '' as long as none was chosen."""
    return app.theme if app.theme != (layout.theme or DEFAULT_THEME) else layout.theme
