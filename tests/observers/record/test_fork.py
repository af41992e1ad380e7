"""Forks of a program that is recorded: they wait for no thread, leave none behind, and lose and double nothing."""
from __future__ import annotations

import pytest
from recorded_script import ENVIRONMENT, run_script

from pyfuncdbg.observers.record.index.tables import UNFINISHED
from pyfuncdbg.observers.record.records import OPS
from pyfuncdbg.observers.record.trace import Trace

ALONE = {**ENVIRONMENT, 'OPENBLAS_NUM_THREADS': '1'}
"""Without threads of NumPy's own, which end at the first fork."""

CALLERS = '''
    import warnings
    warnings.simplefilter('ignore', DeprecationWarning)
    import numpy as np

    class Callers:
        """Threads that make calls in quick bursts."""

        def __init__(self, count):
            self.made = [0] * count
            self.going = True
            self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(count)]
            for thread in self.threads: thread.start()

        def work(self, n):
            call = wrapped(lambda x: [x + 1], name=f'thread{n}')
            while self.going:
                call(np.full(10, float(self.made[n])))
                self.made[n] += 1
                if self.made[n] % 20 == 0:
                    time.sleep(0.01)

        def end(self):
            self.going = False
            for thread in self.threads: thread.join()

    def native(expected=None):
        """The threads that the system knows; one that was joined may need a moment to be gone."""
        for _ in range(500):
            found = len(os.listdir('/proc/self/task'))
            if expected is None or found == expected: break
            time.sleep(0.01)
        return found
'''


def ran(tmp_path, text, *arguments):
    done = run_script(tmp_path, CALLERS + text, tmp_path / 't.pfd', *arguments, env=ALONE)
    assert (done.returncode, done.stderr) == (0, '')
    return done.stdout.split()


def values(trace, **which):
    return [call.inputs[0].to_numpy()[()] for call in trace.calls(limit=10_000, **which)]


def finished(trace):
    """Calls of the parent; one that was written when it ran for long may have found no room when it ended."""
    calls = trace._reading.calls()
    ours = calls.rows[calls['process'][calls.rows] == 1]
    return int((calls['duration'][ours] != UNFINISHED).sum())


@pytest.mark.parametrize('count', [0, 3, 16])
def test_thirty_forks_while_threads_make_calls(tmp_path, count):
    before, after, *made = map(int, ran(tmp_path, '''
    call = wrapped(lambda x: [x], name='main')
    recorder = Recorder(sys.argv[1], budget=1 << 30).start()
    callers = Callers(int(sys.argv[2]))
    call(-1.0)
    before = native()
    for n in range(30):
        child = os.fork()
        if not child:
            call(1000.0 + n)
            call(2000.0 + n)
            if n % 2:
                recorder.flush()
                os._exit(0)
            sys.exit()
        call(float(n))
        assert os.waitpid(child, 0)[1] == 0
    print(before, native(before))
    callers.end()
    recorder.stop()
    print(*callers.made)
    ''', count))
    assert after == before
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        lost = info.dropped.get('calls', 0)     # where the writer does not keep up: counted, forks or not
        assert info.damage == () and len(info.processes) == 31 and finished(trace) + lost == sum(made) + 31
        assert [trace.count(process=1, site=f'thread{n}') for n in range(count)] == made or lost
        assert values(trace, process=1, site='main') == [-1.0, *map(float, range(30))] or lost
        assert [values(trace, process=2 + n) for n in range(30)] == [[1000.0 + n, 2000.0 + n] for n in range(30)]


def test_a_fork_does_not_wait_for_a_write(tmp_path):
    """The write ends when the fork has: whoever waits for it waits in vain."""
    assert ran(tmp_path, '''
    call = wrapped(lambda x: [x], name='main')
    recorder = Recorder(sys.argv[1]).start()
    write, begun, forked, waits = os.write, threading.Event(), threading.Event(), []

    def slow(*arguments):
        if not begun.is_set():
            begun.set()
            waits.append(forked.wait(10))
        return write(*arguments)
    os.write = slow
    call(np.full(100, 7.0))
    begun.wait(10)
    callers = Callers(1)
    child = os.fork()
    if not child:
        call(2.0)
        sys.exit()
    forked.set()
    callers.end()
    print(os.waitpid(child, 0)[1])
    recorder.stop()
    print(*waits)
    ''') == ['0', 'True']
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().damage == () and values(trace, process=2) == [2.0]
        (whole,) = trace.calls(process=1, site='main')
        assert whole.outputs[0].to_numpy().tolist() == [7.0] * 100


def test_a_fork_while_a_thread_waits_for_room_in_the_queue(tmp_path):
    made, kept, dropped = map(int, ran(tmp_path, '''
    call = wrapped(lambda x: [x], name='main')
    recorder = Recorder(sys.argv[1], budget=1 << 20).start()
    callers = Callers(3)
    big = wrapped(lambda x: [x], name='big')
    going = True

    def work():
        while going:
            big(np.zeros(2000))
    thread = threading.Thread(target=work)
    thread.start()
    while not recorder._backlog.losses.total:   # the memory of the queue, or the budget, is full
        time.sleep(0.001)
    for n in range(10):
        child = os.fork()
        if not child:
            call(float(n))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    going = False
    thread.join()
    callers.end()
    recorder.stop()
    from pyfuncdbg.observers.record.trace import Trace
    with Trace.open(sys.argv[1]) as trace:
        print(sum(callers.made), sum(trace.count(process=1, site=f'thread{n}') for n in range(3)),
              trace.info().dropped.get('calls', 0))
    '''))
    assert kept <= made <= kept + dropped


LOCKS = {
    'the hooks': 'from pyfuncdbg.hooks.chain import hooks; lock = hooks._lock',
    'the capture': 'from pyfuncdbg.hooks.capture import _process; lock = _process.lock',
    'the streams': 'from pyfuncdbg.hooks.capture import _process; lock = _process.streams._lock',
    'the recorder': 'lock = recorder._lock',
    'the writer': 'lock = recorder._writer._lock',
    'the memory': 'lock = recorder._snapshots.pool._lock',
    'the losses': 'lock = recorder._backlog.losses._lock',
    'the costs': 'from pyfuncdbg.hooks.op_cost import _lock as lock',
    'the breakpoints': 'from pyfuncdbg.observers.debug.debugger import debugger; lock = debugger.breakpoints._lock',
    'the graph': 'from pyfuncdbg.hosts.numpy.graph.context import process; lock = process.lock',
}


@pytest.mark.parametrize('lock', LOCKS.values(), ids=LOCKS)
def test_a_lock_that_another_thread_holds_stops_neither_the_fork_nor_the_child(tmp_path, lock):
    assert ran(tmp_path, f'''
    import contextlib, io
    call = wrapped(lambda x: [x], name='main')
    recorder = Recorder(sys.argv[1]).start()
    call(0.0)
    {lock}
    held, done = threading.Event(), threading.Event()
    def hold():
        with lock:
            held.set()
            print(done.wait(10))
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        with contextlib.redirect_stdout(io.StringIO()):
            wrapped(lambda x: [print(x) or x], name='child')(np.full(100, 1.0))
        assert lock.acquire(timeout=5)
        lock.release()
        os._exit(recorder.stop() or 0)
    done.set()
    thread.join()
    for _ in range(800):                        # a child that hangs is ended: the test says so, and leaves nothing behind
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended: break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        status = os.waitpid(child, 0)[1]
    print(status)
    recorder.stop()
    ''') == ['True', '0']
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().complete and [trace.count(process=1), trace.count(process=2)] == [1, 1]


def test_forks_of_forks_inside_one_call(tmp_path):
    threads = [*map(int, ran(tmp_path, '''
    call = wrapped(lambda x: [x], name='inner')

    def forks(x):
        for generation in (1, 2, 3):
            call(float(generation * 10))
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                break
            call(float(generation))
        return [x + len(x)]
    with Recorder(sys.argv[1]) as recorder:
        wrapped(forks, name='forks')(np.ones(1000))
        print(threading.get_native_id())
        recorder.flush()
        assert recorder._snapshots.allowance.used == 0, recorder._snapshots.allowance.used
    '''))][::-1]
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().complete and len(threads) == 4
        for process, own in enumerate([[10.0], [1.0, 20.0], [2.0, 30.0], [3.0]], 1):
            assert values(trace, process=process, site='inner') == own
            (call,) = trace.calls(process=process, site='forks')
            assert call.duration is not None and call.outputs[0].to_numpy().tolist() == [1001.0] * 1000
            assert {one.thread for one in trace.calls(process=process)} == {threads[process - 1]}


def test_two_threads_that_fork_at_once_go_on_with_their_own_calls(tmp_path):
    # What is registered before the recorder is called after it: both threads have passed its handler when they fork.
    ran(tmp_path, '''
    both = threading.Barrier(2, timeout=20)
    os.register_at_fork(before=lambda: both.wait())

    def forks(x):
        children.append(child := os.fork())
        if not child:                           # the threading module takes this thread for the main one
            threading.Thread(target=lambda: (time.sleep(0.5), recorder.flush(), os._exit(0))).start()
        return [x]
    children = []
    recorder = Recorder(sys.argv[1]).start()
    threads = [threading.Thread(target=wrapped(forks, name=f'fork{n}'), args=(float(n),)) for n in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    for child in children: os.waitpid(child, 0)
    recorder.stop()
    ''')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert values(trace, process=1) in ([0.0, 1.0], [1.0, 0.0])
        assert sorted(call.site.name for n in (2, 3) for call in trace.calls(process=n)) == ['fork0', 'fork1']
        assert sorted(values(trace, process=2) + values(trace, process=3)) == [0.0, 1.0]


@pytest.mark.parametrize('where', ['the parent', 'the child'])
def test_a_call_that_begins_after_a_fork_and_never_returns_is_in_the_trace(tmp_path, where):
    done = run_script(tmp_path, f'''
    def stuck(x):
        time.sleep(0.6)
        os.kill(os.getpid(), 9)
    call, stuck = wrapped(lambda x: [x]), wrapped(stuck, name='stuck')
    Recorder(sys.argv[1]).start()
    call(1.0)
    child = os.fork()
    if bool(child) == {where == 'the parent'}:
        stuck(3.0)
    elif not child:
        os._exit(0)
    os.waitpid(child, 0)
    ''', tmp_path / 't.pfd')
    assert done.returncode == (-9 if where == 'the parent' else 0)
    with Trace.open(tmp_path / 't.pfd') as trace:
        (call,) = trace.calls(site='stuck')
        assert call.duration is None and call.inputs[0].to_numpy()[()] == 3.0
        assert call.process == (1 if where == 'the parent' else 2) and trace.count(process=1, site='norm') == 1


def test_the_child_does_not_report_what_the_parents_nodes_cost(tmp_path):
    ran(tmp_path, '''
    from pyfuncdbg.hooks import op_cost
    call = wrapped(lambda x: [x])
    with Recorder(sys.argv[1]):
        op_cost.add(0.5, 100)
        child = os.fork()
        call(1.0)
        if child: os.waitpid(child, 0)
    ''')
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [trace.count(process=1), trace.count(process=2)] == [1, 1]
        assert [note.data['calls'] for note in trace.notes(OPS)] == [1]


PROGRAMS = {
    'forkpty': '''
        child, terminal = os.forkpty()
        if not child:
            call(1.0)
            sys.exit()
        with open(terminal, 'rb', buffering=0) as screen:
            try:
                while screen.read(100): pass
            except OSError: pass                # its end is gone
        assert os.waitpid(child, 0)[1] == 0''',
    'a process with a function of its own before its program': '''
        import subprocess
        assert subprocess.run([sys.executable, '-c', ''], preexec_fn=lambda: None).returncode == 0''',
    'a thread that makes no calls': '''
        def fork():
            child = os.fork()
            if not child:
                call(1.0)
                recorder.flush()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()''',
    'a pool': '''
        import multiprocessing
        with multiprocessing.get_context('fork').Pool(2) as pool:
            assert pool.map(call_once, range(8), chunksize=1) == [[float(n)] for n in range(8)]
            pool.close()
            pool.join()''',
    'an executor': '''
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2, multiprocessing.get_context('fork')) as pool:
            assert list(pool.map(call_once, range(8))) == [[float(n)] for n in range(8)]''',
}
CHILD_CALLS = {'forkpty': 1, 'a thread that makes no calls': 1, 'a pool': 8, 'an executor': 8}


@pytest.mark.parametrize('count', [0, 3])
@pytest.mark.parametrize('way', PROGRAMS)
def test_ways_to_fork(tmp_path, way, count):
    before, after, *made = map(int, ran(tmp_path, '''
    call = wrapped(lambda x: [x], name='child')
    def call_once(n):
        return call(float(n))
    recorder = Recorder(sys.argv[1], budget=1 << 30).start()
    callers, main = Callers(int(sys.argv[2])), wrapped(lambda x: [x], name='main')
    main(0.0)
    before = native()
    for n in range(5):''' + PROGRAMS[way] + '''
        main(1.0 + n)
    print(before, native(before))
    callers.end()
    recorder.stop()
    print(*callers.made)
    ''', count))
    assert after == before
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        assert info.damage == () and finished(trace) + info.dropped.get('calls', 0) == sum(made) + 6
        assert trace.count(site='child') == 5 * CHILD_CALLS.get(way, 0)
        assert trace.count(process=1, site='child') == 0


@pytest.mark.parametrize('workers', [1, 3, 16])
def test_pools_that_are_started_from_a_map(tmp_path, workers):
    assert ran(tmp_path, '''
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from pyfuncdbg import tf
    once = wrapped(lambda x: [x * 2], name='child')

    def call_once(n):
        with tf.Graph().as_default():           # the child runs a graph of its own, on locks of the parent's
            x = tf.compat.v1.placeholder(tf.float64, [])
            y = tf.compat.v1.py_func(lambda v: v + 1, [x], tf.float64, name='graph_of_child')
            return tf.compat.v1.Session().run(y, {x: once(float(n))[0]})

    def pools(x):
        n = int(x)
        if n % 2:
            with multiprocessing.get_context('fork').Pool(2) as pool:
                found = pool.map(call_once, [n, n + 100])
                pool.close()
                pool.join()
        else:
            with ProcessPoolExecutor(2, multiprocessing.get_context('fork')) as pool:
                found = list(pool.map(call_once, [n, n + 100]))
        return np.float64(sum(found))
    workers = int(sys.argv[2])
    with Recorder(sys.argv[1], budget=1 << 30):
        data = tf.data.Dataset.range(2 * workers).map(
            lambda x: tf.py_function(pools, [x], tf.float64, name='pools'), num_parallel_calls=workers)
        print(*[int(value) for value in data])
    ''', workers) == [str(4 * n + 202) for n in range(2 * workers)]
    with Trace.open(tmp_path / 't.pfd') as trace:
        info = trace.info()
        assert info.damage == () and info.dropped == {} and trace.count(process=1, site='child') == 0
        assert sorted(values(trace, site='child')) == sorted([*map(float, range(2 * workers)),
                                                              *[n + 100.0 for n in range(2 * workers)]])
        assert trace.count(site='graph_of_child') == 4 * workers


def test_the_parents_log_is_written_while_the_child_lives(tmp_path):
    """What finished before the fork is in the log although the parent makes no call any more."""
    done = run_script(tmp_path, '''
    call = wrapped(lambda x: [x])
    Recorder(sys.argv[1]).start()
    for n in range(100):
        call(float(n))
    child = os.fork()
    if not child:
        time.sleep(0.4)
        os.kill(os.getppid(), 9)
        os._exit(0)
    time.sleep(20)
    ''', tmp_path / 't.pfd')
    assert done.returncode == -9
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert trace.info().damage == () and values(trace) == [*map(float, range(100))]


def test_a_fork_from_a_signal_handler_below_a_write(tmp_path):
    assert ran(tmp_path, '''
    import signal
    call = wrapped(lambda x: [x], name='main')
    recorder = Recorder(sys.argv[1]).start()
    call(1.0)
    recorder.flush()
    recorder._writer.end_thread()
    children, real = [], os.write

    def fork(*_):
        children.append(os.fork())

    def write(number, data):
        count = real(number, data)
        if not children and number == recorder._writer._journal._segments.file._file.fileno():
            signal.raise_signal(signal.SIGUSR1)
        return count
    signal.signal(signal.SIGUSR1, fork)
    call(2.0)
    os.write = write
    recorder.flush()
    os.write = real
    for n in range(3):
        call(float(n))
    recorder.stop()
    if not children[0]:
        os._exit(0)
    assert os.waitpid(children[0], 0)[1] == 0
    from pyfuncdbg.observers.record.trace import Trace
    with Trace.open(sys.argv[1]) as trace:
        print(trace.count(process=1), trace.count(process=2), trace.info().damage)
    ''') == ['5', '3', '()']
