"""Breakpoints of a Debug Adapter Protocol client in wrapped functions, on native threads, with the real debugpy."""
from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from debug_adapter import DebugAdapterClient, program, stopped

from pyfuncdbg.ui.commands.topics import read_topic

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(importlib.util.find_spec('debugpy') is None,
                                reason="needs debugpy: pip install '.[debugpy]'")


PROGRAM = '''
import sys
FIRST
SECOND
import numpy as np
from pyfuncdbg import tf
from native_threads import run_native

def norm(x):
    mu = x.mean()
    return x - mu               # the breakpoint

def call():
    print(tf.numpy_function(norm, [np.arange(4.)], tf.float64).numpy().tolist(), flush=True)

print(debugpy.listen(('127.0.0.1', 0))[1], flush=True)
debugpy.wait_for_client()
run_native([call])
run_native([call])
print('through', flush=True)
'''


@pytest.mark.parametrize('imports', [('import debugpy', 'import pyfuncdbg'), ('import pyfuncdbg', 'import debugpy')],
                         ids=['debugpy first', 'pyfuncdbg first'])
def test_a_breakpoint_of_vs_code_stops_in_a_wrapped_function_on_a_native_thread(tmp_path: Path,
                                                                               imports: tuple[str, str]) -> None:
    script = tmp_path / 'model.py'
    source = PROGRAM.replace('FIRST', imports[0]).replace('SECOND', imports[1])
    script.write_text(source)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if 'the breakpoint' in text)
    env = {**os.environ, 'PYTHONPATH': f'{ROOT}{os.pathsep}{ROOT / "tests"}', 'PYDEVD_DISABLE_FILE_VALIDATION': '1'}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=env) as process:
        assert process.stdout is not None
        client = DebugAdapterClient(int(process.stdout.readline()))
        try:
            client.attach({script: [line]})
            for _ in range(2):                  # the second thread's Python state is a new one
                stopped = client.event('stopped', 'terminated')
                assert (stopped['event'], stopped['body']['reason']) == ('stopped', 'breakpoint')
                thread = stopped['body']['threadId']
                frame = client.ask('stackTrace', threadId=thread)['stackFrames'][0]
                assert (frame['name'], frame['line']) == ('norm', line)
                assert '1.5' in client.variables(frame['id'])['mu']
                client.ask('continue', threadId=thread)
            # Its stdout stays open in debugpy's adapter: read no further than to the last line.
            rest = [process.stdout.readline().strip() for _ in range(3)]
            client.event('terminated')
        finally:
            client.close()
            process.kill()
    assert rest == ['[-1.5, -0.5, 0.5, 1.5]'] * 2 + ['through']


OURS = '''
import debugpy
import pyfuncdbg
import numpy as np
from pyfuncdbg import tf
from native_threads import run_native

def norm(x):
    mu = x.mean()               # first
    y = x - mu                  # line
    if mu > 5:
        breakpoint()
        y = y * 2               # called
    if mu > 50:
        raise ValueError('too much')        # raised
    return y

def call(value):
    try:
        print(tf.numpy_function(norm, [np.full(2, value)], tf.float64).numpy().tolist(), flush=True)
    except ValueError:
        print('failed', flush=True)

pyfuncdbg.break_at('norm', when='x[0] == 1')
pyfuncdbg.break_at(f'{__file__}:LINE', when='mu == 2')
print(debugpy.listen(('127.0.0.1', 0))[1], flush=True)
debugpy.wait_for_client()
for value in (0., 1., 2., 9.):
    run_native([lambda: call(value)])
from pyfuncdbg.observers.debug.debugger import debugger
debugger.catching = True
run_native([lambda: call(99.)])
print('through', flush=True)
'''


def test_our_stops_are_shown_by_vs_code_and_stepped_there(tmp_path: Path) -> None:
    """Before a call, at a line, at `breakpoint()` and at an error, each on a native thread: the client is at that line."""
    script = tmp_path / 'model.py'
    texts = OURS.splitlines()
    at = {name: next(number for number, text in enumerate(texts, 1) if f'# {name}' in text)
          for name in ('first', 'line', 'called', 'raised')}
    script.write_text(OURS.replace('LINE', str(at['line'])))
    with program(script) as (process, client):
        client.attach({})
        met = []
        for steps in (1, 1, 0, 0, 0):
            frame = stopped(client)
            met.append((frame.line, frame.name, frame.variables['x']))
            for _ in range(steps):
                line = frame.line
                client.ask('next', threadId=frame.thread)
                frame = stopped(client)
                if sys.version_info >= (3, 12) and frame.line == line:
                    # debugpy uses sys.monitoring there, and meets the line that our trace function has stopped at.
                    client.ask('next', threadId=frame.thread)
                    frame = stopped(client)
                met.append((frame.line, frame.name, frame.variables['x']))
            client.ask('continue', threadId=frame.thread)
        lines = [process.stdout.readline().strip() for _ in range(6)]
        client.event('terminated')
    assert met == [(at['first'], 'norm', 'array([1., 1.])'), (at['first'] + 1, 'norm', 'array([1., 1.])'),
                   (at['line'], 'norm', 'array([2., 2.])'), (at['line'] + 1, 'norm', 'array([2., 2.])'),
                   (at['called'], 'norm', 'array([9., 9.])'), (at['called'], 'norm', 'array([99., 99.])'),
                   (at['raised'], 'norm', 'array([99., 99.])')]
    assert lines == ['[0.0, 0.0]'] * 4 + ['failed', 'through']


def test_a_program_without_debugpy_has_no_hook() -> None:
    code = ('import sys; from pyfuncdbg import tf; from pyfuncdbg.hooks.chain import hooks; '
            'import importlib.util; importlib.util.find_spec("debugpy"); '
            'print("debugpy" in sys.modules, len(hooks.python), end=" "); import debugpy; print(len(hooks.python))')
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert said.stdout.split() == ['False', '0', '1']


UNDER_RUN = '''import sys
import numpy as np
from pyfuncdbg import tf

def norm(x):
    mu = x.mean()
    return x - mu               # the breakpoint

for value in range(2):
    print(tf.numpy_function(norm, [np.arange(4.) + value], tf.float64).numpy().tolist(), flush=True)
print('debugpy' in sys.modules, flush=True)
'''


def configurations() -> list[dict[str, Any]]:
    """Those of the launch.json in the manual."""
    text = read_topic('remote').text.partition('```json\n// .vscode/launch.json\n')[2].partition('```')[0]
    found: list[dict[str, Any]] = json.loads(text)['configurations']
    return found


@contextlib.contextmanager
def listening(tmp_path: Path, *command: str) -> Iterator[tuple[Any, DebugAdapterClient]]:
    """A process of debugpy that listens on a free port, and a client there."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    env = {**os.environ, 'PYTHONPATH': str(ROOT), 'PYDEVD_DISABLE_FILE_VALIDATION': '1'}
    with (tmp_path / 'said').open('w') as said, subprocess.Popen(
            [sys.executable, '-m', *(word.replace('PORT', str(port)) for word in command)], cwd=tmp_path, env=env,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process:
        deadline = time.monotonic() + 60
        while True:
            try:
                client = DebugAdapterClient(port)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < deadline and process.poll() is None, (tmp_path / 'said').read_text()
                time.sleep(0.05)
        try:
            yield process, client
        finally:
            client.close()
            process.kill()


def stops_to_the_end(client: DebugAdapterClient) -> list[tuple[str, int]]:
    """Function and line of each stop; the client lets each go on."""
    met = []
    while (event := client.event('stopped', 'terminated'))['event'] == 'stopped':
        thread = event['body']['threadId']
        frame = client.ask('stackTrace', threadId=thread)['stackFrames'][0]
        met.append((frame['name'], frame['line']))
        client.ask('continue', threadId=thread)
    return met


def test_the_launch_configuration_of_the_manual_starts_a_program_under_run(tmp_path: Path) -> None:
    """Nothing that we start for ourselves waits for the client, and debugpy keeps its modules up to its end."""
    script = tmp_path / 'model.py'
    script.write_text(UNDER_RUN)
    launch = next(one for one in configurations() if one['request'] == 'launch')
    given = {'${file}': str(script), '${fileDirname}': str(tmp_path)}
    launch |= {'args': ['run', '--break', 'norm if x[0] == 1', *(given.get(word, word) for word in launch['args'][1:])],
               'cwd': given[launch['cwd']], 'console': 'internalConsole', 'redirectOutput': True, 'python': [sys.executable],
               'env': {'PYTHONPATH': str(ROOT)}}
    with listening(tmp_path, 'debugpy.adapter', '--host', '127.0.0.1', '--port', 'PORT') as (_, client):
        client.launch(launch, {script: [7]})
        met = stops_to_the_end(client)
        said = client.output()
    assert met == [('norm', 7), ('norm', 6), ('norm', 7)]
    assert '[-1.5, -0.5, 0.5, 1.5]' in said and 'True\n' in said and '2 calls of 1 Python function' in said
    assert 'Traceback' not in said


def test_the_attach_configuration_of_the_manual_reaches_a_program_under_run(tmp_path: Path) -> None:
    script = tmp_path / 'model.py'
    script.write_text(UNDER_RUN)
    attach = next(one for one in configurations() if one['request'] == 'attach')
    assert f"--listen {attach['connect']['port']} --wait-for-client -m pyfuncdbg run" in read_topic('remote').text
    with listening(tmp_path, 'debugpy', '--listen', '127.0.0.1:PORT', '--wait-for-client', '-m', 'pyfuncdbg', 'run',
                   'model.py') as (process, client):
        client.attach({script: [7]}, only_own_code=True)
        met = stops_to_the_end(client)
        assert process.wait(60) == 0
    said = (tmp_path / 'said').read_text()
    assert met == [('norm', 7)] * 2
    assert '2 calls of 1 Python function' in said and 'Traceback' not in said
