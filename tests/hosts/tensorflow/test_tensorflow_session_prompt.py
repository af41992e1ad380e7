"""A person at a terminal debugs a v1 program of the real TensorFlow: finds the run, the node and the line of a NaN."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300)]
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAM = str(Path(__file__).with_name('session_training.py'))
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONPATH': str(HERE)}


@pytest.fixture(scope='module')
def losses() -> list[str]:
    """What the program prints without us."""
    done = subprocess.run([sys.executable, PROGRAM, '--plain'], env=os.environ | ENVIRONMENT, capture_output=True, text=True,
                          timeout=100)
    assert done.returncode == 0 and '\n7 nan\n' in done.stdout, done.stderr
    return done.stdout.splitlines()


def test_the_run_the_node_and_the_line_of_a_nan(tmp_path: Path, losses: list[str]) -> None:
    with Terminal(tmp_path, PROGRAM, environment=ENVIRONMENT, timeout=60) as terminal:
        card = terminal.prompt()
        assert 'Session.run' in card and 'x:0  float32 [16, 4]  256 B' in card and '1 Python function among them' in card
        found = terminal.type('run -f has_nan', '(7th of session 1)', 'passed has_nan', 'price:0', 'loss:0')
        assert '6 0x1.' in found and '7 nan' not in found
        terminal.type('ni price', 'penalty', 'session_training.py', 'scale:0', 'float32[] = -1', 'float32[] NaN 1')
        terminal.type('pt mm:0', 'mm:0  float32 [16, 8]', 'count')
        terminal.type('pt price:0', 'NaN 1', 'not finite: born in this call at session_training.py:20')
        terminal.type('health', 'BORN', 'penalty', 'reached fetch loss:0')
        terminal.type('li loss', 'fit:0', 'price:0 penalty', 'scale:0  feed')
        terminal.type('break price if scale < 0', 'breakpoint 1 set')
        terminal.last('quit')
        assert terminal.end() == 0
        printed = terminal.text.splitlines()
    assert [line for line in printed if line in losses] == losses


def test_stepping_through_the_nodes_into_the_function(tmp_path: Path, losses: list[str]) -> None:
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--break', 'price', '--if', 'scale < 0', PROGRAM,
                  environment=ENVIRONMENT, timeout=60) as terminal:
        terminal.prompt()
        terminal.type('node', 'STOPPED before node', 'step 1/')
        terminal.type('to price', "STOPPED before node 'price'", 'weights  float32[4, 8]')
        inside = terminal.type('into', 'STOPPED in penalty at session_training.py', 'spread = weights.var() * scale')
        assert 'native thread' in inside                   # on TensorFlow's own thread
        terminal.type('next', 'rooted = np.sqrt(spread)', 'spread  float32 0.')
        terminal.type('bt', 'in main', 'session.run(', 'Session.run  fetches loss:0', 'node price', 'in penalty')
        terminal.type('return', 'STOPPED after call', 'price:0  float32 0.')
        terminal.type('node', "STOPPED before node 'loss'", 'fit:0', 'price:0')
        terminal.type('inject price:0 100', 'replaced, in the run')
        terminal.type('node', 'step 14/')
        terminal.type('pt loss:0', '101.8')
        terminal.type('rewind price', "STOPPED before node 'price'")
        terminal.type('to loss', "STOPPED before node 'loss'")
        terminal.type('cont', 'done', 'loss:0  float32')
        terminal.type('run -t 6', '\n2 0x1.', '\n6 0x1.', 'STOPPED before call', "'price'", 'scale', '-1')
        terminal.type('step', 'STOPPED in penalty')
        terminal.type('next', 'spread  float32 -0.')
        terminal.type('next', 'rooted  float32 nan')
        terminal.last('quit')
        assert terminal.end() == 0
        printed = terminal.text.splitlines()
    assert [line for line in printed if line in losses] == losses


@pytest.mark.parametrize('kind', ['interactive', 'monitored'])
def test_other_sessions(tmp_path: Path, losses: list[str], kind: str) -> None:
    with Terminal(tmp_path, PROGRAM, '--kind', kind, environment=ENVIRONMENT, timeout=60) as terminal:
        assert 'Session.run' in terminal.prompt()
        terminal.type('node', 'STOPPED before node')
        terminal.type('to loss', "STOPPED before node 'loss'", 'fit:0')
        terminal.type('cont', 'done', 'loss:0')
        terminal.last('quit')
        assert terminal.end() == 0
        printed = terminal.text.splitlines()
    assert [line for line in printed if line in losses] == losses


INITIALIZING = '''
import sys
import tensorflow
tf = tensorflow.compat.v1
tf.disable_eager_execution()
w, v = (tf.get_variable(name, [2], initializer=tf.ones_initializer(), use_resource='resource' in sys.argv) for name in 'wv')
session = tf.Session()
if 'debug' in sys.argv:
    import pyfuncdbg
    session = pyfuncdbg.DebugSession(session, ui='prompt')
with session:
    session.run([w.initializer, v.initializer])
    print(session.run(w + v))
'''


@pytest.mark.parametrize('kind', ['resource', 'reference'])
def test_stepping_through_initializers_leaves_the_programs_stderr_alone(tmp_path: Path, kind: str) -> None:
    (tmp_path / 'it.py').write_text(INITIALIZING)

    def logged(*args: str, given: str = '') -> tuple[str, list[str], str]:
        done = subprocess.run([sys.executable, 'it.py', kind, *args], cwd=tmp_path, input=given, capture_output=True,
                              env=os.environ | ENVIRONMENT | {'TF_CPP_MIN_LOG_LEVEL': '0'}, text=True, timeout=120)
        return done.stdout, [line[line.index(']'):] for line in done.stderr.splitlines() if '.cc:' in line], done.stderr
    printed, lines, _ = logged()
    again, stepped, said = logged('debug', given='node\n' * 4 + 'rewind 2\n' + 'node\n' * 8 + 'cont\n' * 4)
    assert (again, [line for line in stepped if line not in lines]) == (printed, [])
    assert said.count('STOPPED before node') > 4
    why = "the graph has no node that says whether the variable 'w' had a value before"
    assert (why in ' '.join(said.split())) is (kind == 'reference')
