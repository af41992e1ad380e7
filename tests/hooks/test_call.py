"""The records that cross the seam."""
from __future__ import annotations

import time

from pyfuncdbg.hooks.call import CallSite, Run, new_call


def test_sites_made_again_for_one_place_share_id_and_ordinals() -> None:
    first = CallSite('norm', 'EagerPyFunc', 'python', None, function=len)  # type: ignore[arg-type]
    again = CallSite('norm', 'EagerPyFunc', 'python', None, function=max, same_as=first)  # type: ignore[arg-type]
    other = CallSite('norm', 'EagerPyFunc', 'python', None)  # type: ignore[arg-type]
    run = Run('test', None, 0)  # type: ignore[arg-type]
    calls = [new_call(site, run, [], 1, 0) for site in (first, again, first, other)]
    assert again.id == first.id != other.id
    assert again.function is max
    assert [call.ordinal for call in calls] == [0, 1, 2, 0]
    assert len({call.id for call in calls}) == 4
    assert repr(calls[2]) == f'<Call #{calls[2].id} norm[2]>'


def test_the_call_of_a_run_is_named_by_the_run() -> None:
    run = Run('Session.run', None, time.perf_counter_ns())  # type: ignore[arg-type]
    site = CallSite('run', 'Session.run', 'run', None)  # type: ignore[arg-type]
    assert new_call(site, run, [], 1, 0).id == -run.id


def test_the_call_of_a_run_begins_when_the_run_does() -> None:
    """Else a run that took a while to become a call would seem to end before its ops: its record has the call's duration."""
    run = Run('Session.run', None, 1000)  # type: ignore[arg-type]
    of_run, op = (CallSite('x', 'X', kind, None) for kind in ('run', 'op'))  # type: ignore[arg-type]
    assert new_call(of_run, run, [], 1, 5000).started == 1000
    assert new_call(op, run, [], 1, 5000).started == 5000
    assert new_call(op, run, [], 1, 5000, start=(3, 4000)).started == 4000


def test_a_run_asks_for_its_sites_once_and_only_when_needed() -> None:
    asked = []
    site = CallSite('x', 'Placeholder', 'op', None)  # type: ignore[arg-type]
    run = Run('Session.run', None, 0, sites=lambda: asked.append(1) or [site])  # type: ignore[arg-type,func-returns-value]
    assert asked == []
    assert run.sites == (site,) == run.sites
    assert asked == [1]
    assert Run('eager', None, 0).sites == ()  # type: ignore[arg-type]
