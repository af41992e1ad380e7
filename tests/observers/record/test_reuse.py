"""Graph nodes recorded with what they share: every value is the one the node saw, whatever is written to in between."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from plain_host import new_run, new_site

from pyfuncdbg.hooks import chain
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

SIZE = (16, 16)


def site(name, kind='op', steady=True):
    return new_site(None, name, kind, steady=steady, inputs=['x:0', 'y:0'], outputs=[f'{name}:0'])


ADD, SUB, VIEW = site('add'), site('sub'), site('view')
PYTHON, EAGER = site('py', 'python', False), site('eager', steady=False)


def run_op(where, function, run, *inputs):
    (out,) = chain.invoke(where, lambda *values: (function(*values),), run, list(inputs))
    return out


def numbers(path):
    """Of each call by name: what the trace says of inputs and outputs, reduced to their first element."""
    with Trace.open(path) as trace:
        return [(call.site.name, [t.to_numpy().flat[0] for t in call.inputs], [t.to_numpy().flat[0] for t in call.outputs])
                for call in trace.calls(limit=1000)]


def test_what_is_passed_on_is_stored_once_and_read_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    run, x, p = new_run(), rng.normal(size=SIZE), rng.normal(size=SIZE)
    expected = []
    with Recorder(tmp_path / 't.pfd', ops=True) as recorder:
        y = x
        for i in range(30):
            given = y
            y = run_op(ADD, np.add, run, y, p)
            expected.append((given, y))
            if i % 7 == 0:
                recorder.flush()
    (log,) = (tmp_path / 't.pfd').glob('*.log')
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls(limit=100)
        assert len(calls) == 30
        for call, (given, made) in zip(calls, expected, strict=True):
            assert np.array_equal(call.inputs[0].to_numpy(), given) and np.array_equal(call.inputs[1].to_numpy(), p)
            assert np.array_equal(call.outputs[0].to_numpy(), made)
            assert call.outputs[0].stats.max == made.max() and call.inputs[0].stats.min == given.min()
            assert [t.name for t in (*call.inputs, *call.outputs)] == ['x:0', 'y:0', 'add:0']
        assert trace.info().dropped == {}
    assert log.stat().st_size < 32 * x.nbytes + 20_000


def test_a_fed_array_that_a_python_call_writes_to_is_taken_again(tmp_path):
    run, x, p = new_run(), np.full(SIZE, 1.0), np.full(SIZE, 10.0)

    def overwrite(value):
        x[:] = 5.0
        return value
    with Recorder(tmp_path / 't.pfd', ops=True):
        run_op(ADD, np.add, run, x, p)
        run_op(PYTHON, overwrite, run, p.copy())
        run_op(SUB, np.subtract, run, x, p)
    assert numbers(tmp_path / 't.pfd') == [('add', [1, 10], [11]), ('py', [10], [10]), ('sub', [5, 10], [-5])]


def test_nothing_is_shared_between_runs_or_at_sites_that_promise_nothing(tmp_path):
    x, p = np.full(SIZE, 1.0), np.full(SIZE, 10.0)
    with Recorder(tmp_path / 't.pfd', ops=True):
        run = new_run()
        run_op(ADD, np.add, run, x, p)
        x[:] = 2.0
        run_op(ADD, np.add, new_run(), x, p)
        x[:] = 3.0
        run_op(EAGER, np.add, run, x, p)
        x[:] = 4.0
        out = run_op(EAGER, np.add, run, x, p)
        out[:] = 0.0
    assert numbers(tmp_path / 't.pfd') == [('add', [1, 10], [11]), ('add', [2, 10], [12]), ('eager', [3, 10], [13]),
                                           ('eager', [4, 10], [14])]


@pytest.mark.parametrize('through', [lambda v: v, lambda v: v.reshape(-1)])
def test_what_is_passed_through_or_viewed_is_not_taken_for_the_ops_own(tmp_path, through):
    run, x = new_run(), np.full(SIZE, 1.0)
    with Recorder(tmp_path / 't.pfd', ops=True) as recorder:
        recorder._writer.end_thread()
        y = run_op(VIEW, through, run, x)
        x[:] = 9.0
        run_op(PYTHON, lambda v: v, run, np.zeros(SIZE))
        run_op(ADD, np.add, run, y, y)
    assert numbers(tmp_path / 't.pfd') == [('view', [1], [1]), ('py', [0], [0]), ('add', [9, 9], [18])]


def test_statistics_are_those_of_each_value(tmp_path):
    run, y = new_run(), np.arange(256.0).reshape(SIZE)
    with Recorder(tmp_path / 't.pfd', ops=True, level='stats', full_limit=0):
        for _ in range(5):
            y = run_op(ADD, np.add, run, y, y)
    with Trace.open(tmp_path / 't.pfd') as trace:
        for i, call in enumerate(trace.calls()):
            assert [t.stats.max for t in (*call.inputs, *call.outputs)] == [255 * 2.0 ** i] * 2 + [255 * 2.0 ** (i + 1)]
            assert {t.level for t in call.inputs} == {'stats'}


def test_kept_and_dropped_make_what_was_produced(tmp_path):
    run, y = new_run(), np.ones((32, 32))
    with Recorder(tmp_path / 't.pfd', ops=True, budget=300_000) as recorder:
        for i in range(300):
            y = run_op(ADD, lambda a, b, i=i: a + b * i, run, y, np.ones((32, 32)))
            if i % 50 == 0:
                recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls, dropped = trace.calls(limit=1000), trace.info().dropped
        kept = sum(t.level == 'full' for c in calls for t in (*c.inputs, *c.outputs))
        assert len(calls) + dropped.get('calls', 0) == 300
        assert kept + dropped['tensors'] == 900 and kept > 0
        for tensor in [t for c in calls for t in c.outputs if t.level == 'full']:
            tensor.to_numpy()


def test_arrays_do_not_live_longer_than_in_the_program(tmp_path):
    run = new_run()
    with Recorder(tmp_path / 't.pfd', ops=True) as recorder:
        y = run_op(ADD, np.add, run, np.ones(SIZE), np.ones(SIZE))
        alive = weakref.ref(y)
        recorder._writer.end_thread()
        del y
        gc.collect()
        assert alive() is None


def test_the_same_bytes_in_another_shape_have_their_own_statistics(tmp_path):
    run, bad = new_run(), np.zeros(64)
    bad[20] = np.nan
    with Recorder(tmp_path / 't.pfd', ops=True, level='stats', full_limit=0):
        for value in (bad, bad.reshape(8, 8), bad.view(np.int64), bad.copy()):
            run_op(EAGER, lambda v: v, run, value)
    with Trace.open(tmp_path / 't.pfd') as trace:
        stats = [call.inputs[0].stats for call in trace.calls()]
        assert [s.first_bad for s in stats] == [(20,), (2, 4), None, (20,)]
        assert [s.nan for s in stats] == [1, 1, 0, 1] and stats[2].max == 0x7ff8000000000000
