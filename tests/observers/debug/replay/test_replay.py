"""Replays of recorded calls, each in a fresh interpreter: the function found again, in the state it had."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.trace import Trace

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = Path(__file__).with_name('replay_program.py')
REPLAY_ALL = '''
import json, sys
import pyfuncdbg
found = {}
with pyfuncdbg.load(sys.argv[1]) as trace:
    for call in trace.calls(kind='python', limit=1000):
        try:
            replay = call.replay()
            rerun = replay.executions[0]
            found[call.number] = [call.label, replay.verdict, rerun.raised, replay.files]
        except pyfuncdbg.errors.CommandError as error:
            found[call.number] = [call.label, 'refused', str(error), []]
print(json.dumps(found))
'''


def python(folder: Path, *args: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, env={**os.environ, 'PYTHONPATH': str(ROOT)}, text=True,
                          capture_output=True, timeout=120, **more)


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('replay')
    shutil.copy(PROGRAM, folder / 'train.py')
    done = python(folder, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'train.py')
    assert done.returncode == 0, done.stderr
    return folder


def test_every_call_gives_the_same_bits_or_the_same_exception_in_a_fresh_interpreter(recorded: Path) -> None:
    done = python(recorded, '-c', REPLAY_ALL, 't.pfd')
    assert 'the training begins' not in done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 3 * 14 + 4
    refused = {why for _, verdict, why, _ in found.values() if verdict == 'refused'}
    (needs,) = refused
    assert 'uses file, which a trace cannot hold' in needs and 'TextIOWrapper' in needs
    assert {verdict for _, verdict, _, _ in found.values()} == {'same', 'refused'}
    assert 'ValueError: too large: 2.0' in {why for _, _, why, _ in found.values()}
    used = {tuple(files) for _, verdict, _, files in found.values() if verdict == 'same'}
    assert used == {(str(recorded / 'train.py'),), ()}


def test_a_function_that_was_changed_since_differs_and_its_lines_are_shown(recorded: Path, tmp_path: Path) -> None:
    source = (recorded / 'train.py').read_text()
    (tmp_path / 'train.py').write_text(source.replace('return np.log(x)', 'return np.log(x) + 1e-16 * (x == 1)'))
    shutil.copytree(recorded / 't.pfd', tmp_path / 't.pfd')
    with Trace.open(tmp_path / 't.pfd') as trace:
        number = next(call.number for call in trace.calls(kind='python') if call.site.function == 'warns')
    moved = recorded / 'moved'
    (recorded / 'train.py').rename(moved)       # so that the copy in the current folder is taken
    try:
        done = python(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', number)
    finally:
        moved.rename(recorded / 'train.py')
    assert done.stdout.startswith('DIFFERS  from the recording'), done.stdout + done.stderr
    text = ' '.join(done.stdout.split())
    assert 'first [0] 0.0 | 1e-16' in text
    assert 'source of warns changed' in text and '+ return np.log(x) + 1e-16' in text


def test_a_call_that_did_not_end_is_made_again_and_compared_with_nothing(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text('''\
import os
import numpy as np
from pyfuncdbg import tf

def step(x):
    if os.path.exists('leave'):
        os._exit(3)
    return x * 2

tf.numpy_function(step, [np.array([3.0])], tf.float64)
''')
    (tmp_path / 'leave').touch()
    done = python(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'train.py')
    assert done.returncode == 3
    (tmp_path / 'leave').unlink()
    done = python(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', '1')
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[:2]] == [
        'NOT KNOWN the recorded call did not end #1 PyFunc[0] step'.split(), 'out float64[1] = 6'.split()]


def test_times_and_changed_inputs(recorded: Path) -> None:
    with Trace.open(recorded / 't.pfd') as trace:
        number = next(call.number for call in trace.calls(kind='python') if call.site.function == 'draws')
    done = python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', number, '--times', '5', '--change', 'x = x * 0',
                  '--json')
    answer = json.loads(done.stdout)
    assert answer['verdict'] == 'same' and [one['verdict'] for one in answer['executions']] == ['same'] * 5
    before, after = (one['outputs'][0]['stats']['mean'] for one in (answer['executions'][0], answer['changed']))
    assert before - after == pytest.approx(3.0)          # SCALE was 3, and the numbers that it draws are the same
    assert answer['inputs'][0]['stats']['mean'] == 0


@pytest.mark.parametrize(('change', 'message'), [
    ('y = 1', 'assigns to y, which is no input'), ('x = ', 'SyntaxError'), ('x = x / z', "name 'z' is not defined"),
    ("x = 'a'", 'x is no array')])
def test_changes_that_make_no_sense_are_refused_in_one_line(recorded: Path, change: str, message: str) -> None:
    with Trace.open(recorded / 't.pfd') as trace:
        number = next(call.number for call in trace.calls(kind='python') if call.site.function == 'draws')
    done = python(recorded, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', number, '--change', change)
    announced, complaint = done.stderr.strip().splitlines()
    assert done.returncode == 2 and message in complaint and 'replay runs draws' in announced


def test_a_stored_body_runs_only_with_the_users_word(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded / 't.pfd', tmp_path / 't.pfd')
    with Trace.open(recorded / 't.pfd') as trace:
        number = next(call.number for call in trace.calls(kind='python') if call.site.function == 'refuses')
    hidden = recorded / 'hidden'
    (recorded / 'train.py').rename(hidden)
    try:
        refused = python(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', number)
        trusted = python(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', number, '--trust')
    finally:
        hidden.rename(recorded / 'train.py')
    assert refused.returncode == 2 and 'is not here' in refused.stderr and '--trust' in refused.stderr
    assert trusted.stdout.startswith('SAME  bit for bit'), trusted.stdout + trusted.stderr


def replayed(tmp_path: Path, run: Callable[[], object], **options: Any) -> list[Any]:
    """The replays of the Python calls of `run`, in this process."""
    with pyfuncdbg.record(tmp_path / 'live.pfd', **options):
        run()
    with pyfuncdbg.load(tmp_path / 'live.pfd') as trace:
        return [call.replay() for call in trace.calls(kind='python')]


STATE = [1.0]


def of_state(x: Any) -> Any:
    return x + STATE[0]


def test_in_the_living_program_globals_and_generators_are_put_back(tmp_path: Path) -> None:
    np.random.seed(3)

    def run() -> None:
        tf.numpy_function(lambda x: x + np.random.rand(), [1.0], tf.float64)
        tf.numpy_function(of_state, [1.0], tf.float64)
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        run()
    STATE[0] = 5.0
    before = np.random.get_state()[2]
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        assert [call.replay().verdict for call in trace.calls(kind='python')] == ['same', 'same']
    assert np.random.get_state()[2] == before and STATE == [5.0]
    STATE[0] = 1.0


def test_what_depends_on_time_differs_and_says_where(tmp_path: Path) -> None:
    import itertools
    counter = itertools.count()

    def drifts(x: Any) -> Any:
        return np.nextafter(x, 9.0) if os.environ.get('DRIFT') else x
    os.environ.pop('DRIFT', None)
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        tf.numpy_function(drifts, [np.ones(4)], tf.float64)
        tf.numpy_function(lambda x: x + next(counter), [1.0], tf.float64)
    os.environ['DRIFT'] = '1'
    try:
        with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
            one, two = trace.calls(kind='python')
            replay = one.replay()
            assert replay.verdict == 'differs' and not replay.same
            (tensor,) = replay.executions[0].tensors
            assert tensor.value is not None and (tensor.value.ulp, tensor.value.elements, tensor.value.first) == (1, 4, (0,))
            with pytest.raises(CommandError, match='counter'):
                two.replay()
    finally:
        del os.environ['DRIFT']


def test_without_the_state_of_the_generators_the_verdict_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyfuncdbg.observers.record.index.log_reader import DecodedLog
    known = DecodedLog.call_state

    def without(self: DecodedLog, row: int) -> Any:
        import dataclasses
        return dataclasses.replace(known(self, row), generators=None)
    monkeypatch.setattr(DecodedLog, 'call_state', without)
    one, two = replayed(tmp_path, lambda: [tf.numpy_function(lambda x: x + np.random.rand(), [1.0], tf.float64),
                                           tf.numpy_function(lambda x: x + 1, [1.0], tf.float64)])
    assert one.verdict == 'RNG state unknown' and two.verdict == 'same'


@pytest.mark.parametrize(('function', 'kind'), [
    (['name', 'os', 'system'], 'os'),
    (['name', 'random', '_os.system'], r'random\._os\.system'),
    (['name', 'numpy.distutils.exec_command', 'exec_command'], ''),
    (['partial', ['name', 'random', '_os.system'], ['l', []], ['d', []]], 'not called with recorded data'),
    (['name', 'numpy', 'memmap'], ''),
    (['function', 'shutil', 'rmtree', shutil.__file__, 1, 'rmtree', [], [], []], 'library'),
    (['name', 'builtins', 'eval'], 'builtins.eval'), (['object', 'subprocess', 'Popen', []], 'library'),
    (['partial', ['name', 'os', 'system'], ['l', []], ['d', []]], 'os'), (['a', 'O', [1], b'12345678'], 'damaged'),
    (['function'], 'damaged'), (['v', {}], 'damaged'), ([[[]]], 'damaged'), (7, 'damaged'),
    (['l', [['l', [['?']]]]], 'damaged')])
def test_a_hostile_trace_calls_nothing_of_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any,
                                                          kind: str) -> None:
    import dataclasses

    from pyfuncdbg.observers.record.index.log_reader import DecodedLog
    known = DecodedLog.call_state
    monkeypatch.setattr(DecodedLog, 'call_state', lambda self, row: dataclasses.replace(known(self, row), function=function))
    called: list[object] = []
    monkeypatch.setattr(os, 'system', called.append)
    monkeypatch.setattr(shutil, 'rmtree', called.append)
    with pytest.raises(CommandError) as caught:
        replayed(tmp_path, lambda: tf.numpy_function(lambda x: x, [b'rm -rf /'], tf.string))
    assert re.search(kind, str(caught.value)) and not called


def test_backward_steps_of_python_functions_are_replayed_and_of_others_refused(tmp_path: Path) -> None:
    def body(a: Any, n: Any) -> Any:
        return tf.reduce_sum(a * a) + np.float32(np.random.rand()) * tf.reduce_sum(a), a * 3
    with pyfuncdbg.record(tmp_path / 't.pfd', ops=True):
        with tf.GradientTape() as tape:
            x = tf.constant([1.0, 2.0])
            tape.watch(x)
            y, _ = tf.py_function(body, [x, 3], [tf.float32, tf.float32])
        expected = tape.gradient(y, x).numpy()
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        steps = trace.calls(kind='gradient')
        step = next(call for call in steps if call.site.op_type == 'EagerPyFunc')
        replay = step.replay(change='a = a * 2')
        assert replay.verdict == 'same' and np.array_equal(replay.executions[0].outputs[0].to_numpy(), expected)
        assert np.allclose(replay.changed.outputs[0].to_numpy(), expected + np.array([2, 4], np.float32))
        other = next(call for call in steps if call.site.op_type == 'Sum')
        with pytest.raises(CommandError, match=f'backward step.*its forward call is #{other.forward}'):
            other.replay()
        op = next(iter(trace.calls(kind='op')))
        with pytest.raises(CommandError, match='a node of the graph'):
            op.replay()


SCRIPT = '''
import numpy as np
from pyfuncdbg import tf


def helper(x):
    return x + 1


def body(x):
    return helper(x) * 2


tf.numpy_function(body, [1.0], tf.float64, name='first')


def helper(x):
    return x + 100


def body(x):
    return helper(x) * 3


tf.numpy_function(body, [1.0], tf.float64, name='second')
if __name__ == '__main__':
    import math as mathematics

    def inner(x):
        return mathematics.floor(x) + 0.5

    tf.numpy_function(inner, [1.7], tf.float64, name='guarded')
    table = dict(zip('ab', range(2)))
    handle = open(__file__)
    tf.numpy_function(lambda x: x + table['b'], [1.0], tf.float64, name='kept')
    tf.numpy_function(lambda x: x + handle.fileno(), [1.0], tf.float64, name='lost')
'''


def test_names_that_a_script_defines_twice_or_in_a_block_are_those_of_the_call(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(SCRIPT)
    assert python(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'train.py').returncode == 0
    found = json.loads(python(tmp_path, '-c', REPLAY_ALL, 't.pfd').stdout)
    by_name = {label.partition('[')[0]: (verdict, why) for label, verdict, why, _ in found.values()}
    assert {name: verdict for name, (verdict, _) in by_name.items()} == {
        'first': 'same', 'second': 'same', 'guarded': 'same', 'kept': 'same', 'lost': 'refused'}
    assert 'uses handle, which a trace cannot hold' in by_name['lost'][1]
    line = SCRIPT[:SCRIPT.index('handle =')].count('\n') + 1
    assert f'line {line} makes it only where the script runs' in by_name['lost'][1]


def test_code_that_was_typed_into_this_session_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache
    text = 'def typed(x):\n    return x + OFFSET\n\nused = lambda x: x * OFFSET\n'
    name = '<session-input-4-7694cb4e2a63>'
    main = sys.modules['__main__']
    monkeypatch.setattr(main, 'OFFSET', 2.0, raising=False)
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    space = vars(main)
    exec(compile(text, name, 'exec'), space)
    try:
        with pyfuncdbg.record(tmp_path / 't.pfd'):
            tf.numpy_function(space['typed'], [1.0], tf.float64)
            tf.numpy_function(space['used'], [4.0], tf.float64)
        main.OFFSET = 7.0                       # type: ignore[attr-defined]
        with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
            assert [call.replay().verdict for call in trace.calls(kind='python')] == ['same', 'same']
        assert main.OFFSET == 7.0               # type: ignore[attr-defined]
    finally:
        for each in ('typed', 'used'):
            space.pop(each)
    del linecache.cache[name]
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace, pytest.raises(CommandError, match='was typed in a session'):
        trace.calls(kind='python')[1].replay()


def test_another_version_of_a_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        tf.numpy_function(of_state, [1.0], tf.float64)
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        (call,) = trace.calls(kind='python')
        assert call.replay().remarks == ()
        recorded = np.__version__
        monkeypatch.setattr(np, '__version__', '1.0')
        assert call.replay().remarks == (f'recorded with NumPy {recorded}, this is 1.0',)


NESTED = """
from dataclasses import dataclass
import numpy as np
from pyfuncdbg import tf

@dataclass
class Pair:
    a: object
    b: object

def weighted(batch, k):
    assert type(batch) is dict and type(batch['ys']) is list
    return np.float32(batch['x'].sum() + sum(v.sum() for v in batch['ys']) * k)

if __name__ == '__main__':
    x = tf.constant([1., 2.])
    nested = tf.function(lambda x: tf.numpy_function(weighted, [{'x': x, 'ys': [x, x * 2]}, 3.0], tf.float32))
    tf.numpy_function(weighted, [{'x': x, 'ys': [x, x * 2]}, 3.0], tf.float32)
    nested(x)
    tf.py_function(lambda pair: pair.a + pair.b, [Pair(x, x)], tf.float32)
    tf.py_function(lambda rows: tf.reduce_sum(rows), [tf.ragged.constant([[1., 2.], [3.]])], tf.float32)
"""


def test_nested_arguments_are_made_again_and_other_types_are_named(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(NESTED)
    done = python(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'train.py')
    assert done.returncode == 0, done.stderr
    found = json.loads(python(tmp_path, '-c', REPLAY_ALL, 't.pfd').stdout)
    assert [verdict for _, verdict, *_ in found.values()] == ['same', 'same', 'refused', 'refused']
    reasons = [why for _, verdict, why, _ in found.values() if verdict == 'refused']
    assert 'its function gets a __main__.Pair, and a trace' in reasons[0]
    assert 'its function gets a RaggedTensor, and a trace' in reasons[1]
    python(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'export', 'pytest', '1..2', '-o', 'test_it.py')
    tested = python(tmp_path, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_it.py')
    assert '2 passed' in tested.stdout, tested.stdout
