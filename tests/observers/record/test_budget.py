"""The byte budget is never exceeded, and what did not fit is counted exactly, under threads too."""
from __future__ import annotations

import os
import resource
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from plain_host import new_run, wrapped

from pyfuncdbg.observers.record.log import back_pressure, journal
from pyfuncdbg.observers.record.log.log_file import LogFile, LogReader
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent
from pyfuncdbg.observers.record.trace import Trace

sys.path.insert(0, str(Path(__file__).parents[2]))
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


def test_calls_without_room_are_not_encoded_again_and_again(tmp_path, monkeypatch):
    encoded = []

    def counted(rows, describe):
        encoded.append(len(rows))
        return encode(rows, describe)
    encode = journal.encode
    monkeypatch.setattr(journal, 'encode', counted)
    call = wrapped(lambda x: [x], name='site')
    with Recorder(tmp_path / 't.pfd', budget=1 << 20) as recorder:
        for i in range(3000):
            call(np.full(100, float(i)))
        recorder.flush()
        del encoded[:]
        for i in range(3000):
            call(np.full(100, float(i)))
    assert max(encoded) <= 12 and sum(encoded) <= 1000      # of a batch; whole batches, several times each, before
    with Trace.open(tmp_path / 't.pfd') as trace:
        found, dropped = kept(trace), trace.info().dropped
        assert found['calls'] + dropped['calls'] == 6000
        assert found['tensors'] + dropped['tensors'] == 12000


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


def test_runs_without_room_are_counted_each(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd', budget=64 << 10) as recorder:
        for start in range(0, 3000, 300):       # many runs in one record
            for number in range(300):
                call(np.float64(start + number), run=new_run('step'))
            recorder.flush()
    with Trace.open(tmp_path / 't.pfd') as trace:
        dropped = trace.info().dropped
        assert trace.count() + dropped['calls'] == 3000 and 0 < dropped['runs'] < 3000
        assert len(trace.runs()) + dropped['runs'] == 3000


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


@pytest.mark.parametrize('left', [0, 5])
def test_a_ledger_that_was_cut_off_is_counted_again(tmp_path, left):
    """Neither is the budget called spent, nor is more taken than it; a child has a log of its own."""
    call, path, budget = wrapped(lambda x: [x]), tmp_path / 't.pfd', 4 << 20
    with Recorder(path, budget=budget) as recorder:
        for number in range(40):
            call(np.full(1000, number, np.float64))
        recorder.flush()
        os.truncate(path / 'ledger', left)
        child = os.fork()
        if not child:
            for number in range(40):
                call(np.full(1000, 100 + number, np.float64))
            _recorder_of(call).flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        os.truncate(path / 'ledger', left)
        for number in range(40):
            call(np.full(1000, 200 + number, np.float64))
    assert len(list(path.glob('*.log'))) == 2 and size(path) <= budget
    with Trace.open(path) as trace:
        assert not any(trace.info().dropped.values())
        values = {float(one.inputs[0].to_numpy()[0]) for one in trace.calls()}
    assert values == {float(base + number) for base in (0, 100, 200) for number in range(40)}


def _recorder_of(_):
    from pyfuncdbg.hooks.chain import hooks
    return next(hook for hook in hooks.python if isinstance(hook, Recorder))


@pytest.fixture
def slow_disk(monkeypatch):
    """Every megabyte takes a while: the queue is always full."""
    writev, write = os.writev, os.write

    def slowly(fd, pieces):
        time.sleep(sum(map(len, pieces)) / 80e6)
        return writev(fd, pieces)

    def slowly_one(fd, data):
        time.sleep(len(data) / 80e6)
        return write(fd, data)
    monkeypatch.setattr(os, 'writev', slowly)
    monkeypatch.setattr(os, 'write', slowly_one)


@pytest.mark.parametrize(('budget', 'threads', 'sizes'), [
    (1 << 30, 1, [250_000, 1_000_000, 4_000_000] * 20), (1 << 30, 8, [200_000] * 40), (1 << 30, 4, [40_000_000]),
    (16 << 20, 4, [100_000] * 20), (16 << 20, 3, [3_000_000]), (64 << 20, 8, [40_000, 300, 5] * 30)])
def test_no_value_is_dropped_while_memory_and_disk_allow(tmp_path, slow_disk, budget, threads, sizes):
    def work(number):
        call = wrapped(lambda x: [x[:2]], name=f'site{number}')
        for i, size in enumerate(sizes):
            call(np.arange(size // 8 + 1) + (number << 40) + (i << 30))
    with Recorder(tmp_path / 't.pfd', budget=budget, level='full') as recorder:
        run_native([lambda n=n: work(n) for n in range(threads)])
    assert recorder._snapshots.allowance.used >= 0 and size(tmp_path / 't.pfd') <= budget
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().dropped == {} and trace.info().damage == ()
        assert trace.count() == threads * len(sizes)
        for number in range(threads):
            for i, call in enumerate(trace.calls(site=f'site{number}')):
                value = call.inputs[0].to_numpy()
                assert len(value) == sizes[i] // 8 + 1 and not call.inputs[0].changed
                assert np.array_equal(value, np.arange(len(value)) + (number << 40) + (i << 30))


def test_values_beyond_the_queue_take_no_more_memory_than_it_has(tmp_path):
    big = np.arange(8_000_000)                  # 64 MB; the queue of this budget may hold 32
    call = wrapped(lambda x: [])
    with Recorder(tmp_path / 't.pfd', budget=1 << 30, level='full'):
        call(big[:1000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for start in range(3):
            call(big[start:])
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 45_000
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().dropped == {}
        assert [c.inputs[0].to_numpy()[0] for c in trace.calls()] == [0, 0, 1, 2]


@pytest.mark.parametrize('value', [
    np.arange(2_000_000, dtype='>f8'), np.arange(2_000_000.).reshape(1000, 2000).T, np.arange(4_000_000.)[::2],
    np.array([b'a' * 100, b'bc'] * 50_000), np.array(['\xe4' * 60, 'x'] * 50_000),
    np.array(['\xe4' * 90, b'x'] * 50_000, object), np.arange(2_000_000).astype(np.complex64),
    np.rec.fromarrays([np.arange(300_000.), np.arange(300_000)]).view(np.ndarray)],
    ids=lambda value: f'{value.dtype}{value.flags.c_contiguous:d}')
def test_values_of_every_kind_beyond_the_queue(tmp_path, value):
    def inplace(x):
        if write:
            x.flat[-1] = x.flat[0]
        return []
    call = wrapped(inplace)
    for budget in (32 << 20, 1 << 30):          # written at once; through the queue
        for write in (False, True):
            path = tmp_path / f'{budget}{write}.pfd'
            given = value.copy() if write else value
            with Recorder(path, budget=budget, level='full'):
                call(given)
            with Trace.open(path) as trace:
                assert trace.info().dropped == {}, trace.info().dropped
                (seen,) = trace.calls()[0].inputs
                assert seen.shape == value.shape and seen.level == 'full'
                expected = value if value.dtype.kind not in 'SUO' else np.array(
                    [e if isinstance(e, bytes) else e.encode() for e in value.tolist()], object)
                assert np.array_equal(seen.to_numpy(), expected)
                assert seen.changed == write


def test_memory_held_by_running_calls_does_not_cost_values(tmp_path):
    """Nested calls hold all of the queue and the writer has nothing to write: what they get is written at once."""
    def deeper(x):
        level = int(x[0])
        if level:
            call(np.full(50_000, level - 1.0))
        return []
    call = wrapped(deeper)
    began = time.monotonic()
    with Recorder(tmp_path / 't.pfd', budget=24 << 20, level='full'):
        call(np.full(50_000, 30.0))
    assert time.monotonic() - began < back_pressure.PATIENCE
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().dropped == {}
        assert sorted(c.inputs[0].to_numpy()[-1] for c in trace.calls()) == list(range(31))


def test_a_disk_that_hangs_does_not_hang_the_program(tmp_path, monkeypatch):
    """Calls wait once for as long as is said, then never again until something is written; what was lost is counted."""
    going, writev, write = threading.Event(), os.writev, os.write
    monkeypatch.setattr(back_pressure, 'PATIENCE', 0.5)
    monkeypatch.setattr(os, 'writev', lambda fd, pieces: going.wait(60) and writev(fd, pieces))
    monkeypatch.setattr(os, 'write', lambda fd, data: going.wait(60) and write(fd, data))
    call = wrapped(lambda x: [])
    going.set()
    with Recorder(tmp_path / 't.pfd', budget=16 << 20, level='full') as recorder:
        going.clear()
        done = threading.Event()

        def work():
            for i in range(40):
                call(np.full(20_000, float(i)))
            call(np.zeros(3_000_000))
            done.set()
        threading.Thread(target=work, daemon=True).start()
        assert done.wait(30)
        assert recorder._backlog.pressure.stalled
        going.set()
        recorder.flush()
        assert not recorder._backlog.pressure.stalled
        call(np.full(20_000, 77.0))
    with Trace.open(tmp_path / 't.pfd') as trace:
        inputs = [c.inputs[0] for c in trace.calls()]
        assert len(inputs) == 42 and inputs[-1].to_numpy()[0] == 77
        missing = [t for t in inputs if t.level != 'full']
        assert 20 < len(missing) < 41 and {t.note for t in missing} == {'over budget'}
        assert trace.info().dropped == {'tensors': len(missing), 'bytes': sum(t.nbytes for t in missing)}


def test_a_disk_that_is_slow_but_not_hanging_is_waited_for(tmp_path, monkeypatch):
    """The wait ends with the writer's last progress, not with its own length."""
    monkeypatch.setattr(back_pressure, 'PATIENCE', 0.5)
    writev = os.writev

    def slowly(fd, pieces):
        time.sleep(0.2)
        return writev(fd, pieces)
    monkeypatch.setattr(os, 'writev', slowly)
    call = wrapped(lambda x: [])
    with Recorder(tmp_path / 't.pfd', budget=128 << 20, level='full'):
        for i in range(6):
            call(np.full(900_000, float(i)))    # of 7 MB: the queue has room for one of them, which takes 1.4 s
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().dropped == {} and trace.count() == 6


def test_an_array_that_another_thread_changes_meanwhile(tmp_path):
    """What is written from the program's own memory is whole, or is not there: the log is never damaged."""
    value, over = np.zeros(1_500_000), threading.Event()

    def change():
        while not over.is_set():
            value[np.random.randint(len(value))] += 1
            time.sleep(0)
    thread = threading.Thread(target=change)
    call = wrapped(lambda x: [])
    with Recorder(tmp_path / 't.pfd', budget=256 << 20, level='full') as recorder:
        recorder._snapshots.allowance.limit = 1 << 20
        thread.start()
        for _ in range(10):
            call(value)
        over.set()
        thread.join()
        call(value)
    with Trace.open(tmp_path / 't.pfd') as trace:
        info, inputs = trace.info(), [c.inputs[0] for c in trace.calls()]
        assert info.damage == () and len(inputs) == 11
        assert info.dropped.get('tensors', 0) == sum(t.level != 'full' for t in inputs)
        assert np.array_equal(inputs[-1].to_numpy(), value)
        for seen in inputs:
            assert seen.level != 'full' or len(seen.to_numpy()) == len(value)


def test_a_blob_whose_bytes_are_not_those_of_its_key_leaves_nothing(tmp_path):
    content = TensorContent(np.arange(1_000_000.), np.dtype(float), (1_000_000,), 8_000_000)
    key, length = content.measure()
    log = LogFile(tmp_path / 'log')
    before = log.size
    assert not log.append_blob(bytes(16), length, content.chunks())
    assert log.size == log.path.stat().st_size == before
    assert log.append_blob(key, length, content.chunks())
    assert log.size == log.path.stat().st_size
    log.close()
    reader = LogReader(tmp_path / 'log')
    (blob,) = reader.frames(0)
    assert reader.stop_reason == '' and blob.payload == key
    assert reader.read(blob.position + 16, length) == content.value.tobytes()
    reader.close()
