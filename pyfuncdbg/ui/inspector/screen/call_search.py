"""Search for calls on a worker thread, from the scene that is shown; the app gets `CallFound`."""
from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from textual.app import App

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.messages import CallFound
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.inspector.screen.next_call import Search, opening_call, opening_words
from pyfuncdbg.ui.inspector.screen.pane_set import mistake


class CallSearch:
    """Search for calls, one at a time. Called on the app's thread.

    Args:
        app: Told of what is found.
        desk: Whose trace.
    """

    def __init__(self, app: App[Any], desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._running: object | None = None
        self._waiting: deque[tuple[Search, str]] = deque()

    def seek(self, find: Search, scene: Scene) -> None:
        """Look for the call that the user wants; what was wanted before is not waited for."""
        self._waiting.clear()
        self._start(find, scene, '', leave=False)

    def step(self, find: Search, scene: Scene, none: str) -> None:
        """Look for a call from where the user is once all steps before this one are done. `none`: said if there is none."""
        if self._running is None:
            self._start(find, scene, none, leave=True)
        else:
            self._waiting.append((find, none))

    def is_current(self, found: CallFound) -> bool:
        """Whether this is what the user wants, and not what a search found that another has replaced; it is over then."""
        if found.search is None:
            return True
        current = found.search is self._running
        if current:
            self._running = None
        return current

    def go_on(self, scene: Scene) -> None:
        """Take the next step, if one waits, from here."""
        if self._waiting and self._running is None:
            find, none = self._waiting.popleft()
            self._start(find, scene, none, leave=True)

    @property
    def busy(self) -> bool:
        """Whether what the user wants is still sought."""
        return self._running is not None

    def drop(self) -> None:
        """Take none of the steps that wait."""
        self._waiting.clear()

    def _start(self, find: Search, scene: Scene, none: str, *, leave: bool) -> None:
        self._running = search = object()
        self._work('find', partial(self._seek, search, find, scene, none, leave))

    def begin(self, scene: Scene) -> None:
        """Look for a call to begin with, which the user has not asked for."""
        # Its own group: a list that settles on a row must not cancel it.
        self._work('opening', partial(self._begin, scene))

    def _work(self, group: str, work: partial[None]) -> None:
        self._app.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def _seek(self, search: object, find: Search, scene: Scene, none: str, leave: bool) -> None:
        try:
            found = CallFound(find(self._desk, scene), none, leave=leave, search=search)
        except PyfuncdbgError as error:
            found = CallFound(None, str(error), leave=leave, search=search)
        except Exception as error:              # an internal error: report it in one line and continue
            found = CallFound(None, mistake(error).plain, leave=leave, search=search)
        self._app.post_message(found)

    def _begin(self, scene: Scene) -> None:
        try:
            call = opening_call(self._desk, scene)
            found = CallFound(call, opening_words(call) if call is not None else '', quiet=True)
        except PyfuncdbgError as error:
            found = CallFound(None, str(error), quiet=True)
        except Exception as error:              # an internal error: report it in one line and continue
            found = CallFound(None, mistake(error).plain, quiet=True)
        self._app.post_message(found)
