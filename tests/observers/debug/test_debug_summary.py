"""The summary counts and groups what a trace holds."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from written_trace import tensor, trace_of

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.numerics.nan_outcomes import outcomes
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.views.reports.info import run_counts, run_numbers
from pyfuncdbg.ui.views.sample_trace import sample


def test_sites_with_their_times_and_failures():
    uses = {use.site.name: use for use in summarize(sample()).sites}
    assert list(uses) == ['norm', 'scale']
    assert (uses['norm'].calls, uses['norm'].failed) == (3, 1)
    assert uses['norm'].total == pytest.approx(6.3e-4)
    assert uses['scale'].mean == pytest.approx(4e-5)


def test_unfinished_calls_have_no_time():
    summary = summarize(trace_of([replace(sample().call(1), duration=None)], ()))
    assert summary.unfinished == 1
    assert (summary.sites[0].total, summary.sites[0].mean) == (0.0, None)


def test_origins_with_heirs():
    (origin,) = summarize(sample()).origins
    assert (origin.finding.call.number, origin.heirs) == ('3', {'python': 1})


def test_heirs_are_the_steps_that_the_title_counts():
    """What comes to a source of the program's is no step: of three backward steps one gives birth and one inherits."""
    bad = tensor('dy:0', np.array([np.nan]))
    site = replace(sample().call(3).site, id=7, kind='gradient', name='sqrt_grad', function='')
    born = replace(sample().call(3), number='11', site=site, inputs=(tensor('up:0', np.array([1.0])),), outputs=(bad,),
                   output=())
    heir = replace(born, number='12', site=replace(site, id=8, name='mul_grad'), inputs=(bad,), started=born.started + 1)
    source = replace(heir, number='13', site=replace(site, id=9, name='x_grad', attrs={'source': True}),
                     started=born.started + 2)
    trace = trace_of((born, heir, source), ())
    summary = summarize(trace)
    assert summary.calls == {'gradient': 2} and [origin.heirs for origin in summary.origins] == [{'gradient': 1}]
    assert [outcome.heirs for outcome in outcomes(trace, judge(trace))] == [1]


def test_an_origin_that_was_masked_at_once_leads_only_alone():
    born, heir = sample().call(3), sample().call(4)
    early = replace(born, number='1', started=0.0, run=9, outputs=(tensor('early:0', np.array([np.inf])),),
                    site=replace(born.site, id=31, name='early'))
    mask = replace(early, number='2', started=0.1, inputs=early.outputs, outputs=(tensor('mask:0', np.array([0.0])),),
                   site=replace(born.site, id=32, name='mask'))
    summary = summarize(trace_of((early, mask, born, heir), ()))
    assert [origin.finding.call.number for origin in summary.origins] == ['3', '1'] and summary.masked == 1
    assert [origin.finding.call.number for origin in summarize(trace_of((early, mask), ())).origins] == ['1']


def test_failures_are_grouped_by_site_type_and_function():
    failed = sample().call(5)
    other = replace(failed, number='8', error=replace(failed.error, type='ValueError'))
    groups = summarize(trace_of([failed, replace(failed, number='7'), other], ())).failures
    assert [(group.call.number, group.count) for group in groups] == [('5', 2), ('8', 1)]


def test_bad_fetches_name_the_first_run():
    runs = [replace(sample().run(1), id=n, fetches=(tensor('loss:0', np.array(value)), tensor('k:0', np.array(1.0))))
            for n, value in ((1, 0.5), (2, np.nan), (3, np.inf))]
    (fetch,) = summarize(trace_of((), runs)).fetches
    assert (fetch.run, fetch.tensor.name, fetch.runs) == (2, 'loss:0', 2)


def test_results_of_one_run_are_one_run_whatever_their_names():
    bad = [tensor(name, np.array(np.nan)) for name in ('', '', '', 'loss:0', 'loss:0')]
    runs = [replace(sample().run(1), id=n, label='step', fetches=tuple(bad)) for n in (1, 2)]
    fetches = summarize(trace_of((), runs)).fetches
    assert [(fetch.run, fetch.tensor.name, fetch.runs) for fetch in fetches] == [(1, '', 2), (1, 'loss:0', 2)]


def test_nameless_results_are_told_apart_by_their_run():
    runs = [replace(sample().run(1), id=n, label=label, fetches=(tensor('', np.array(np.nan)),))
            for n, label in ((1, 'step'), (2, 'GradientTape.gradient'), (3, 'step'))]
    fetches = summarize(trace_of((), runs)).fetches
    assert [(fetch.run, fetch.source, fetch.runs) for fetch in fetches] == [(1, 'step', 2), (2, 'GradientTape.gradient', 1)]


def test_runs_are_those_that_a_user_counts(tmp_path):
    """A gradient within a run is none, nor is a backward pass or an element of a dataset, which have numbers of runs too."""
    with pyfuncdbg.record(tmp_path / 'earlier.pfd'), tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.constant(1.0))           # the runs of the next trace have numbers from a later one on
    with pyfuncdbg.record(tmp_path / 'session.pfd'), tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
        gradient, = tf.gradients(tf.py_function(lambda v: v * v, [x], tf.float32), [x])
        with tf.compat.v1.Session() as session:
            for step in range(4):
                session.run(gradient, {x: [step, np.nan if step == 3 else 1]})
    with Trace.open(tmp_path / 'session.pfd') as trace:
        info, summary = trace.info(), summarize(trace)
        assert run_counts(info) == '4 runs'
        first = trace.runs()[0].id
        assert info.first_run == first > 1
        assert run_numbers(info) == f'run #N counts runs and backward passes, from {first}'
        assert len(trace.runs()) == 8 and [run.kind for run in trace.runs()[:2]] == ['session', 'inner']
        assert [fetch.source for fetch in summary.fetches] == ['Session.run']
    with pyfuncdbg.record(tmp_path / 'eager.pfd'):
        for step in range(3):
            x = tf.constant([step, np.nan if step == 2 else 1.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.py_function(lambda v: v * v, [x], tf.float32)
            tape.gradient(y, x)
        tf.function(lambda v: tf.numpy_function(np.sin, [v], tf.float32))(x)
        list(tf.data.Dataset.range(5).map(lambda n: tf.numpy_function(np.square, [n], tf.int64)))
    with Trace.open(tmp_path / 'eager.pfd') as trace:
        info, summary = trace.info(), summarize(trace)
        assert run_counts(info) == '2 runs, 3 backward passes, 5 elements of datasets'      # eager code, and the function
        assert run_numbers(replace(info, first_run=1)) == 'run #N counts runs, backward passes and elements of datasets'
        assert {fetch.source: fetch.runs for fetch in summary.fetches}['GradientTape.gradient'] == 1


def test_one_place_in_several_processes_is_one_site():
    norm = sample().call(1).site
    twin = replace(norm, id=norm.id + 50)       # another site of the same process that looks alike
    calls = [replace(sample().call(1), number=number, site=replace(site, process=process), process=process, duration=seconds)
             for number, process, site, seconds in (('1', 1, norm, 1.0), ('2', 1, twin, 2.0), ('2.1', 2, norm, 4.0),
                                                    ('2.2', 2, twin, 8.0), ('3.1', 3, norm, 16.0))]
    uses = summarize(trace_of(calls, ())).sites
    assert [(use.site.process, use.calls, use.finished, use.total) for use in uses] == [(1, 3, 3, 21.0), (1, 2, 2, 10.0)]
