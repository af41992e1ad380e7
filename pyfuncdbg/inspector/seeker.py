"""Calls that are sought: on a worker thread, from what is looked at now; the app gets `Found`."""
from __future__ import annotations

from functools import partial
from typing import Any

from textual.app import App

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.inspector.desk import Desk
from pyfuncdbg.inspector.messages import Found
from pyfuncdbg.inspector.moves import Search, opening_call, opening_words
from pyfuncdbg.inspector.pane_set import mistake
from pyfuncdbg.inspector.scene import Scene


class Seeker:
    """Who looks for calls.

    Args:
        app: Told of what is found.
        desk: Whose trace.
    """

    def __init__(self, app: App[Any], desk: Desk) -> None:
        self._app = app
        self._desk = desk

    def seek(self, find: Search, scene: Scene, *, none: str = '', leave: bool = False) -> None:
        """Look for what the user wants; what was wanted before is not waited for. `none`: said if there is none."""
        self._work('find', partial(self._seek, find, scene, none, leave))

    def begin(self, scene: Scene) -> None:
        """Look for a call to begin with, which nobody has asked for."""
        # A group of its own: a list that comes to rest on a row must not break it off.
        self._work('opening', partial(self._begin, scene))

    def _work(self, group: str, work: partial[None]) -> None:
        self._app.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def _seek(self, find: Search, scene: Scene, none: str, leave: bool) -> None:
        try:
            found = Found(find(self._desk, scene), none, leave=leave)
        except PyfuncdbgError as error:
            found = Found(None, str(error), leave=leave)
        except Exception as error:              # a mistake of ours: told in one line, the app goes on
            found = Found(None, mistake(error).plain, leave=leave)
        self._app.post_message(found)

    def _begin(self, scene: Scene) -> None:
        try:
            call = opening_call(self._desk, scene)
            found = Found(call, opening_words(call) if call is not None else '', quiet=True)
        except PyfuncdbgError as error:
            found = Found(None, str(error), quiet=True)
        except Exception as error:              # a mistake of ours: told in one line, the app goes on
            found = Found(None, mistake(error).plain, quiet=True)
        self._app.post_message(found)
