"""Retry mark: the call of a node executed once more is recorded as a retry of its first execution.

A hook for one node, outside of recorders; where the run goes back, the host makes a new call that knows nothing of the
first one. Installed at a prompt, gone when the node has run; on the thread of the run.
"""
from __future__ import annotations

import glob
import os
from collections.abc import Callable

from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.observers.debug.queries import Queries

_DEPTH = -101
_GRAINS: tuple[Kind, ...] = ('python', 'op')


class RetryMark:
    """Marks the calls of one node: that of its Python function and that of the node around it."""

    passive = True

    def __init__(self, run: Run, site: CallSite, first: dict[Kind, int]) -> None:
        """`first`: id of the first execution, by kind of call."""
        self._run = run
        self._name = site.name
        self._first = first
        self.kinds = frozenset(first)

    def wants(self, site: CallSite, run: Run) -> bool:
        """Only calls of that node."""
        return run is self._run and site.name == self._name

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if not self.wants(call.site, call.run):
            return proceed()
        call.retry_of = self._first.get(call.site.kind, 0)
        try:
            return proceed()
        finally:
            hooks.remove(self)


def mark_retry(trace: Queries, run: Run, site: CallSite) -> None:
    """Mark the next execution of a node in a run, if its last one was recorded."""
    first: dict[Kind, int] = {}
    pids = trace.info().processes
    process = pids.index(os.getpid()) + 1 if os.getpid() in pids else 1
    for kind in _GRAINS:
        calls = trace.calls(kind=kind, site=glob.escape(site.name), run=run.id)
        own = [call for call in calls if call.site.name == site.name and call.process == process]
        if own:
            first[kind] = int((own[-1].retry_of or own[-1].number).rpartition('.')[2])
    if first:
        hooks.add(RetryMark(run, site, first), depth=_DEPTH)
