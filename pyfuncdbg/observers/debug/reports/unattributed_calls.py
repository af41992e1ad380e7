"""Calls that may belong to a run but cannot be attributed, since several runs of the graph overlapped.

Such a call is in a run that announces no sites. Read from a trace, on any thread.
"""
from __future__ import annotations

import glob
import math
from typing import TYPE_CHECKING

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import SiteRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

_READ = 64


def count_unattributed(trace: Trace, site: SiteRecord, run: int | None) -> int:
    """The number of calls of a Python site that may be of a run; 0 without a run.

    They were made while it went on, in a run that does not announce the site; counted up to a limit.
    """
    if run is None or site.kind != 'python':
        return 0
    try:
        own = trace.run(run, site.process)
    except CommandError:                        # no such run
        return 0
    if site.id not in own.sites:
        return 0
    end = own.started + own.duration if own.duration is not None else math.inf
    _, spans = trace.spans_during(own.started, end, kind='python', site=glob.escape(site.name), limit=_READ)
    calls = [trace.call(span.number) for span in spans if span.process == site.process]
    runs = {call.run: trace.run(call.run, site.process) for call in calls if call.run != run}
    return sum(call.site.id == site.id and call.run in runs and site.id not in runs[call.run].sites for call in calls)
