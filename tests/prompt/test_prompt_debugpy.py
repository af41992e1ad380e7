"""Breakpoints of a Debug Adapter Protocol client in wrapped functions, on native threads, with the real debugpy."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from debug_adapter import DebugAdapterClient

ROOT = Path(__file__).resolve().parents[2]

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


def test_a_program_without_debugpy_has_no_hook() -> None:
    code = ('import sys; from pyfuncdbg import tf; from pyfuncdbg.hooks.chain import hooks; '
            'import importlib.util; importlib.util.find_spec("debugpy"); '
            'print("debugpy" in sys.modules, len(hooks.python), end=" "); import debugpy; print(len(hooks.python))')
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert said.stdout.split() == ['False', '0', '1']
