"""The tape of a program as a user runs it: at a stop, with `check`, and from the trace afterwards."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg
from pyfuncdbg.observers.debug.gradients.tape import tape_of
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
DIGITS = str(HERE / 'pyfuncdbg' / 'demo' / 'digits.csv.gz')
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONPATH': str(HERE), 'COLUMNS': '120'}

WRONG = """
import tensorflow as tf
x = tf.Variable([1.0, 2.0, 3.0], name='x')

@tf.custom_gradient
def wrong(v):
    return v * v, lambda dy: dy * v

def right(v, factor):
    return tf.reduce_sum(tf.sin(v) * factor, axis=-1)

def planted(v):
    return wrong(v) + v

def after(v):
    return v

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(wrong(x)) + tf.py_function(right, [x, tf.constant(3.0)], tf.float32, name='right')
    loss += tf.reduce_sum(tf.py_function(planted, [x], tf.float32, name='planted'))
gradient = tape.gradient(loss, x)
tf.numpy_function(after, [gradient], tf.float32)
print(gradient.numpy().tobytes().hex())
"""

FIT = """
import sys
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(7)
table = np.loadtxt(sys.argv[-1], delimiter=',', dtype=np.int32, max_rows=64)
images, digits = table[:, :-1].astype('f') / 16, np.eye(10, dtype='f')[table[:, -1]]

def squash(values):
    return tf.tanh(values)

class Squash(keras.layers.Layer):
    def call(self, inputs):
        found = tf.py_function(squash, [inputs], tf.float32, name='squash')
        found.set_shape(inputs.shape)
        return found

model = keras.Sequential([keras.layers.Dense(16), Squash(), keras.layers.Dense(10)])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss='mse', run_eagerly='eager' in sys.argv, jit_compile=False)
history = model.fit(images, digits, batch_size=32, epochs=1, verbose=0)
print([float(loss).hex() for loss in history.history['loss']])
print([weight.tobytes().hex()[:64] for weight in model.get_weights()])
"""


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *args], cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    return done


def test_check_finds_a_wrong_custom_gradient_and_the_tape_shows_it_ever_after(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(WRONG)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--ui', 'prompt', '--break', 'after', 'program.py',
                  environment=ENVIRONMENT, timeout=60) as terminal:
        terminal.prompt()
        before = terminal.type('tape', 'd AddV2 / d x', 'planted EagerPyFunc', 'x  (leaf)')
        assert 'BAD' not in before
        found = terminal.type('check', '4 backward steps', "of tensorflow's own ops not checked")
        lines = {line.split()[3]: line for line in found.splitlines() if line.startswith('#')}
        assert '3 BAD, 2 OK' in found and 'got 1, expected 2' in lines['wrong']
        assert 'got 2, expected 3' in lines['planted'] and 'OK' in lines['right']
        terminal.type('tape', 'BAD got 1, expected 2', 'BAD got 2, expected 3', '2 wrong')
        terminal.last('cont')
        assert terminal.end() == 0
        printed = next(line for line in terminal.text.splitlines() if len(line.strip()) == 24 and ' ' not in line.strip())
    assert printed.strip() == run(tmp_path, 'program.py').stdout.strip()
    shown = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'program.pfd', 'tape').stdout
    assert 'BAD got 1, expected 2' in shown and 'BAD got 2, expected 3' in shown and 'planted' in shown
    shown = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'program.pfd', 'check').stdout
    assert any('planted' in line and 'BAD' in line for line in shown.splitlines()) and 'got 2, expected 3' in shown, shown


@pytest.mark.parametrize('mode', ['eager', 'graph'])
def test_a_keras_fit_has_tapes_and_is_the_same_bit_for_bit(tmp_path: Path, mode: str) -> None:
    (tmp_path / 'fit.py').write_text(FIT)
    plain = run(tmp_path, 'fit.py', mode, DIGITS)
    options = ['--ops'] if mode == 'graph' else []
    watched = run(tmp_path, '-m', 'pyfuncdbg', 'run', *options, 'fit.py', mode, DIGITS)
    assert watched.stdout == plain.stdout
    with Trace.open(tmp_path / 'fit.pfd') as trace:
        tape = tape_of(trace)
    assert [source.name for source in tape.sources] == [
        'sequential/dense/kernel', 'sequential/dense/bias', 'sequential/dense_1/kernel', 'sequential/dense_1/bias']
    assert all(source.gradient and source.gradient.magnitude for source in tape.sources) and not tape.dead
    assert tape.traced is (mode == 'graph')
    (python,) = [node for node in tape.nodes if node.function]
    (after,) = [edge for edge in tape.edges if edge.source == python.number]
    assert python.function == 'squash' and python.inner_steps == 1 and python.incoming[0].magnitude
    assert after.gradient.magnitude is not None and after.gradient.magnitude < python.incoming[0].magnitude
    shown = run(tmp_path, '-m', 'pyfuncdbg', 'show', 'fit.pfd', 'tape').stdout
    assert 'squash' in shown and 'sequential/dense_1/kernel  (leaf)' in shown and '1 step inside' in shown
