"""What is in a trace when the program dies, forks, or cannot write."""
from __future__ import annotations

import errno
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from plain_host import wrapped
from recorded_script import ENVIRONMENT, run_script

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.log.trace_folder import fresh_path
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

HERE = Path(__file__).parent


def said(side):
    """The times, processor times and calls that a program has said to have finished."""
    *lines, _unfinished = side.read_text().split('\n')
    return [(float(at), float(worked), int(call)) for at, worked, call in (line.split() for line in lines[1:])]


def kill_once(folder, delay):
    """Kill a program when it has worked for `delay` seconds; what it finished half a second of work before is kept."""
    trace, side = folder / 't.pfd', folder / 'side'
    folder.mkdir()
    process = subprocess.Popen([sys.executable, HERE / 'killed_program.py', trace, side], env=ENVIRONMENT)
    while not side.exists() or not (lines := said(side)) or lines[-1][1] - lines[0][1] < delay:
        assert process.poll() is None
        time.sleep(0.02)
    killed = time.time()
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = said(side)
    finished = [call for at, worked, call in lines if at < killed - 0.5 and worked < lines[-1][1] - 0.5]
    with Trace.open(trace) as seen:
        assert not seen.info().complete
        _total, spans = seen.spans_during(*seen.extent(), limit=10**9)     # what decoding adds to them is tried on a sample
        known = {int(span.number) for span in spans if span.duration is not None}
        last = max(finished, default=0)
        assert set(range(1, last + 1)) <= known
        for number in random.sample(range(1, last + 1), min(last, 20)):
            call = seen.call(number)
            factor = 2 if call.site.name == 'large' else 1
            assert np.array_equal(call.outputs[0].to_numpy(), call.inputs[0].to_numpy() * factor)
    return last


@pytest.mark.timeout(500)                   # 50 programs, which a busy machine starts slowly
def test_kills_at_50_random_moments(tmp_path):
    rng = random.Random(7)
    delays = [rng.uniform(0, 0.2) if i % 5 else rng.uniform(0.6, 0.9) for i in range(50)]
    proven = []
    queue = list(enumerate(delays))

    def work():
        while queue:
            i, delay = queue.pop()
            proven.append(kill_once(tmp_path / str(i), delay))
    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(proven) == 50 and sum(last > 0 for last in proven) >= 8


def test_a_call_that_never_returns_is_in_the_trace(tmp_path):
    done = run_script(tmp_path, '''
        import signal
        def stuck(x):
            print('about to die', flush=True)
            time.sleep(0.6)
            os.kill(os.getpid(), signal.SIGSEGV)
        Recorder(sys.argv[1]).start()
        wrapped(stuck)(3.0)
    ''', tmp_path / 't.pfd')
    assert done.returncode == -signal.SIGSEGV
    with Trace.open(tmp_path / 't.pfd') as trace:
        (call,) = trace.calls()
        assert call.duration is None and call.output[0].text == 'about to die\n' and call.inputs[0].to_numpy()[()] == 3.0


@pytest.mark.parametrize('end', ['', 'sys.exit(3)', 'raise ValueError', 'os.kill(os.getpid(), 2)'])
def test_every_ordinary_end_closes_the_trace(tmp_path, end):
    run_script(tmp_path, f'''
        Recorder(sys.argv[1]).start()
        call = wrapped(lambda x: [x])
        for i in range(100):
            call(float(i))
        {end}
    ''', tmp_path / 't.pfd')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().complete and trace.count() == 100


def test_fork_gives_each_process_its_own_log(tmp_path):
    done = run_script(tmp_path, '''
        import warnings
        warnings.simplefilter('error')
        call = wrapped(lambda x: [x])
        def forks(x):
            pids.append(os.fork())
            return [x]
        pids = []
        with Recorder(sys.argv[1]) as recorder:
            for i in range(500):
                call(float(i))
            wrapped(forks, name='forks')(1.0)
            for i in range(300):
                call(1000.0 + i)
            if pids[0]:
                os.waitpid(pids[0], 0)
            print(len(threading.enumerate()))
    ''', tmp_path / 't.pfd')
    assert done.stderr == '' and done.stdout == '1\n1\n'
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        assert info.complete and len(info.processes) == 2 and info.damage == ()
        assert [trace.count(process=1), trace.count(process=2)] == [801, 301]
        first = [c.inputs[0].to_numpy()[()] for c in trace.calls(process=1, site='norm')]
        second = [c.inputs[0].to_numpy()[()] for c in trace.calls(process=2, site='norm')]
        assert first == [*map(float, range(500)), *[1000.0 + i for i in range(300)]]
        assert second == [1000.0 + i for i in range(300)]
        assert trace.count(site='forks') == 2
        child = trace.calls(process=2)[0]
        assert child.number.startswith('2.') and trace.call(child.number) == child and child.site.name == 'forks'


def test_fork_while_threads_record(tmp_path):
    done = run_script(tmp_path, '''
        def work(n):
            call = wrapped(lambda x: [x], name=f'thread{n}')
            for i in range(2000):
                call(np.full(50, i))
        call = wrapped(lambda x: [x], name='main')
        with Recorder(sys.argv[1]):
            threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
            for thread in threads: thread.start()
            children = []
            for n in range(6):
                child = os.fork()
                if not child:
                    for i in range(50):
                        call(float(i))
                    time.sleep(0.4)
                    os._exit(0)
                children.append(child)
                time.sleep(0.005)
            for thread in threads: thread.join()
            for child in children: os.waitpid(child, 0)
    '''.replace('def work', 'import numpy as np\n        def work', 1), tmp_path / 't.pfd')
    assert done.returncode == 0, done.stderr
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        assert len(info.processes) == 7 and info.damage == () and info.dropped == {}
        assert trace.count(process=1) == 6000
        assert [trace.count(process=n) for n in range(2, 8)] == [50] * 6


def test_multiprocessing_children_close_their_logs(tmp_path):
    call = wrapped(lambda x: [x])

    def child():
        for i in range(30):
            call(float(i))
    with Recorder(tmp_path / 't.pfd'):
        process = multiprocessing.get_context('fork').Process(target=child)
        process.start()
        process.join()
        call(1.0)
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert process.exitcode == 0 and trace.info().complete
        assert [trace.count(process=1), trace.count(process=2)] == [1, 30]


def test_a_full_disk_costs_values_and_calls_only(tmp_path):
    done = run_script(tmp_path, '''
        import resource
        Recorder(sys.argv[1]).start()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        call = wrapped(lambda x: [x])
        import numpy as np
        for i in range(2000):
            call(np.full(300, i))
            if i % 200 == 0:
                time.sleep(0.12)
        print('went on')
    ''', tmp_path / 't.pfd')
    assert (done.returncode, done.stdout) == (0, 'went on\n')
    assert done.stderr.count('\n') == 1
    assert f'{tmp_path / "t.pfd"}: ' in done.stderr and os.strerror(errno.EFBIG) in done.stderr
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls, info = trace.calls(), trace.info()
        assert 10 < len(calls) < 2000 and info.damage == () and info.complete
        assert len(calls) + info.dropped['calls'] == 2000
        kept = [c for c in calls if c.outputs[0].level == 'full']
        assert len(kept) > 10 and all(c.outputs[0].to_numpy()[0] == c.ordinal for c in kept)


def test_a_small_file_system_that_fills(tmp_path):
    mount = tmp_path / 'mount'
    mount.mkdir()
    made = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', mount], capture_output=True, check=False)
    if made.returncode:
        pytest.skip('mounting needs root')
    try:
        done = run_script(tmp_path, '''
            import numpy as np
            Recorder(sys.argv[1]).start()
            call = wrapped(lambda x: [x])
            for i in range(200):
                call(np.full(1000, i))
                if i % 10 == 0:
                    time.sleep(0.05)
        ''', mount / 't.pfd')
        assert done.returncode == 0 and os.strerror(errno.ENOSPC) in done.stderr
        with Trace.open(mount / 't.pfd') as trace:      # its index has no room there either
            assert trace.count() > 10
    finally:
        subprocess.run(['umount', '-l', mount], check=True)


def test_a_path_that_cannot_be_used(tmp_path):
    (tmp_path / 'file').write_text('mine')
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / 'thesis.txt').write_text('mine')
    with Recorder(tmp_path / 'taken.pfd'):
        pass
    for path, why in (('file', 'is a file'), ('full', 'other files'), ('taken.pfd', 'already holds a trace'),
                      ('no/such/place', 'No such file'), ('file/below', 'Not a directory')):
        with pytest.raises(TraceError, match=why):
            Recorder(tmp_path / path).start()
    with pytest.raises(TraceError, match='cannot record there'):
        Recorder('/proc/x.pfd').start()
    assert not hooks.python and (tmp_path / 'full' / 'thesis.txt').read_text() == 'mine'


def test_bad_options():
    for options in ({'budget': 10}, {'level': 'everything'}):
        with pytest.raises(TraceError, match=r'too small|everything'):
            Recorder('x', **options)


def test_fresh_paths_differ(tmp_path):
    first = fresh_path(tmp_path)
    first.mkdir()
    assert fresh_path(tmp_path) != first and first.suffix == '.pfd'


def test_memory_does_not_grow_with_the_recording(tmp_path):
    call = wrapped(lambda x: [x])
    with Recorder(tmp_path / 't.pfd') as recorder:
        for i in range(200):
            call(np.full(100_000, i, np.float32))
        recorder.flush()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(1000):
            call(np.full(100_000, i, np.float32))
        recorder.flush()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000
        assert recorder._snapshots.allowance.used == 0
