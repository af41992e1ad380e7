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


def test_a_run_asks_for_its_sites_once_and_only_when_needed() -> None:
    asked = []
    site = CallSite('x', 'Placeholder', 'op', None)  # type: ignore[arg-type]
    run = Run('Session.run', None, 0, sites=lambda: asked.append(1) or [site])  # type: ignore[arg-type,func-returns-value]
    assert asked == []
    assert run.sites == (site,) == run.sites
    assert asked == [1]
    assert Run('eager', None, 0).sites == ()  # type: ignore[arg-type]
