"""From call to call: the one to begin with, the next, the next that went wrong. On worker threads."""
from __future__ import annotations

from pyfuncdbg.errors import CommandError
from pyfuncdbg.inspector.desk import Desk
from pyfuncdbg.inspector.scene import Scene
from pyfuncdbg.record.records import CallRecord

_FLAGGED = 2_000
"""Calls with NaN, infinity or an error that are looked through."""
_TRIED = 5_000
"""Numbers that are tried for the next call of a kind."""


def opening_call(desk: Desk, scene: Scene) -> CallRecord | None:
    """The call to begin with: the first that raised or gave NaN or infinity, else the first one."""
    flagged = _flagged(desk, 1)
    if flagged:
        return flagged[0]
    found = desk.trace.calls(kind='python', limit=1) or desk.trace.calls(limit=1)
    return found[0] if found else None


def opening_words(call: CallRecord) -> str:
    """What a user is told about the call that the inspector begins with."""
    if call.error is not None:
        return 'is the first call that raised or gave NaN or infinity: r reports what happened, f goes to the next one'
    if _is_bad(call):
        return 'is the first call that gave NaN or infinity: h says where that began, f goes to the next one'
    return 'is the first call; none raised or gave NaN or infinity. r reports what ran, "." goes to the next one'


def flagged_after(desk: Desk, scene: Scene, by: int) -> CallRecord | None:
    """The next call (`by` 1) or the one before (-1) that raised or gave NaN or infinity; None if there is none."""
    found = _flagged(desk, _FLAGGED)
    here = scene.call
    if here is None:
        return found[0] if found else None
    if by > 0:
        return next((call for call in found if call.started > here.started), None)
    return next((call for call in reversed(found) if call.started < here.started), None)


def _flagged(desk: Desk, limit: int) -> list[CallRecord]:
    """Python calls that raised or made a non-finite value, in order of time; one that only passes it on, too."""
    bad = [call for call in desk.trace.calls(kind='python', bad=True, limit=limit) if _is_bad(call)]
    failed = desk.trace.calls(kind='python', failed=True, limit=limit)
    return sorted({call.number: call for call in (*bad, *failed)}.values(), key=lambda call: call.started)


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
        except CommandError:                    # a number that was never given, or the end
            return None
        if call.site.kind == here.site.kind:
            return call
    return None


def _is_bad(call: CallRecord) -> bool:
    return any(tensor.stats is not None and tensor.stats.bad for tensor in call.outputs)
