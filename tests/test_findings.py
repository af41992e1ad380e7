"""Small programs with one bug each, run as a user would: the report names the call and the line, and nothing else."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pyfuncdbg

HEAD = '''
import numpy as np
from pyfuncdbg import tf

def run(fetches, **feeds):
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        return session.run(fetches, {x: feeds['x']})

tf.compat.v1.disable_eager_execution()
x = tf.compat.v1.placeholder(tf.float64, [None])
'''

LOG_OF_ZERO = HEAD + '''
def odds(p):
    q = 1 - p
    return np.log(p / q)                        # here
y = tf.numpy_function(odds, [x], tf.float64, name='odds')
for value in ([.5], [.25], [0.]):
    run(y + 1, x=value)
'''

SILENCED = HEAD.replace('tf.compat.v1.disable', "np.seterr(all='ignore'); tf.compat.v1.disable") + '''
def shares(v):
    return v / v.sum()                          # here
y = tf.numpy_function(shares, [x], tf.float64, name='shares')
for value in ([1.], [0.], [0.]):
    run(tf.reduce_mean(y), x=value)
'''

OVERFLOW = HEAD + '''
def softmax(v):
    e = np.exp(v)                               # here
    return e / e.sum()
run(tf.numpy_function(softmax, [x], tf.float64, name='softmax'), x=[800., 2.])
'''

SECOND_OUTPUT = HEAD + '''
def both(v):
    a = v + 1
    b = v / 0                                   # here
    return a, b
a, b = tf.numpy_function(both, [x], [tf.float64, tf.float64], name='both')
run([a, b], x=[0.])
'''

NESTED = '''
import numpy as np
from pyfuncdbg import tf
def inner(v):
    return v.numpy() / 0                        # here
def middle(v):
    return tf.py_function(inner, [v], tf.float64, name='inner')
@tf.function
def step(v):
    return tf.py_function(middle, [v], tf.float64, name='middle')
step(tf.constant(0., tf.float64))
'''

FED = HEAD + '''
run(tf.numpy_function(lambda v: v * 2, [x], tf.float64, name='double'), x=[1., np.nan])
'''

FROM_A_VARIABLE = HEAD + '''
v = tf.Variable(np.array([1., np.inf]))
run(tf.numpy_function(lambda v: v * 2, [v], tf.float64, name='double'), x=[1.])
'''

MASKED = HEAD + '''
def invert(v):
    return np.where(v == 0, 0, 1 / v)
run(tf.numpy_function(invert, [x], tf.float64, name='invert'), x=[0., 1.])
'''

ONLY_THE_GRADIENT = '''
from pyfuncdbg import tf
x = tf.Variable(0.)
with tf.GradientTape() as tape:
    y = tf.py_function(lambda v: tf.pow(v, 0.5), [x], tf.float32, name='root') * 0.
tape.gradient(y, x)
'''

INTEGERS = '''
import numpy as np
from pyfuncdbg import tf
tf.numpy_function(lambda v: v * np.int32(2**30), [np.array([8], np.int32)], tf.int32)
'''


def report(folder: Path, program: str) -> Any:
    (folder / 'prog.py').write_text(program)
    environment = dict(os.environ, PYTHONPATH=str(Path(pyfuncdbg.__file__).resolve().parents[1]))
    ours = [sys.executable, '-m', 'pyfuncdbg']
    done = subprocess.run([*ours, 'run', 'prog.py'], cwd=folder, env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    shown = subprocess.run([*ours, 'show', 'prog.pfd', 'report', '--json'], cwd=folder, env=environment,
                           capture_output=True, timeout=60, check=True)
    return json.loads(shown.stdout)


@pytest.mark.parametrize(('program', 'label', 'slot', 'others'), [
    (LOG_OF_ZERO, 'odds[2]', 0, 0), (SILENCED, 'shares[1]', 0, 1), (OVERFLOW, 'softmax[0]', 0, 0),
    (SECOND_OUTPUT, 'both[0]', 1, 0), (NESTED, 'inner[0]', 0, 0),
], ids=['log of zero', 'silenced', 'overflow', 'second output', 'nested'])
def test_birth(tmp_path: Path, program: str, label: str, slot: int, others: int) -> None:
    line = next(n for n, text in enumerate(program.splitlines(), 1) if text.endswith('# here'))
    first, *more = [origin['finding'] for origin in report(tmp_path, program)['origins']]
    assert (first['verdict'], first['call']['label'], first['slot']) == ('born', label, slot)
    assert (first['places'][0]['line'], Path(first['places'][0]['filename']).name) == (line, 'prog.py')
    assert [(finding['verdict'], finding['places'][0]['line']) for finding in more] == [('born', line)] * others


@pytest.mark.parametrize(('program', 'verdicts'), [
    (FED, [('fed', 'double[0]')]), (FROM_A_VARIABLE, [('entered', 'double[0]')]), (MASKED, []), (INTEGERS, []),
    (ONLY_THE_GRADIENT, [('born', 'Pow_grad[0]')]),
], ids=['fed', 'variable', 'masked', 'integers', 'gradient'])
def test_what_no_function_made(tmp_path: Path, program: str, verdicts: list[tuple[str, str]]) -> None:
    found = [origin['finding'] for origin in report(tmp_path, program)['origins']]
    assert [(finding['verdict'], finding['call']['label']) for finding in found] == verdicts
