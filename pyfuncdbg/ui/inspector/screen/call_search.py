"""Search for calls on worker threads, from the scene that is shown. The app gets `CallFound`.

Also the choice of calls: the first to show, the next, the next that went wrong.
"""
from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from textual.app import App

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.messages import CallFound
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.inspector.screen.pane_set import mistake
from pyfuncdbg.ui.views.escape import one_line

CALL = re.compile(r'#?\d{1,18}(\.\d{1,18})?')
"""The number of a call, as it is searched for."""


class CallSearch:
    """Search for calls, one at a time. Called on the app's thread.

    Args:
        app: Gets messages of what is found.
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

    def is_current(self, event: CallFound) -> bool:
        """Whether this is what the user wants, and not what a search found that another has replaced; it is over then."""
        if event.search is None:
            return True
        current = event.search is self._running
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
            self._desk.finish_reading()         # what is not read yet is not missing
            event = CallFound(find(self._desk, scene), none, leave=leave, search=search)
        except PyfuncdbgError as error:
            event = CallFound(None, str(error), leave=leave, search=search)
        except Exception as error:              # an internal error: report it in one line and continue
            event = CallFound(None, mistake(error).plain, leave=leave, search=search)
        self._app.post_message(event)

    def _begin(self, scene: Scene) -> None:
        try:
            self._desk.finish_reading()
            call = opening_call(self._desk, scene)
            event = CallFound(call, opening_words(call) if call is not None else '', quiet=True)
        except PyfuncdbgError as error:
            event = CallFound(None, str(error), quiet=True)
        except Exception as error:              # an internal error: report it in one line and continue
            event = CallFound(None, mistake(error).plain, quiet=True)
        self._app.post_message(event)


Search = Callable[[Desk, Scene], CallRecord | None]
"""Finds the call to select."""
_FLAGS: tuple[dict[str, bool], ...] = ({'bad': True}, {'failed': True})
_PAGE, _PAGES = 50, 40
"""Calls with NaN or infinity that are looked at at once, and how often: those that were only given some are passed over."""


def opening_call(desk: Desk, scene: Scene) -> CallRecord | None:
    """The call to begin with: the first that raised or gave NaN or infinity, else the first one."""
    flagged = _nearest_flagged(desk, -1.0, 1)
    if flagged is not None:
        return flagged
    found = desk.trace.calls(kind='python', limit=1) or desk.trace.calls(limit=1)
    return found[0] if found else None


def opening_words(call: CallRecord) -> str:
    """The message about the call that the inspector begins with."""
    first = f'{one_line(call.label, 60)} is the first call'
    if call.error is not None:
        return f'{first} that raised or gave NaN or infinity: r reports what happened, f goes to the next one'
    if _is_bad(call):
        return f'{first} that gave NaN or infinity: h says where that began, f goes to the next one'
    return f'{first}; none raised or gave NaN or infinity. r reports what ran, "." goes to the next one'


def flagged_call_after(desk: Desk, scene: Scene, by: int) -> CallRecord | None:
    """The next call (`by` 1) or the one before (-1) that raised or gave NaN or infinity; None if there is none.

    Of Python functions, if one of them ever did; else of graph nodes and backward steps.
    """
    return opening_call(desk, scene) if scene.call is None else _nearest_flagged(desk, scene.call.started, by)


def _nearest_flagged(desk: Desk, since: float, by: int) -> CallRecord | None:
    """The one nearest to a time."""
    kind = 'python' if any(_nearest(desk, 'python', -1.0, 1, **flag) for flag in _FLAGS) else None
    found = [call for flag in _FLAGS if (call := _nearest(desk, kind, since, by, **flag)) is not None]
    return min(found, key=lambda call: by * call.started, default=None)


def _nearest(desk: Desk, kind: str | None, since: float, by: int, *, bad: bool | None = None,
             failed: bool | None = None) -> CallRecord | None:
    """The nearest call with a flag, sought by bisection: a long trace has many."""
    def page(offset: int, count: int) -> list[CallRecord]:
        return desk.trace.calls(kind=kind, limit=count, offset=offset, bad=bad, failed=failed)
    total = desk.trace.count(kind=kind, bad=bad, failed=failed)
    at = bisect_right(range(total), since, key=lambda offset: page(offset, 1)[0].started) - (by < 0)
    for _ in range(_PAGES):
        if not 0 <= at < total:
            break
        first = at if by > 0 else max(0, at - _PAGE + 1)
        calls = page(first, _PAGE if by > 0 else at - first + 1)
        for call in calls if by > 0 else reversed(calls):
            if call.started != since and (failed or _is_bad(call)):
                return call
        at = first + len(calls) if by > 0 else first - 1
    return None


_TRIED = 5_000
"""Numbers that are tried for the next call of a kind."""


def call_after(desk: Desk, scene: Scene, by: int) -> CallRecord | None:
    """The next call (`by` 1) or the one before (-1) of the same kind; None at the end."""
    here = scene.call
    if here is None:
        return opening_call(desk, scene)
    process, _, number = here.number.rpartition('.')
    before = f'{process}.' if process else ''
    at = int(number)
    for _ in range(_TRIED):
        at += by
        if at < 1:
            return None
        try:
            call = desk.trace.call(f'{before}{at}')
        except CommandError:                    # the number does not exist, or the trace ends
            return None
        if call.site.kind == here.site.kind:
            return call
    return None


def _is_bad(call: CallRecord) -> bool:
    return any(tensor.stats is not None and tensor.stats.bad for tensor in call.outputs)
