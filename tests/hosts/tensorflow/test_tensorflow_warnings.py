"""Warnings and log lines of functions that TensorFlow calls name the line, and are shown as often, as without us."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg

pytestmark = pytest.mark.tensorflow

PROGRAM = '''
import logging, sys, warnings
import tensorflow as tf
logging.basicConfig(format='%(pathname)s:%(lineno)d: %(message)s')
def tell(who):
    for level in range(2, min(depth(), 30) + 1):
        warnings.warn(f'{who} {level}', stacklevel=level)
        logging.warning(f'{who} {level}', stacklevel=level)
def depth():
    """Number of frames from `tell` to the program's first, without ours: further out are those that run the program."""
    frame, count = sys._getframe(1), 0
    while frame is not None:
        count += 'pyfuncdbg' not in frame.f_code.co_filename
        if frame.f_code.co_name == '<module>' and frame.f_code.co_filename == __file__:
            break
        frame = frame.f_back
    return count
def of_tensor(x):
    tell('py_function')
    return x * 2
def of_array(x):
    tell('numpy_function')
    return x * 2
@tf.custom_gradient
def clipped(x):
    tell('custom_gradient')
    def backward(g):
        tell('backward')
        return g
    return x, backward
def both(x):
    y = tf.py_function(of_tensor, [x], tf.float32)
    return y + tf.numpy_function(of_array, [x], tf.float32)
@tf.function(autograph=False)
def traced(x):
    tell('traced')
    return clipped(both(x))
def functions(x): both(x), both(x), traced(x), traced(x)
def gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clipped(tf.py_function(of_tensor, [x], tf.float32))
    tape.gradient(y, x)
def datasets(x):
    for _ in tf.data.Dataset.from_tensors(x).map(both): pass
def sessions(x):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = both(tf.constant(1.))
        session.run(y), session.run(y)
def third(case): case(tf.constant([1., 2.]))
def second(case): third(case)
def first(case): second(case)
for case in functions, gradients, datasets, sessions:
    first(case)
'''
OTHERS = 'pyfuncdbg: breakpoint ', 'I0000 '         # that a breakpoint stopped nothing; what TensorFlow logs with the time


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, 'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1]), 'TF_CPP_MIN_LOG_LEVEL': '3'}
    return subprocess.run([sys.executable, *args], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def told_by(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Sorted: TensorFlow calls functions of a graph on several threads."""
    return sorted(line for line in done.stderr.splitlines() if not line.startswith(OTHERS))


def test_a_level_of_the_stack_is_the_frame_that_it_is_in_the_plain_program(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    plain = run(tmp_path, 'program.py')
    assert plain.returncode == 0, plain.stderr
    for told in ('py_function', 'numpy_function', 'custom_gradient', 'backward', 'traced'):
        assert f'UserWarning: {told} ' in plain.stderr
    never = '--break', 'tell', '--if', 'who is None', '--break', '*', '--if', 'inputs is None'
    for options in (), ('--ops',), ('--every', '2', *never):
        done = run(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', *options, 'program.py')
        assert (told_by(done), done.returncode) == (told_by(plain), 0), options
