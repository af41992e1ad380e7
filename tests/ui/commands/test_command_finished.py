"""Commands that make calls again, asked of a finished trace: one line says how to get the answer, and that works."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = '''
import sys
import numpy as np
from pyfuncdbg import tf

def root(x):
    return tf.sqrt(x - float(sys.argv[1]))

@tf.custom_gradient
def cube(x):
    return x * x * x, lambda dy: -3.0 * x * x * dy

def cubed(x):
    return cube(x)

for value in (3.0, 1.0, 2.0):
    x = tf.constant([4.0, value])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(root, [x], tf.float32, name='root') + tf.py_function(cubed, [x], tf.float32, name='cubed')
    tape.gradient(y, x)
'''


@pytest.fixture
def run(tmp_path):
    (tmp_path / 'program.py').write_text(PROGRAM)

    def run(*args, given=''):
        done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', *args], cwd=tmp_path, capture_output=True, text=True,
                              input=given, env={**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '200'}, timeout=110)
        return done.returncode, done.stdout, done.stderr
    return run


def test_a_finished_trace_says_how_to_ask_and_that_works(run):
    assert run('run', '--record', 'first.pfd', 'program.py', '2')[0] == 0
    code, out, err = run('show', 'first.pfd', 'health', '--line', 'root[1]')
    assert (code, out) == (2, '')
    assert err.endswith(" root[1] cannot be repeated: a finished trace holds no function. Run the program, stop after "
                        "the call: pyfuncdbg run --break 'root[1]' program.py 2, then 'return' and "
                        "'health --line root[1]'\n") and err.count('\n') == 1
    code, out, err = run('show', 'first.pfd', 'check')      # of Python functions; nodes were not recorded
    assert code == 0 and 'got -48, expected 48.0001 (the sign)' in out and '3 BAD, 1 OK, 17 unchecked' in out, out
    assert err.startswith('pyfuncdbg: check runs ') and err.endswith('program.py on recorded data\n')

    _, out, err = run('run', '--ui', 'prompt', '--break', 'root[1]', 'program.py', '2',
                      given='return\nhealth --line root[1]\ncont\n')
    assert 'NaN first appeared in return value at program.py:7, root' in out + err
    _, out, err = run('run', '--ui', 'prompt', '--ops', '--break', 'root[1]', 'program.py', '2', given='check\ncont\n')
    assert 'got -48, expected 48 (the sign)' in out + err
