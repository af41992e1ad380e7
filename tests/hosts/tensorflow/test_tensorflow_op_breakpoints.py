"""Breakpoints on ops of the real TensorFlow: a stop is after what has run already, and before the node of a session."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import numpy as np, tensorflow as tf
@tf.function
def step(v):
    return tf.sqrt(v, name='root') + 1.
print(step(tf.constant([4., 9.])).numpy().tolist())
print((tf.sqrt(tf.constant([16.])) + 1.).numpy().tolist())
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    late = tf.add(tf.sqrt(tf.compat.v1.placeholder_with_default([25.], [1]), name='late'), 1.)
    print(session.run(late).tolist())
"""


def test_a_stop_is_after_what_has_run_and_says_what_cannot_be_changed(tmp_path: Path) -> None:
    """An op of a traced function, an eager one, and the node of a session, which waits and can be changed."""
    (tmp_path / 'program.py').write_text(PROGRAM)
    refused = 'inject out0 np.zeros_like(out[0])\nretry\nc\n'
    done = subprocess.run(
        [sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--ops', '--break', 'Sqrt', '--ui', 'prompt', 'program.py'],
        input=refused * 2 + 'node\ninject late:0 np.float32([7.])\nc\n', capture_output=True, text=True, timeout=280,
        check=False, cwd=tmp_path, env={**os.environ, 'PYTHONPATH': str(ROOT), 'TF_CPP_MIN_LOG_LEVEL': '3'})
    assert done.stdout == '[3.0, 4.0]\n[5.0]\n[8.0]\n', done.stdout + done.stderr
    cards = [part for part in done.stderr.split('(pfd) ') if 'STOPPED' in part]
    assert [part[part.index('STOPPED'):].split()[1] for part in cards[:3]] == ['after', 'after', 'before'], done.stderr
    for card in cards[:2]:
        assert 'tf.py_function' in card and 'retry' not in card, card
    assert done.stderr.count('has run already, and nothing here changes that. The program goes on with') == 4
    assert 'tf.py_function' not in cards[2], cards[2]
