"""NaN and Inf in runs of a real session, which are shown after they were done: where they began, with and without nodes."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.observers.debug.numerics.fused_values import fused_calls
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict, judge
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


def judged(tf: Any, path: Any, ops: bool, last: list[float]) -> list[NanVerdict]:
    """Two runs of x -> y = x * 0 -> z, a Python function."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [3], name='x')
        y = tf.divide(tf.multiply(x, 0.0, name='y'), x, name='q')
        z = v1.py_func(lambda value: value + 1, [y], tf.float32, name='z')
    with pyfuncdbg.attach('tensorflow'), v1.Session(graph=graph) as session, pyfuncdbg.record(path, ops=ops):
        session.run(z, {x: [1, 2, 3]})
        session.run(z, {x: last})
    with Trace.open(path) as trace:
        return list(judge(trace).findings)


def story(findings: list[NanVerdict]) -> list[tuple[str, str, str]]:
    names = {finding.call.number: finding.call.site.name for finding in findings}
    return [(finding.call.site.name, finding.verdict, names.get(finding.origin, '')) for finding in findings]


def test_a_feed_is_the_origin(tf: Any, tmp_path: Any) -> None:
    findings = judged(tf, tmp_path / 'with.pfd', True, [1, 2, np.inf])
    assert story(findings) == [('y', 'fed', ''), ('q', 'inherited', 'y'), ('z', 'inherited', 'y'), ('z', 'inherited', 'y')]
    assert findings[0].tensor.name == 'x:0' and all(finding.certain for finding in findings)
    findings = judged(tf, tmp_path / 'without.pfd', False, [1, 2, np.inf])
    assert story(findings) == [('Session.run', 'fed', ''), ('z', 'inherited', 'Session.run')]
    assert findings[0].tensor.name == 'x:0' and not findings[1].certain


def test_a_node_is_the_origin(tf: Any, tmp_path: Any) -> None:
    findings = judged(tf, tmp_path / 'with.pfd', True, [1, 0, 3])
    assert story(findings) == [('q', 'born', ''), ('z', 'inherited', 'q'), ('z', 'inherited', 'q')]


@pytest.mark.parametrize('resource', [False, True])
def test_a_step_that_spoils_its_variable_has_spoiled_nothing_before(tf: Any, tmp_path: Any, resource: bool) -> None:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [], name='x')
        w = v1.get_variable('w', [], initializer=v1.constant_initializer(2.0), use_resource=resource)
        loss = tf.square(tf.multiply(w, x, name='h') - 1.0, name='loss')
        train = v1.train.GradientDescentOptimizer(1e38).minimize(loss)
        init = v1.global_variables_initializer()
    path = tmp_path / 'spoiled.pfd'
    with pyfuncdbg.attach('tensorflow'), v1.Session(graph=graph) as session:
        session.run(init)
        with pyfuncdbg.record(path, ops=True):
            assert session.run([loss, train], {x: 3.0})[0] == 25
    with Trace.open(path) as trace:
        shown = {call.site.name: call.outputs[0].to_numpy() for site in ('h', 'loss') for call in trace.calls(site=site)}
        assert shown == {'h': 6, 'loss': 25} and not fused_calls(trace)
        assert [finding.call.site.op_type for finding in judge(trace).findings] == (
            [] if resource else ['ApplyGradientDescent'])
