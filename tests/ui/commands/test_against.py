"""`run --against`: a program is compared with its recording while it runs, and stops where it first differs."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import TraceError, UsageError
from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
from pyfuncdbg.observers.debug.comparison.trace_comparison import compare_traces
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAM = '''
import sys
import numpy as np
mode, host = sys.argv[1:]
if host == 'own':
    from pyfuncdbg import tf
else:
    import tensorflow as tf
tf1 = tf.compat.v1

def norm(x):
    """Divides."""
    if x[0] == 3:
        if mode == 'ulp':
            return np.nextafter((x / 2).astype(np.float32), np.float32(99))
        if mode == 'raise':
            raise ValueError('bad x')
        if mode == 'print':
            print('hello')
        if mode == 'shape':
            return np.ones(4, np.float32)
    return (x / 2).astype(np.float32)

g = tf1.Graph()
with g.as_default():
    x = tf1.placeholder(tf.float32, [3], name='x')
    y = tf1.py_func(norm, [x], tf.float32, name='norm')
    if mode == 'site':
        y = tf1.py_func(np.negative, [y], tf.float32, name='minus')
with tf1.Session(graph=g) as session:
    for step in range(6):
        if (mode, step) in (('skip', 3), ('short', 5)):
            continue
        shift = 100 if (mode, step) == ('fed', 3) else 0
        try:
            session.run(y, {x: np.arange(3, dtype=np.float32) + step + shift})
        except Exception:
            pass
    if mode == 'more':
        session.run(y, {x: np.arange(3, dtype=np.float32)})
print('end')
'''
SAME = 'compared with good.pfd: 6 calls and 6 runs the same'
ULP = ('differs from good.pfd #4: out 0 norm:0: 3 of 3 elements, first [0] 1.5000001, was 1.5, at most 1 ULP; '
       "reads global mode 'ok' | 'ulp' (then | now)")
MISSING = 'differs from good.pfd: its Session.run (run #4) is missing here, its inputs are those of run #5'
CASES = [
    ('ok', (), '', SAME),
    ('ulp', (), f'after norm[3]: {ULP}', f'norm[3] {ULP}'),
    ('ulp', ('--ulp', '1'), '', SAME),
    ('ulp', ('--rtol=1e-6',), '', SAME),
    ('raise', (), 'in norm[3]: differs from good.pfd #4: raised ValueError: bad x, returned then; '
                  "reads global mode 'ok' | 'raise' (then | now)", None),
    ('print', (), 'after norm[3]: differs from good.pfd #4: printed hello, then nothing; '
                  "reads global mode 'ok' | 'print' (then | now)", None),
    ('print', ('--ignore', 'prints'), '', SAME),
    ('shape', (), 'after norm[3]: differs from good.pfd #4: out 0 norm:0: shape [4], was [3]; '
                  "reads global mode 'ok' | 'shape' (then | now)", None),
    ('fed', (), 'before run #4: differs from good.pfd run #4: in 0 x:0: 3 of 3 elements, first [0] 103.0, was 3.0, '
                'relative 0.971', None),
    ('skip', (), f'before run #4: {MISSING}', f'Session.run {MISSING}'),
    ('more', (), 'before run #7: differs from good.pfd: it has no such run', None),
    ('site', (), 'before minus[0]: differs from good.pfd: it has no such call', None),
    ('short', (), '', 'compared with good.pfd: 5 calls and 5 runs the same; 2 of the recording missing: norm[5] (#6), '
                      'Session.run (run #6)'),
    ('short', ('--ignore', 'calls'), '', 'compared with good.pfd: 5 calls and 5 runs the same')]


def run(folder: Path, *words: str, host: str = 'own', stdin: str = '') -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '200', 'TF_CPP_MIN_LOG_LEVEL': '3'}
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', *words, host], cwd=folder, text=True, input=stdin,
                          capture_output=True, check=False, env=environment)


def notices(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix('pyfuncdbg: ') for line in done.stderr.splitlines() if line.startswith('pyfuncdbg: ')]


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('against')
    (path / 'train.py').write_text(PROGRAM)
    assert run(path, '--record', 'good.pfd', 'train.py', 'ok').returncode == 0
    return path


def check(folder: Path, host: str, mode: str, options: tuple[str, ...], stop: str, last: str | None) -> None:
    done = run(folder, '--ui', 'none', '--record', f'{host}-{mode}-{len(options)}.pfd', '--against', 'good.pfd', *options,
               'train.py', mode, host=host)
    *stops, end = notices(done)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, 'end')
    assert stops == ([f'not stopped {stop} (no user is connected)'] if stop else [])
    assert end == (last if last is not None else f'{end.partition(" ")[0]} {stop.partition(": ")[2]}')


@pytest.mark.parametrize(('mode', 'options', 'stop', 'last'), CASES)
def test_it_stops_at_the_first_divergence(folder: Path, mode: str, options: tuple[str, ...], stop: str,
                                          last: str | None) -> None:
    check(folder, 'own', mode, options, stop, last)


def test_an_edited_function_is_named_as_the_cause(folder: Path) -> None:
    (folder / 'edited').mkdir()
    (folder / 'edited' / 'train.py').write_text(PROGRAM.replace('return (x / 2).astype', 'return (x / 2 + 1).astype'))
    done = run(folder / 'edited', '--ui', 'none', '--against', '../good.pfd', 'train.py', 'ok')
    assert notices(done)[-1] == ('norm[0] differs from ../good.pfd #1: out 0 norm:0: 3 of 3 elements, first [0] 1.0, '
                                 'was 0.0, relative 1; its source changed')


@pytest.mark.tensorflow
@pytest.mark.parametrize(('mode', 'options', 'stop', 'last'), [case for case in CASES if case[0] in (
    'ok', 'ulp', 'raise', 'print', 'fed', 'skip', 'short')])
def test_tensorflow_is_compared_with_a_recording_of_our_runtime(folder: Path, mode: str, options: tuple[str, ...], stop: str,
                                                                last: str | None) -> None:
    check(folder, 'tensorflow', mode, options, stop, last)


def test_the_prompt_is_there_and_the_call_can_be_made_again(folder: Path) -> None:
    done = run(folder, '--record', 'prompt.pfd', '--ui', 'prompt', '--against', 'good.pfd', 'train.py', 'ulp',
               stdin='p out\nretry\nc\n')
    assert done.stdout == 'end\n'
    assert f"STOPPED after call 4 of node 'norm'  {ULP}" in done.stderr
    assert '1 tensor made again, each as before' in done.stderr and 'as the function left them' not in done.stderr
    assert done.stderr.count('STOPPED') == 2    # and not once more at what follows
    # What was retried counts once, as the program has called once.
    again = run(folder, '--record', 'again.pfd', '--against', 'prompt.pfd', 'train.py', 'ulp')
    assert notices(again)[-1] == SAME.replace('good', 'prompt')
    with Trace.open(folder / 'prompt.pfd') as prompted, Trace.open(folder / 'again.pfd') as plain:
        assert (prompted.count(), plain.count()) == (7, 6)
        found = compare_traces(prompted, plain, Rules(frozenset({'time'})), ('prompt', 'again'))
        assert (found.first, found.calls) == (None, 6)


@pytest.mark.parametrize(('words', 'said'), [
    (('--against', 'none.pfd', 'train.py', 'ok'), 'none.pfd: no such file or folder'),
    (('--against', 'good.pfd', '--ignore', 'vlaue', 'train.py', 'ok'), "--ignore: 'vlaue' is no kind of difference"),
    (('--against', 'good.pfd', '--rtol', 'x', 'train.py', 'ok'), "--rtol: 'x' is not a number from 0 on"),
    (('--rtol', '1', '--ulp', '2', 'train.py', 'ok'), 'run: --rtol, --ulp: expected --against TRACE too'),
    (('--live', '--against', 'good.pfd', 'train.py', 'ok'), '--live cannot be combined with stops')])
def test_bad_input_gets_one_line_and_exit_code_2(folder: Path, words: tuple[str, ...], said: str) -> None:
    done = run(folder, '--record', 'never.pfd', *words)
    assert (done.returncode, done.stdout) == (2, '') and said in done.stderr and done.stderr.count('\n') == 1
    assert not (folder / 'never.pfd').exists()


THREADS = '''
import sys
import numpy as np
from pyfuncdbg import tf
count, factor, host = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def scale(x):
    return x * (factor if x == 17 else 2)

data = tf.data.Dataset.range(64).map(lambda x: tf.numpy_function(scale, [x], tf.int64, name='scale'),
                                     num_parallel_calls=count)
print(sum(1 for _ in data))
'''


@pytest.mark.tensorflow
def test_calls_of_eight_native_threads_are_compared_with_those_of_one(folder: Path) -> None:
    (folder / 'native.py').write_text(THREADS.replace('from pyfuncdbg import tf', 'import tensorflow as tf'))
    for name, count, factor in (('one', '1', '2'), ('eight', '8', '2'), ('other', '8', '3')):
        run(folder, '--record', f'native-{name}.pfd', 'native.py', count, factor)
    rules = Rules(frozenset({'environment', 'time', 'source'}))
    for name, kinds in (('eight', []), ('other', ['value'])):
        with Trace.open(folder / 'native-one.pfd') as one, Trace.open(folder / f'native-{name}.pfd') as other:
            found = compare_traces(one, other, rules, ('one', name))
        assert found.calls == 64 and ([found.first.kind] if found.first is not None else []) == kinds and found.later == ()
    done = run(folder, '--record', 'n8.pfd', '--ui', 'none', '--against', 'native-one.pfd', 'native.py', '8', '2')
    assert notices(done)[-1].startswith('compared with native-one.pfd: 64 calls')
    done = run(folder, '--record', 'n9.pfd', '--ui', 'none', '--against', 'native-one.pfd', 'native.py', '8', '3')
    assert ': 51, was 34' in notices(done)[-1]


def test_calls_of_eight_threads_are_compared_with_those_of_one(folder: Path) -> None:
    (folder / 'threads.py').write_text(THREADS)
    run(folder, '--record', 'one.pfd', 'threads.py', '1', '2')
    done = run(folder, '--record', 'eight.pfd', '--against', 'one.pfd', 'threads.py', '8', '2')
    assert done.stdout == '64\n' and notices(done)[-1].startswith('compared with one.pfd: 64 calls')
    done = run(folder, '--record', 'other.pfd', '--ui', 'none', '--against', 'one.pfd', 'threads.py', '8', '3')
    (stop, _) = notices(done)
    assert 'differs from one.pfd #18: out 0' in stop and ': 51, was 34' in stop


def call_thrice(values: tuple[float, float, float]) -> None:
    for value in values:
        tf.numpy_function(lambda x: x * 2, [np.float32(value)], tf.float32, name='double')


def test_a_block_of_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debugger.broker, 'front_end_name', 'none')
    with pyfuncdbg.record(tmp_path / 'good.pfd'):
        call_thrice((1, 2, 3))
    good = str(tmp_path / 'good.pfd')
    with Trace.open(good) as trace:
        second = trace.calls()[1].number        # they go on from test to test
    with pyfuncdbg.against(good) as comparison:
        call_thrice((1, 2, 3))
    assert comparison.first is None and debugger.comparison is None
    with pyfuncdbg.against(good, rtol=0.5) as comparison:
        call_thrice((1, 2.5, 3))
    assert comparison.first is None
    with pyfuncdbg.against(good) as comparison:
        call_thrice((1, 2.5, 3))
    assert comparison.first is not None
    assert (comparison.first.kind, comparison.first.numbers[0], comparison.calls) == ('value', second, 2)
    lines = [line for line in capfd.readouterr().err.splitlines() if 'good.pfd' in line]
    assert lines[0] == f'pyfuncdbg: compared with {good}: 3 calls the same'
    assert lines[-1].endswith(f'differs from {good} #{second}: in 0: 2.5, was 2.0, relative 0.2')
    for options, said in (({'ignore': 'vlaue'}, "'vlaue' is no kind"), ({'ulp': -1}, "'-1' is not an integer from 1 on")):
        with pytest.raises(UsageError, match=said), pyfuncdbg.against(good, **options):
            pass
    with pytest.raises(TraceError, match='no such file'), pyfuncdbg.against(tmp_path / 'none.pfd'):
        pass

    def lost(trace: Trace, row: int) -> CallRecord:
        raise TraceError('good.pfd: its disk is gone')
    monkeypatch.setattr(Trace, 'grouped_call', lost)
    with pyfuncdbg.against(good) as comparison:
        call_thrice((7, 7, 7))
    assert comparison.first is None
    assert capfd.readouterr().err == f'pyfuncdbg: compared with {good}: 1 call the same; then good.pfd: its disk is gone\n'
    debugger.leave()


DRAWING = '''
import sys
import numpy as np
from pyfuncdbg import tf

def noisy(x):
    return (x + np.random.rand()).astype(np.float32)

np.random.seed(int(sys.argv[1]))
for _ in range(3):
    tf.numpy_function(noisy, [np.ones(2, np.float32)], tf.float32, name='noisy')
'''


def test_other_random_numbers_are_named_as_the_cause(folder: Path) -> None:
    (folder / 'drawing.py').write_text(DRAWING)
    run(folder, '--record', 'seed1.pfd', 'drawing.py', '1')
    for name, options, seed, said in (
            ('a', (), '1', 'compared with seed1.pfd: 3 calls the same'),
            ('b', (), '5', 'differs from seed1.pfd #1: out 0: '),
            ('c', ('--ignore', 'rng'), '5', 'compared with seed1.pfd: 3 calls the same')):
        done = run(folder, '--record', f'seed-{name}.pfd', '--ui', 'none', '--against', 'seed1.pfd', *options, 'drawing.py',
                   seed)
        assert said in notices(done)[-1]
        assert notices(done)[-1].endswith('; draws other random numbers of numpy.random') == (name == 'b')


GRADIENTS = THREADS + '''
@tf.function
def step(w):
    return tf.py_function(lambda a: a * 1.5, [w], tf.float32, name='grow')

w = tf.Variable(1.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = step(w) ** 2
    w.assign_sub(0.1 * tape.gradient(loss, w))
print(float(w))
'''


@pytest.mark.tensorflow
def test_the_steps_of_a_host_do_not_count_between_two(folder: Path) -> None:
    """Our runtime has a run for each element of a dataset and for each function; TensorFlow has gradients of other nodes."""
    (folder / 'own.py').write_text(GRADIENTS)
    (folder / 'real.py').write_text(GRADIENTS.replace('from pyfuncdbg import tf', 'import tensorflow as tf'))
    own = run(folder, '--record', 'grad-own.pfd', 'own.py', '1', '2')
    real = run(folder, '--record', 'grad-real.pfd', '--against', 'grad-own.pfd', 'real.py', '8', '2')
    assert real.stdout == own.stdout
    assert notices(real)[-1] == 'compared with grad-own.pfd: 67 calls and 3 runs the same'
    with Trace.open(folder / 'grad-own.pfd') as one, Trace.open(folder / 'grad-real.pfd') as two:
        found = compare_traces(one, two, Rules(frozenset({'environment', 'time'})), ('own', 'real'))
    assert (found.first, found.calls, found.runs, found.across) == (None, 67, 3, True)


NODES = '''
import sys
import numpy as np
mode, host = sys.argv[1:]
if host == 'own':
    from pyfuncdbg import tf
else:
    import tensorflow as tf
step = 1.5 if mode == 'step' else 1.0

@tf.function
def summed(x):
    for n in tf.range(2):
        x = tf.numpy_function(lambda x: (x * 2).astype(np.float32), [x], tf.float32, name='twice') + step
        x.set_shape([3])
    return tf.nn.relu(x)

for n in range(2):          # two nodes of one name and kind, and two functions of one name, in turns
    a = tf.constant([1., 2., 3.]) * 2.0
    b = a * 3.0
    c = tf.py_function(lambda x: x + 1, [a], tf.float32)
    d = tf.py_function(lambda x: x - 1, [b], tf.float32)
    print(float(tf.reduce_sum(summed(b) + c + d)))
'''


@pytest.mark.parametrize('host', ['own', pytest.param('tensorflow', marks=pytest.mark.tensorflow)])
@pytest.mark.parametrize('ops', [True, False])
def test_nodes_are_compared_where_the_recording_has_them(tmp_path: Path, host: str, ops: bool) -> None:
    (tmp_path / 'prog.py').write_text(NODES)
    recorded = run(tmp_path, *(['--ops'] if ops else []), '--record', 'good.pfd', 'prog.py', 'ok', host=host)
    assert recorded.returncode == 0, recorded.stderr
    same = run(tmp_path, '--against', 'good.pfd', '--ui', 'none', '--record', 'same.pfd', 'prog.py', 'ok', host=host)
    last = notices(same)[-1]
    assert last.startswith('compared with good.pfd: ') and 'missing' not in last, same.stderr
    compared = int(last.split()[3])
    assert (compared > 30) == ops and same.stdout == recorded.stdout
    other = run(tmp_path, '--against', 'good.pfd', '--ui', 'none', '--record', 'other.pfd', 'prog.py', 'step', host=host)
    last = notices(other)[-1]
    assert ('add' in last and '1.5, was 1.0' in last) if ops else 'twice[1]' in last, other.stderr
    assert 'failed at call' not in other.stderr
