"""`pyfuncdbg doctor` without TensorFlow: the program runs as it would alone, and however it ends its findings follow."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = '''
import os, signal, sys, time
import numpy as np
from pyfuncdbg import tf

def third(x):
    return np.float64(x) / 3

@tf.function
def step(x):
    return tf.numpy_function(third, [x], tf.float32, name='third')

def is_cat(label):
    return np.float32(label == 'cat')

@tf.function
def judged(label):
    y = tf.numpy_function(is_cat, [label], tf.float32)
    return y * 2.0

print(sys.argv[1:], float(judged(tf.constant('cat'))), flush=True)
print('err', file=sys.stderr, flush=True)
try:
    step(tf.constant(1.0))
except tf.errors.InvalidArgumentError:
    pass
'''


FAULTY = '''
import numpy as np
from pyfuncdbg import tf

tf1 = tf.compat.v1
w = tf.Variable(3.0, name="weight")

@tf.function
def head(x):
    return tf.numpy_function(lambda a: a[:int(a[0]) + 1], [x], tf.float32)

def elements():
    head(tf.constant([2.0, 1.0, 1.0]))          # called at once before a dataset calls it
    return tf.data.Dataset.from_tensor_slices(np.float32([[2, 1, 1], [1, 1, 1]])).map(head)

print(sum(1 for _ in elements()))

def load(i):
    return np.zeros([48 if i != 5 else 40, 3], np.uint8)

def image(i):
    x = tf.numpy_function(load, [i], tf.uint8)
    x.set_shape([48, 3])
    return x

try:
    list(tf.data.Dataset.range(7).map(image).batch(7))
except tf.errors.InvalidArgumentError:
    print('no batch')

def pair(a, b):
    return np.tanh(a), a

with tf.Graph().as_default(), tf1.Session() as session:
    u, v = [tf1.get_variable(name, [3]) for name in 'uv']
    y, z = tf1.py_func(
        pair, [u, 1],
        [tf.float32] * 2, name='tanh')
    y.set_shape([3])
    gradients = tf.gradients(tf.reduce_sum(y * v), [u, v])
    session.run(tf1.global_variables_initializer())
    session.run(gradients[1])

def double(x):
    return x + x

@tf.function
def doubled(x):
    y = tf.numpy_function(double, [x * w], tf.float32)
    y.set_shape([])
    return y + tf.stop_gradient(w)

for _ in range(2):
    with tf.GradientTape() as tape:
        y = doubled(tf.constant(2.0))
    print(tape.gradient(y, [w]), gradients[0])
'''


def test_faults_of_graphs_are_found_as_they_are_in_tensorflow(tmp_path: Path) -> None:
    (tmp_path / 'faulty.py').write_text(FAULTY)
    code, out, err = doctor(tmp_path, '--json', 'faulty.py')
    assert (code, out.split('\n')) == (0, ['2', 'no batch', '[None] None', '[None] None', ''])
    found = json.loads(err.splitlines()[-1])['findings']
    assert [(one['kind'], one['place']['line'], one['fix']) for one in found] == [
        ('shape', 10, 'return tf.ensure_shape(tf.numpy_function(lambda a: a[:int(a[0]) + 1], [x], tf.float32), [None])'),
        ('untrue shape', 22, 'x.set_shape([None, 3])'),
        ('gradient', 36, "y, z = tf1.py_function(\n    pair, [u, 1],\n    [tf.float32] * 2, name='tanh')"),
        ('gradient', 49, 'y = tf.py_function(double, [x * w], tf.float32)')]
    assert [one['figures'] for one in found[2:]] == [{'None': 1, 'gradients': 1, 'source': 'u'},
                                                     {'None': 2, 'gradients': 2, 'source': 'weight'}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / 'prog.py').write_text(PROGRAM)
    return tmp_path


def start(folder: Path, *args: str, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '100'}
    return subprocess.Popen([sys.executable, *args], cwd=folder, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def doctor(folder: Path, *args: str, given: str = '') -> tuple[int, str, str]:
    with start(folder, '-m', 'pyfuncdbg', 'doctor', *args, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(given, timeout=60)
    return process.returncode, out, err


def test_findings_of_our_own_runtime_follow_on_stderr(folder: Path) -> None:
    code, out, err = doctor(folder, 'prog.py', '--depth', 'x')
    assert (code, out) == (0, "['--depth', 'x'] 0.0\n")
    lines = [line.rstrip() for line in err.splitlines()]
    assert lines[0] == 'err' and lines[1] == '3 findings   2 calls at 2 sites judged'
    assert [line for line in lines[2:] if line[:2] in ('1 ', '2 ', '3 ')] == [
        '1 DTYPE  prog.py:11  third', '2 BYTES, NOT STR  prog.py:14  PyFunc', '3 SHAPE LOST  prog.py:18  PyFunc']
    assert '    return np.asarray(np.float64(x) / 3, np.float32)' in lines and '    y.set_shape([])' in lines
    assert lines[-1].startswith('pyfuncdbg show prog.pfd call ')


def test_json_is_one_line_and_a_saved_trace_answers_the_same(folder: Path) -> None:
    code, _, err = doctor(folder, '--json', '--record', 'it.pfd', 'prog.py')
    told = json.loads(err.splitlines()[-1])
    assert code == 0 and [one['kind'] for one in told['findings']] == ['dtype', 'text', 'shape'] and told['examined']
    (folder / 'prog.py').unlink()               # another machine has no such file
    for args, kinds in (((), ['dtype', 'text', 'shape']), (('--kind', 'text'), ['text'])):
        with start(folder, '-m', 'pyfuncdbg', 'show', 'it.pfd', 'doctor', '--json', *args) as process:
            shown = json.loads(process.communicate(timeout=60)[0])
        assert shown['findings'] == [one for one in told['findings'] if one['kind'] in kinds]


def test_a_trace_of_run_is_judged_by_its_calls(folder: Path) -> None:
    with start(folder, '-m', 'pyfuncdbg', 'run', '--record', 'it.pfd', 'prog.py') as process:
        process.communicate(timeout=60)
    with start(folder, '-m', 'pyfuncdbg', 'show', 'it.pfd', 'doctor', '--json') as process:
        shown = json.loads(process.communicate(timeout=60)[0])
    assert [one['kind'] for one in shown['findings']] == ['dtype', 'shape'] and not shown['examined']
    with start(folder, '-m', 'pyfuncdbg', 'show', 'it.pfd', 'doctor', '--kind', 'leek') as process:
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 2 and "'leek'" in err and "Did you mean 'leak'?" in err


@pytest.mark.parametrize(('end', 'code', 'said'), [
    ('sys.exit(3)', 3, ''), ('os._exit(4)', 4, 'left by os._exit'), ('raise KeyError("k")', 1, "ended with KeyError: 'k'"),
    ('os.kill(os.getpid(), signal.SIGKILL)', 128 + signal.SIGKILL, 'killed or left'),
    ('os.kill(os.getpid(), signal.SIGTERM)', -signal.SIGTERM, 'killed or left'),
    ('print(input())', 0, '')])
def test_however_it_ends_the_exit_code_is_the_programs(folder: Path, end: str, code: int, said: str) -> None:
    (folder / 'prog.py').write_text(f'{PROGRAM}\ntime.sleep(2.5 if "_exit" in {end!r} or "kill" in {end!r} else 0)\n{end}\n')
    found, out, err = doctor(folder, 'prog.py', given='typed\n')
    assert found == code and out == '[] 0.0\n' + 'typed\n' * ('input' in end)
    assert '1 DTYPE  prog.py:11  third' in err and said in ' '.join(err.split())


@pytest.mark.parametrize(('number', 'whom', 'code'), [(signal.SIGTERM, 'process', -signal.SIGTERM),
                                                      (signal.SIGINT, 'group', -signal.SIGINT)])
def test_a_signal_reaches_the_program_and_its_findings_follow(folder: Path, number: int, whom: str, code: int) -> None:
    (folder / 'prog.py').write_text(f'{PROGRAM}\nprint("waits", flush=True)\ntime.sleep(60)\n')
    with start(folder, '-m', 'pyfuncdbg', 'doctor', 'prog.py', start_new_session=True) as process:
        assert process.stdout is not None
        while 'waits' not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(2)                           # it writes its calls ten times a second, and looks around now and then
        (os.kill if whom == 'process' else os.killpg)(process.pid, number)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == code and '1 DTYPE  prog.py:11  third' in err
    assert ('KeyboardInterrupt' in err) == (number == signal.SIGINT)


def test_what_has_no_python_functions_leaves_no_trace(folder: Path) -> None:
    (folder / 'plain.py').write_text('print("hi")\n')
    (folder / 'wants.py').write_text('import tensorflow_that_is_not_there\n')
    code, out, err = doctor(folder, 'plain.py')
    assert (code, out) == (0, 'hi\n') and 'there are no calls to judge' in err
    code, out, err = doctor(folder, '-m', 'wants')
    assert (code, out) == (1, '') and 'ended with ModuleNotFoundError' in err
    assert sorted(path.name for path in folder.glob('*.pfd')) == []


@pytest.mark.parametrize(('args', 'told'), [
    ((), 'doctor needs a SCRIPT, or -m and the name of a module'),
    (('porg.py',), "no such file: 'porg.py'. Did you mean 'prog.py'?"),
    (('--record', '.', 'prog.py'), "doctor: '.' is a folder with files in it; give a path that does not exist yet"),
    (('--budget', 'x', 'prog.py'), "'x' is not a size; write it as 256MB or 1.5GB"),
    (('-m',), '-m needs the name of a module'),
    (('--jsn', 'prog.py'), "doctor: unrecognized arguments: --jsn. Did you mean '--json'?")])
def test_a_wrong_command_line_is_one_line(folder: Path, args: tuple[str, ...], told: str) -> None:
    assert doctor(folder, *args) == (2, '', f'pyfuncdbg: {told}\n')
    assert not list(folder.glob('*.pfd'))
