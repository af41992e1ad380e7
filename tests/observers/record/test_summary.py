"""Counts in the place of values, what it cost a framework to hand over its ops, and who hears of hooks that come and go."""
from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_host import new_run, new_site

from pyfuncdbg.hooks import chain, op_cost
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.value_placeholders import LaterSummary, ValueSummary
from pyfuncdbg.observers.record.log import back_pressure
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

COUNTED = ValueSummary(np.dtype(np.float32), (2, 3), nan=1, neg_inf=0, neg=2, zero=1, pos=1, pos_inf=1)


@pytest.mark.parametrize(('options', 'kept'), [({'full_limit': 0}, True), ({}, True), ({'level': 'none'}, False)])
def test_counts_are_recorded_as_they_are(tmp_path: Path, options: dict[str, Any], kept: bool) -> None:
    with Recorder(tmp_path / 'a.pfd', ops=True, **options) as recorder:
        assert hooks.summaries is (options == {'full_limit': 0}) and recorder.summaries is hooks.summaries
        chain.invoke(new_site(None, 'log', 'op'), lambda *_: [COUNTED, None], new_run(), [COUNTED])
    with Trace.open(tmp_path / 'a.pfd') as trace:
        (call,) = trace.calls(kind='op')
        bad = trace.count(kind='op', bad=True)
    given, made, nothing = *call.inputs, *call.outputs
    assert (given.dtype, given.shape, given.nbytes, given.key) == ('float32', (2, 3), 24, None) and nothing.absent
    assert bad == int(kept) and (made.stats is not None) is kept
    if made.stats is not None:
        stats = made.stats
        assert (stats.size, stats.nan, stats.neg_inf, stats.neg, stats.zero, stats.pos, stats.pos_inf, stats.bad) == (
            6, 1, 0, 2, 1, 1, 1, 2)


def test_statistics_that_a_device_is_waited_for_are_recorded_to_the_last(tmp_path: Path,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that waits for one value after the other goes on: it is no disk that hangs."""
    def count() -> ValueSummary:
        time.sleep(.2)
        return COUNTED
    monkeypatch.setattr(back_pressure, 'PATIENCE', .6)
    with Recorder(tmp_path / 'a.pfd'):
        later = LaterSummary(replace(COUNTED, nan=0), count)
        for _ in range(8):
            chain.invoke(new_site(None, 'log', 'python'), lambda *_: [later], new_run(), [later])
    with Trace.open(tmp_path / 'a.pfd') as trace:
        counts = [call.outputs[0].stats for call in trace.calls()]
    assert [stats.nan for stats in counts if stats is not None] == [1] * 8


def test_what_handing_over_cost_is_that_of_the_recording(tmp_path: Path) -> None:
    op_cost.add(1.0, 500)                       # before it
    with Recorder(tmp_path / 'a.pfd', ops=True):
        op_cost.add(0.25, 100)
        op_cost.add(0.5, 20)
    with Recorder(tmp_path / 'none.pfd', ops=True):
        pass
    with Trace.open(tmp_path / 'a.pfd') as trace:
        assert trace.info().op_cost == op_cost.OpCost(2, 0.75, 120)
    with Trace.open(tmp_path / 'none.pfd') as trace:
        assert trace.info().op_cost is None


def test_hosts_hear_of_hooks_that_come_and_go(tmp_path: Path) -> None:
    heard: list[int] = []
    end = hooks.subscribe(lambda: heard.append(len(hooks.op)))
    with Recorder(tmp_path / 'a.pfd', ops=True):
        assert heard == [1]
    assert heard[0] == 1 and set(heard[1:]) == {0}
    end()
    known = list(heard)
    with Recorder(tmp_path / 'b.pfd', ops=True):
        assert heard == known
