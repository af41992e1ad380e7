"""The summary counts and groups what a trace holds."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyfuncdbg.observers.debug.reports.summary import summarized
from pyfuncdbg.ui.views.sample_trace import MemoryTrace, sample, tensor


def test_sites_with_their_times_and_failures():
    uses = {use.site.name: use for use in summarized(sample()).sites}
    assert list(uses) == ['norm', 'scale']
    assert (uses['norm'].calls, uses['norm'].failed) == (3, 1)
    assert uses['norm'].total == pytest.approx(6.3e-4)
    assert uses['scale'].mean == pytest.approx(4e-5)


def test_unfinished_calls_have_no_time():
    summary = summarized(MemoryTrace([replace(sample().call(1), duration=None)], ()))
    assert summary.unfinished == 1
    assert (summary.sites[0].total, summary.sites[0].mean) == (0.0, None)


def test_origins_with_heirs():
    (origin,) = summarized(sample()).origins
    assert (origin.finding.call.number, origin.heirs) == ('3', {'python': 1})


def test_failures_are_grouped_by_site_type_and_function():
    failed = sample().call(5)
    other = replace(failed, number='8', error=replace(failed.error, type='ValueError'))
    groups = summarized(MemoryTrace([failed, replace(failed, number='7'), other], ())).failures
    assert [(group.call.number, group.count) for group in groups] == [('5', 2), ('8', 1)]


def test_bad_fetches_name_the_first_run():
    runs = [replace(sample().run(1), id=n, fetches=(tensor('loss:0', np.array(value)), tensor('k:0', np.array(1.0))))
            for n, value in ((1, 0.5), (2, np.nan), (3, np.inf))]
    (fetch,) = summarized(MemoryTrace((), runs)).fetches
    assert (fetch.run, fetch.tensor.name, fetch.runs) == (2, 'loss:0', 2)


def test_results_of_one_run_are_one_run_whatever_their_names():
    bad = [tensor(name, np.array(np.nan)) for name in ('', '', '', 'loss:0', 'loss:0')]
    runs = [replace(sample().run(1), id=n, label='step', fetches=tuple(bad)) for n in (1, 2)]
    fetches = summarized(MemoryTrace((), runs)).fetches
    assert [(fetch.run, fetch.tensor.name, fetch.runs) for fetch in fetches] == [(1, '', 2), (1, 'loss:0', 2)]


def test_nameless_results_are_told_apart_by_their_run():
    runs = [replace(sample().run(1), id=n, label=label, fetches=(tensor('', np.array(np.nan)),))
            for n, label in ((1, 'step'), (2, 'GradientTape.gradient'), (3, 'step'))]
    fetches = summarized(MemoryTrace((), runs)).fetches
    assert [(fetch.run, fetch.source, fetch.runs) for fetch in fetches] == [(1, 'step', 2), (2, 'GradientTape.gradient', 1)]
