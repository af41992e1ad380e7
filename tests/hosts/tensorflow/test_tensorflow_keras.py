"""A Keras fit with Python functions in the dataset (4 parallel calls), in a layer and in the loss, as a user runs it."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAM = str(Path(__file__).with_name('keras_digits.py'))
DIGITS = str(HERE / 'pyfuncdbg' / 'demo' / 'digits.csv.gz')
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONPATH': str(HERE)}


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True,
                          timeout=200)


def test_a_fit_is_the_same_bit_for_bit_and_all_its_calls_are_recorded(tmp_path: Path) -> None:
    plain = run(tmp_path, PROGRAM, DIGITS)
    watched = run(tmp_path, '-m', 'pyfuncdbg', 'run', PROGRAM, DIGITS)
    assert plain.returncode == watched.returncode == 0, plain.stderr + watched.stderr
    assert plain.stdout == watched.stdout and plain.stdout.startswith("losses ['0x1.")
    with Trace.open(tmp_path / 'keras_digits.pfd') as trace:
        assert [trace.count(site=name) for name in ('normalize', 'squash', 'penalty')] == [512, 8, 8]
        threads = {call.thread for call in trace.calls(site='normalize')}
        inputs = trace.calls(site='normalize', limit=1)[0].inputs
    assert len(threads) > 1 and [tensor.dtype for tensor in inputs] == ['float32', 'int64']


def test_with_its_ops_a_fit_is_the_same_bit_for_bit_and_a_nan_is_followed_into_them(tmp_path: Path) -> None:
    plain = run(tmp_path, PROGRAM, '--planted', '5', DIGITS)
    watched = run(tmp_path, '-m', 'pyfuncdbg', 'run', '--ops', PROGRAM, '--planted', '5', DIGITS)
    assert plain.stdout == watched.stdout and 'nan' in plain.stdout, plain.stderr + watched.stderr
    with Trace.open(tmp_path / 'keras_digits.pfd') as trace:
        findings = judge(trace).findings
        products = [call for call in trace.calls(kind='op') if call.site.op_type == 'MatMul']
        cost = trace.info().op_cost
    assert [found.call.site.name for found in findings if found.verdict == 'born'] == ['normalize'] * 2     # in each epoch
    assert 'MatMul' in {found.call.site.op_type for found in findings if found.verdict == 'inherited'}
    assert len(products) >= 8 * 2 * 2           # two layers, forward and backward
    assert cost is not None and cost.calls > 500


def test_a_predicate_stops_at_the_planted_element_and_steps_to_the_planted_line(tmp_path: Path) -> None:
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--ui', 'prompt', '--break', 'normalize', '--if', 'pixels.std() == 0',
                  PROGRAM, '--planted', '77', DIGITS, environment=ENVIRONMENT, timeout=60) as terminal:
        stopped = terminal.prompt()
        assert "node 'normalize'" in stopped and 'number  int64 77' in stopped and stopped.count('STOPPED') == 1
        terminal.type('step', 'STOPPED in normalize at keras_digits.py:', 'mean = pixels.mean()')
        terminal.type('next', 'mean  float32 3.0')
        terminal.type('next', 'spread  float32 0.0')
        terminal.type('next', 'return shifted / spread', 'shifted  float32[64]')
        terminal.type('p number, spread', '77')
        terminal.type('bt', 'node normalize', 'keras_digits.py', 'in normalize')
        terminal.type('next', 'STOPPED after call', 'NaN 64')
        terminal.type('inject out0 pixels * 0', 'replaced, in this call')
        # The same element comes by in the second epoch, and nothing else stops.
        again = terminal.type('cont', 'STOPPED before call', "node 'normalize'", 'number  int64 77')
        assert again.count('STOPPED') == 1
        terminal.last('quit')
        assert terminal.end() == 0
        assert "losses ['0x1." in terminal.text     # without the NaN of the first epoch


def test_a_fork_after_attaching(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(
        'import os, numpy as np, tensorflow as tf, pyfuncdbg\n'
        'with pyfuncdbg.record("fork.pfd") as recorder, pyfuncdbg.attach("tensorflow") as attachment:\n'
        '    def f(x): return x + 1\n'
        '    def call(): return tf.numpy_function(f, [np.float32(1)], tf.float32).numpy()\n'
        '    call()\n'
        '    child = os.fork()\n'
        '    print(f"{call()}\\n", end="", flush=True)\n'        # in one piece: both write at once
        '    if not child:\n'
        '        attachment.detach()\n'
        '        print(f"{call()} {attachment.attached}\\n", end="", flush=True)\n'
        '        recorder.flush()\n'
        '        os._exit(0)\n'                 # TensorFlow never ends in a child that leaves as usual, with or without us
        '    else:\n'
        '        print(os.waitpid(child, 0)[1], attachment.attached)\n')
    done = run(tmp_path, 'program.py')
    assert done.returncode == 0 and sorted(done.stdout.split('\n')) == ['', '0 True', '2.0', '2.0', '2.0 False'], done.stderr
    with Trace.open(tmp_path / 'fork.pfd') as trace:
        assert trace.count() == 3


def test_an_abort_ends_the_program(tmp_path: Path) -> None:
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--ui', 'prompt', '--break', 'penalty', PROGRAM, DIGITS,
                  environment=ENVIRONMENT, timeout=60) as terminal:
        assert 'wanted  float32[64, 10]' in terminal.prompt()
        terminal.last('abort')
        assert terminal.end() == 130
        assert 'Traceback' not in terminal.text and 'losses' not in terminal.text and 'aborted at stop 1' in terminal.text


