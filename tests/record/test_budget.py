"""The byte budget is never exceeded, and what did not fit is counted exactly, under threads too."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_host import wrapped

from pyfuncdbg.record.recorder import Recorder
from pyfuncdbg.record.trace import Trace

sys.path.insert(0, str(Path(__file__).parent.parent))
from native_threads import run_native


def size(path):
    return sum(os.path.getsize(path / name) for name in os.listdir(path) if not name.startswith('index'))


def kept(trace):
    calls = trace.calls()
    return {'calls': len(calls),
            'tensors': sum(t.level == 'full' for c in calls for t in (*c.inputs, *c.outputs)),
            'prints': sum(len(c.output) for c in calls)}


@pytest.mark.parametrize('budget', [64 << 10, 300_000, 2 << 20])
def test_kept_and_dropped_make_what_was_produced(tmp_path, budget):
    threads, each = 8, 200
    path = tmp_path / 't.pfd'

    def work(number):
        def say(x, scale):
            print(f'token-{number}-{x[0]}')
            return [x * scale]
        call = wrapped(say, name=f'site{number}')
        for i in range(each):
            call(np.full(100, 1000.0 * number + i), np.float32(2))
    with Recorder(path, budget=budget):
        run_native([lambda n=n: work(n) for n in range(threads)])
    assert size(path) <= budget
    with Trace.open(path) as trace:
        info = trace.info()
        assert info.complete and info.damage == ()
        produced = {'calls': threads * each, 'tensors': 3 * threads * each, 'prints': threads * each}
        found = kept(trace)
        assert {kind: found[kind] + info.dropped.get(kind, 0) for kind in produced} == produced
        assert (found['calls'] == produced['calls']) or info.dropped['tensors'] > 0
        for call in trace.calls(printed=True):
            given = call.inputs[0]
            assert call.output[0].text.startswith(f'token-{call.site.name[4:]}-')
            if given.level == 'full':
                assert call.output[0].text == f'token-{call.site.name[4:]}-{given.to_numpy()[0]}\n'
            assert call.thread > 0


def test_eight_native_threads_are_recorded_whole(tmp_path):
    def work(number):
        def say(x):
            print(f'<{number}.{int(x)}>')
            return [x]
        call = wrapped(say, name=f'site{number}')
        for i in range(200):
            call(np.float64(i))
    with Recorder(tmp_path / 't.pfd'):
        run_native([lambda n=n: work(n) for n in range(8)])
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls()
        assert len(calls) == 1600 and len({c.thread for c in calls}) == 8
        for call in calls:
            assert [o.text for o in call.output] == [f'<{call.site.name[4:]}.{int(call.inputs[0].to_numpy())}>\n']


def test_tensor_bytes_go_first_and_bad_ones_are_still_found(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd', budget=1 << 20) as recorder:
        for i in range(400):
            call(np.full(1000, i if i % 50 else np.nan) + np.arange(1000) * 1e-9 * i)
            if i % 20 == 0:
                recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.count() == 400
        assert [c.ordinal for c in trace.calls(bad=True)] == list(range(0, 400, 50))
        dropped = [t for c in trace.calls() for t in c.inputs if t.level != 'full']
        assert dropped and all(t.note == 'over budget' for t in dropped)


def test_exact_bytes_of_what_was_dropped(tmp_path):
    call = wrapped(lambda x: [])
    with Recorder(tmp_path / 't.pfd', budget=1 << 20) as recorder:
        for i in range(300):
            call(np.full(1000, i, np.float64))
            recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        lost = trace.info().dropped
        missing = sum(t.level != 'full' for c in trace.calls() for t in c.inputs)
        assert lost['bytes'] == 8000 * lost['tensors'] == 8000 * missing > 0


def test_a_print_larger_than_the_queue(tmp_path):
    def shout(x):
        for _ in range(50):
            print('x' * 1000)
        return [x]
    call = wrapped(shout)
    with Recorder(tmp_path / 't.pfd', budget=64 << 10):
        call(1.0)
    assert size(tmp_path / 't.pfd') <= 64 << 10
    with Trace.open(tmp_path / 't.pfd') as trace:
        (seen,) = trace.calls()
        assert len(seen.output) + seen.dropped.get('prints', 0) >= 50
        assert trace.info().dropped['prints'] == seen.dropped['prints']


def test_the_budget_is_shared_with_children(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd', budget=1 << 20):
        children = []
        for n in range(3):
            child = os.fork()
            if not child:
                for i in range(200):
                    call(np.full(1000, 1000 * n + i, np.float64))
                    if i % 20 == 0:
                        _recorder_of(call).flush()
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    assert size(tmp_path / 't.pfd') <= 1 << 20


def _recorder_of(_):
    from pyfuncdbg.hooks.chain import hooks
    return next(hook for hook in hooks.python if isinstance(hook, Recorder))
