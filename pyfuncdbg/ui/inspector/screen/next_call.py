"""Choice of calls: the first to show, the next, the next that went wrong. On worker threads."""
from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.views.escape import one_line

Search = Callable[[Desk, Scene], CallRecord | None]
"""Finds the call to look at."""
CALL = re.compile(r'#?\d{1,18}(\.\d{1,18})?')
"""The number of a call, as it is searched for."""
_PAGE, _PAGES = 50, 40
"""Calls with NaN or infinity that are looked at at once, and how often: those that were only given some are passed over."""
_TRIED = 5_000
"""Numbers that are tried for the next call of a kind."""


def opening_call(desk: Desk, scene: Scene) -> CallRecord | None:
    """The call to begin with: the first that raised or gave NaN or infinity, else the first one."""
    flagged = _flagged(desk, -1.0, 1)
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


def flagged_after(desk: Desk, scene: Scene, by: int) -> CallRecord | None:
    """The next Python call (`by` 1) or the one before (-1) that raised or gave NaN or infinity; None if there is none."""
    return opening_call(desk, scene) if scene.call is None else _flagged(desk, scene.call.started, by)


def _flagged(desk: Desk, since: float, by: int) -> CallRecord | None:
    """The one nearest to a time."""
    found = [call for call in (_nearest(desk, since, by, bad=True), _nearest(desk, since, by, failed=True))
             if call is not None]
    return min(found, key=lambda call: by * call.started, default=None)


def _nearest(desk: Desk, since: float, by: int, *, bad: bool | None = None,
             failed: bool | None = None) -> CallRecord | None:
    """The nearest call with a flag, sought by bisection: a long trace has many."""
    def page(offset: int, count: int) -> list[CallRecord]:
        return desk.trace.calls(kind='python', limit=count, offset=offset, bad=bad, failed=failed)
    total = desk.trace.count(kind='python', bad=bad, failed=failed)
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
