"""Messages to the app from worker threads, the desk and lists."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.app import App
from textual.message import Message

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.inspector.desks.desk import Event, Reply
from pyfuncdbg.ui.inspector.lists.drawn_lines import Drawing

_Given = ParamSpec('_Given')
_App = TypeVar('_App', bound=App[Any])


def while_open(handle: Callable[Concatenate[_App, _Given], None]) -> Callable[Concatenate[_App, _Given], None]:
    """A handler for what threads post: what comes before there are panes, or while the app closes one after the other, is
    dropped."""
    @wraps(handle)
    def handled(app: _App, /, *args: _Given.args, **kwargs: _Given.kwargs) -> None:
        if app.is_running and app.query('Panes'):
            handle(app, *args, **kwargs)
    return handled


class CommandAnswered(Message):
    """A command was carried out, and its answer drawn."""

    def __init__(self, reply: Reply, drawn: Drawing) -> None:
        super().__init__()
        self.reply, self.drawn = reply, drawn


class CallFound(Message):
    """A call to look at was found, or none: why.

    `quiet`: it was not the user who asked; `leave`: show the panes; `search`: which of the user's searches found it.
    """

    def __init__(self, call: CallRecord | None, why: str = '', *, quiet: bool = False, leave: bool = False,
                 search: object | None = None) -> None:
        super().__init__()
        self.call, self.why, self.quiet, self.leave, self.search = call, why, quiet, leave, search


class DeskChanged(Message):
    """The program or the trace did something."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class CallSelected(Message):
    """Selection of a call by the cursor of a list or in a timeline: all panes follow it."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


class MessagePosted(Message):
    """Something to tell the user in one line; '' takes it away."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
