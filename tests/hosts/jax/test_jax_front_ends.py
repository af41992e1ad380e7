"""Front ends beside the prompt over the real JAX: `connect`, `--live` and `%debug`."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from listening import Program
from notebook_kernel import started
from tmux_pane import Pane, needs_tmux

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

TRAIN = '''
import sys, time
import jax, jax.numpy as jnp, numpy as np
import pyfuncdbg
pyfuncdbg.attach('jax')

def norm(x, scale):
    mean = np.asarray(x).mean()
    return np.float32(mean * scale)

@jax.jit
def train_step(x):
    return jax.pure_callback(norm, jax.ShapeDtypeStruct((), jnp.float32), x, scale=x[1])

for step in range(int(sys.argv[1])):
    train_step(jnp.arange(3.) + step)
    sys.stdout.write(f'step {step}' + chr(10))
    sys.stdout.flush()
    time.sleep(.05)
'''


def test_a_running_program_is_stopped_from_another_process(tmp_path: Path) -> None:
    commands = ('interrupt\ngraph\nbreak norm --once\ncont\n'
                'p float(scale) == float(x[1])\nnext\nnext\np mean.item() == float(x[1])\n')
    with Program(tmp_path, source=TRAIN, JAX_PLATFORMS='cpu') as program:
        assert program.runs_on()
        done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'connect', '--json', str(program.process.pid)],
                              input=commands, capture_output=True, text=True, env=program.env, timeout=100, check=False)
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        stops = [message['stop'] for message in messages if message.get('event') == 'stopped']
        answers = {message['line']: message for message in messages if 'line' in message}
        assert (stops[0]['phase'], stops[0]['call']['site']) == ('before', 'train_step/norm'), done.stdout
        # C++ has dispatched the run, whose call is the first that tells of it.
        assert answers['graph']['error'] is None and answers['graph']['data']['run'] == stops[0]['run'], answers['graph']
        assert (stops[1]['phase'], stops[1]['call']['site']) == ('call', 'train_step/norm'), done.stdout
        assert 'True' in json.dumps(answers['p float(scale) == float(x[1])']['data'])
        assert 'True' in json.dumps(answers['p mean.item() == float(x[1])']['data'])
        assert program.runs_on()                # the end of the pipe leaves the stop


@needs_tmux
def test_calls_are_shown_while_they_are_made(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(TRAIN)
    with Pane(tmp_path, JAX_PLATFORMS='cpu') as pane:
        pane.type(f'{sys.executable} -m pyfuncdbg run --live train.py 100000')
        pane.until('train_step/norm', 'running', seconds=60.)


SETUP = '''\
import logging
logging.getLogger('jax').setLevel(logging.CRITICAL)
import jax, jax.numpy as jnp, numpy as np

def fail(x):
    y = 41
    if x > 0:
        raise ArithmeticError(f'no {y}')
    return np.asarray(x)

@jax.jit
def step(x):
    return jax.pure_callback(fail, jax.ShapeDtypeStruct((), jnp.float32), x) + 1
'''


def test_debug_after_an_error_of_a_compiled_program_begins_in_its_callback() -> None:
    with started(JAX_PLATFORMS='cpu') as notebook:
        assert notebook.run(SETUP).status == 'ok'
        assert notebook.run('%load_ext pyfuncdbg').status == 'ok'
        assert notebook.run('%%pyfunc\nfloat(step(0.))').status == 'ok'
        cell = notebook.run('%%pyfunc\nfloat(step(1.))')
        assert cell.error in ('ValueError', 'JaxRuntimeError', 'XlaRuntimeError')
        assert 'ArithmeticError in call #' in cell.shown[-1]['text/plain']
        cell = notebook.run('%debug', 'p y * 100', 'p float(x)', 'q')
        assert '4100' in cell.text and '1.0' in cell.text and 'fail()' in cell.text
