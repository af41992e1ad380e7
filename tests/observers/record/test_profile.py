"""Trace.profile, plans, newest: times of their own, runs of one plan, the newest calls of just one site."""
from __future__ import annotations

import time

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.record.index import site_usage


@pytest.fixture(scope='module')
def trace(tmp_path_factory):
    def inner(x):
        time.sleep(0.01)
        return x

    def outer(x):
        time.sleep(0.02)
        if x[0] < 0:
            raise ValueError('negative')
        return tf.numpy_function(inner, [x], tf.float32, name='inner').numpy() * x[1]
    path = tmp_path_factory.mktemp('profile') / 'nested.pfd'
    with pyfuncdbg.record(path), tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name='x')
        y = tf.numpy_function(outer, [x], tf.float32, name='outer')
        z = tf.numpy_function(outer, [x], tf.float32, name='scope/outer')
        with tf.Session(graph=graph) as session:
            for values in ([1, 2], [1, np.nan]):
                session.run(y, {x: values})
            session.run(z, {x: [1, 2]})
            with pytest.raises(tf.errors.OpError):
                session.run(y, {x: [-1, 0]})
    with pyfuncdbg.load(path) as opened:
        yield opened


def test_time_of_its_own_is_without_calls_inside(trace):
    times = {time.site.name: time for time in trace.profile()}
    outer, inner = times['outer'], times['inner']
    assert (outer.calls, outer.failed, outer.finished, outer.bad) == (3, 1, 3, 1) and inner.calls == 3
    calls = trace.calls(site='outer')
    of_outer = [call for call in calls if call.site.name == 'outer']
    inside = [call for call in trace.calls(site='inner') if call.parent in {call.number for call in of_outer}]
    assert len(inside) == 2
    assert outer.total == pytest.approx(sum(call.duration for call in of_outer))
    assert outer.own == pytest.approx(outer.total - sum(call.duration for call in inside)) and outer.own < outer.total
    assert inner.own == inner.total and outer.longest == max(call.duration for call in of_outer)
    assert outer.newest == of_outer[-1].number


@pytest.mark.parametrize('together', [1, 2, 5])
def test_sums_of_parts_are_those_of_all(trace, together, monkeypatch):
    profile, usage = trace.profile(), trace.usage()
    monkeypatch.setattr(site_usage, '_TOGETHER', together)
    assert trace.profile() == profile and trace.usage() == usage and len(usage) == 3


def test_of_one_run(trace):
    first = trace.calls(site='outer')[0].run
    times = {time.site.name: time for time in trace.profile(first)}
    assert times['outer'].calls == 1 and 'scope/outer' not in times
    assert trace.profile(10**9) == []


def test_runs_of_one_plan_are_counted(trace):
    plans = [plan for plan in trace.plans() if plan.sites]
    assert [(plan.fetches, plan.runs) for plan in plans] == [(('outer:0',), 3), (('scope/outer:0',), 1)]
    assert plans[0].feeds == ('x:0',) and plans[0].newest == max(call.run for call in trace.calls(site='outer'))


def test_newest_calls_of_just_this_site(trace):
    site = next(site for site in trace.sites() if site.name == 'outer' and site.kind == 'python')
    assert [call.ordinal for call in trace.newest_calls(site, limit=5)] == [2, 1, 0]
    first = trace.calls(site='outer')[0]
    assert [call.number for call in trace.newest_calls(site, run=first.run)] == [first.number]
    assert trace.newest_calls(site, run=10**9) == []
