"""The examples of every command's help, typed at a real prompt: each does what it says."""
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg
from pyfuncdbg.ui.commands.table import TABLE

ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]

MODEL = '''\
"""The functions of train.py."""
from pyfuncdbg import tf


def other_norm(x):
    return x / tf.reduce_max(x)
''' + '\n' * 30 + '''\
def norm(x):
    n = c = len(x)
    mu = tf.reduce_mean(x, -1, keepdims=True)
    sd = tf.math.reduce_std(x, -1, keepdims=True).numpy()
    config = {'n': n, 'eps': 1e-3}
    y = x - mu
    y = y / (sd + config['eps'])
    y = y * 2
    return y
'''
TRAIN = '''\
import threading
import numpy as np
from model import norm, other_norm
from pyfuncdbg import tf

for k in range(16):
    tf.numpy_function(lambda v: v + 1, [np.float32(k)], tf.float32)     # norm[0] is call 17
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [3, 3], name='x')
    w = tf.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), name='w')
    mm = tf.matmul(x, w, name='mm')
    y = tf.py_function(norm, [mm], tf.float32, name='norm')
    y.set_shape([3, 4])
    with tf.name_scope('layer1'):
        z = tf.numpy_function(lambda v: v + 1, [y], tf.float32, name='norm')
    loss = tf.reduce_mean(z + y, name='loss')
    slope = tf.gradients(tf.reduce_sum(y * y), w)[0]
''' + '\n' * 25 + '''\
with tf.compat.v1.Session(graph=graph) as session:
    for step in range(60):
        session.run([loss, slope], {x: np.arange(9, dtype=np.float32).reshape(3, 3) + step})

def fail(x):
    raise ValueError('a bad batch')

def one(x):
    return x.copy()

def two(x):
    return x, x

try:
    tf.numpy_function(fail, [np.ones(3, np.float32)], tf.float32)
except Exception:
    pass
print(tf.numpy_function(one, [np.ones(3, np.float32)], tf.float32),
      tf.numpy_function(two, [np.ones(3, np.float32)], [tf.float32, tf.float32]))

def worker(x):
    return x

def waiting(x):
    return x
threads = [threading.Thread(target=lambda: tf.numpy_function(worker, [np.float32(1)], tf.float32))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
'''

AT_A_NODE = (
    'calls --bad', "calls --site 'layer*/norm' --sort duration -n 10", 'call 17', 'call norm[3]', 'out 17', 'lt',
    'lt --bad', 'lt -f has_nan --sort bytes -n 20', 'pt norm:0', 'pt norm:0[1:3, ..., -1]', "pt -r '[0, 1]' '#17:in0'",
    'pt --diff norm:0', 'pt norm:0 --as svg', '@1,0', 'pf', 'pf --run 12',
    'eval np.abs(#17:0 - norm:0).max()', 'eval has_nan(norm:0)',
    'graph', "graph --site 'layer*' --as dot", 'ni norm', 'ni -a -t norm', 'li loss', 'li -r -c loss', 'lo loss',
    'lo -r -c loss', 'ls', "ls --path '*/model.py'", 'ps train.py', 'ps train.py:40', 'timeline', 'timeline --run 12',
    'timeline --as svg',
    'report', 'report --json', 'health', 'health --line 17', 'tape', 'tape --as mermaid', 'tape --as svg',
    'check', 'check --call 17',
    'doctor', 'doctor --kind leak', 'diff good.pfd', 'diff good.pfd --ignore time,print --ulp 2', 'diff --runs 2 3',
    'diff --calls norm[3] norm[4]', 'export chrome', 'export csv -o calls.csv', 'export npz norm[3] -o norm.npz',
    'export pytest norm[3]', 'replay 17', 'replay norm[3] --times 20', "replay 17 --change 'x = x[:3]'",
    'replay --all', 'audit', 'audit norm', "audit 'layer*' -n 20",
    'lp', 'lp --by line --file train.py', 'info', 'record', 'record off', 'record on',
    'threads', 'stop', 'bt',
    'w --locals', 'up', 'down', 'list', 'source norm', 'norm?', 'norm??', 'pinfo2 norm', 'pinfo np.linalg.norm',
    'p mm:0.mean()', 'alias', 'alias pm p %1.mean()', 'alias ns n ;; p x', 'unalias pm', 'habits pdb', 'habits',
    'help', 'help break',
    'help stops', 'breaks', 'catch', 'catch off', 'context', 'context 11', 'break norm if has_nan(out)',
    'tbreak norm', "break 'layer*/norm' --after-call --do log", 'break model.py:41', 'tbreak model.py:41 if n > 3',
    'breaks --save', 'enable 2', 'disable 1 2', 'enable all', 'condition 2 if has_nan(out)', 'condition 2',
    'commands 2 p x.mean() ;; c', 'commands 2\nsilent\np x.mean()\nc\nend', 'ignore 2 100', 'clear 2',
    'inject mm:0 np.zeros((3, 4), np.float32)', 'interrupt', 'args', 'locals', 'display', 'undisplay')
"""At a node of the graph, after calls of its functions; what is stopped at stays."""
IN_A_FUNCTION = (
    'stop', 'w --locals', 'up', 'u 2', 'down', 'down', 'down', 'list', 'l 40', 'l 40, 60', 'l .', 'll', 'source norm',
    'p n', 'p $_ + 1', 'p x.shape', 'pp config', 'whatis x', 'args', 'locals', 'display sd.min()', 'display',
    'undisplay sd.min()', 'undisplay', '!n = 5', '!c',
    'b 41, sd.min() == 0', 'tbreak model.py:41 if n > 3', 'cl model.py:41', 'clear 1', 'jump 43', 'until 45', 'jump 43',
    'until', 'jump 43', 'step', 'jump 43', 'step 3', 'next', 'next 3', 'node', 'node 3', 'into', 'return', 'retval', 'retry',
    'differences', 'retry --into')
"""In the function of a node, at its line 44, from which it goes on."""
BEFORE_A_CALL = ('swap norm other_norm', 'c 3', 'to loss', 'rewind', 'rewind mm', 'break mm', 'clear all', 'b loss', 'cont')
"""Before calls of 'norm'."""
ELSEWHERE = (
    ('one', 'timeit x.mean()', '%timeit -n 10 -r 3 np.linalg.norm(x)', 'inject x x * 2'),
    ('one --before', 'swap lambda x: x * 2'), ('one --before', 'skip np.zeros(3, np.float32)'), ('two', 'skip x * 2, 0'),
    ('fail --error', 'exceptions', 'exceptions 0'))
"""In other functions, or before or after their calls."""
A_RUN = '''\
import numpy as np
import pyfuncdbg
from pyfuncdbg import tf

with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [3], name='x')
    y = tf.multiply(x, 2., name='y')
    with pyfuncdbg.DebugSession(tf.compat.v1.Session()) as session:
        for step in range(30):
            session.run(y, {x: np.full(3, step)})
'''
OF_A_RUN = ('run', 'run -t 10', 'run -f has_inf_or_nan')
TWO_THREADS = '''\
import threading
import numpy as np
from pyfuncdbg import tf

def waiting(x):
    return x
threads = [threading.Timer(k, tf.numpy_function, (waiting, [np.float32(k)], tf.float32)) for k in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
'''


def typed(folder: Path, place: str, *lines: str, last: str = 'quit', program: str = TRAIN) -> dict[str, str]:
    """What each line answers where the program has stopped at a place; none of them is refused."""
    (folder / 'model.py').write_text(MODEL)
    (folder / 'train.py').write_text(program)
    answers = {}
    with Terminal(folder, '-m', 'pyfuncdbg', 'run', *(['--break', place] if place else []), 'train.py') as user:
        user.prompt()
        for line in lines:
            *parts, end = line.split('\n')
            for part in parts:
                user.type(part)
            answers[line] = user.type(end)
            assert '*** ' not in answers[line], (line, answers[line])
        user.last(last, '>>> ' if last == 'interact' else 'pyfuncdbg  ')
    return answers


def test_at_a_node(tmp_path: Path) -> None:
    (tmp_path / 'model.py').write_text(MODEL)
    (tmp_path / 'train.py').write_text(TRAIN)
    subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--record', 'good.pfd', 'train.py'], cwd=tmp_path,
                   env={**os.environ, 'PYTHONPATH': str(ROOT)}, capture_output=True, check=True)
    answers = typed(tmp_path, 'loss[15]', *AT_A_NODE, last='abort')
    assert 'only the second has this' in answers['diff good.pfd']      # which has run to its end
    assert 'norm[0]' in answers['call 17'] and 'def norm' in answers['source norm']
    assert '[1,0] of norm:0' in answers['@1,0']


def test_in_a_function(tmp_path: Path) -> None:
    answers = typed(tmp_path, 'model.py:44', *IN_A_FUNCTION, last='cont')
    assert "'n': 3" in answers['pp config'] and 'EagerTensor' in answers['whatis x'] and '4' in answers['p $_ + 1']


def test_before_calls(tmp_path: Path) -> None:
    answers = typed(tmp_path, 'norm', *BEFORE_A_CALL, last='abort')
    assert "before call 4 of node 'norm'" in answers['c 3'] and "before node 'mm'" in answers['rewind mm']


@pytest.mark.parametrize(('place', 'lines'), [(place, lines) for place, *lines in ELSEWHERE], ids=str)
def test_elsewhere(tmp_path: Path, place: str, lines: list[str]) -> None:
    typed(tmp_path, place, *lines)


def test_the_runs_of_a_session(tmp_path: Path) -> None:
    answers = typed(tmp_path, '', *OF_A_RUN[:-1], last=OF_A_RUN[-1], program=A_RUN)
    assert '11th of session 1' in answers['run -t 10']


def test_another_thread(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text('import os\nos.environ["TF_CONFIG"] = \'{"task": {"type": "worker", "index": 3}}\'\n'
                                       + TWO_THREADS)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--break', 'waiting', 'train.py') as user:
        user.prompt()
        assert any('switch N' in user.type('threads') or time.sleep(0.1) for _ in range(100))      # both have stopped
        assert 'STOPPED' in user.type('switch 2')
        assert 'stop 2 has the prompt already' in user.type('switch worker:3')
        assert 'worker:3' in user.type('processes') and 'worker:3' in user.type('processes -n 500')
        assert 'all others wait at their next call' in user.type('stopall')
        assert 'the others go on' in user.type('stopall off')
        user.last('interact', '>>> ')


def test_every_example_is_typed_here() -> None:
    here = {*AT_A_NODE, *IN_A_FUNCTION, *BEFORE_A_CALL, *OF_A_RUN, 'switch 2', 'switch worker:3', 'processes',
            'processes -n 500', 'stopall', 'stopall off', 'quit', 'abort', 'cont', 'interact',
            'replay 17 --pdb',
            'audit -n 100 --dask local', "replay --all 'layer*' --dask local"}      # of a finished trace
    assert not {example for command in TABLE for example in command.examples}.difference(here, *ELSEWHERE)
