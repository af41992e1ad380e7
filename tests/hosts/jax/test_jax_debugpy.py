"""Breakpoints of a Debug Adapter Protocol client in callbacks, on XLA's native threads, with the real debugpy."""
from __future__ import annotations

from pathlib import Path

import pytest
from debug_adapter import program, stopped

pytestmark = [pytest.mark.jax, pytest.mark.timeout(400)]

PROGRAM = '''
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'    # so callbacks run on XLA's threads
import debugpy
import threading
import jax
import jax.numpy as jnp
import numpy as np
import pyfuncdbg
pyfuncdbg.attach('jax')

def double(v):
    w = np.asarray(v) * 2
    is_main = threading.current_thread() is threading.main_thread()
    return w                    # in the callback

f = jax.pmap(lambda v: jax.pure_callback(double, v, v))
print(debugpy.listen(('127.0.0.1', 0))[1], flush=True)
debugpy.wait_for_client()
print(np.asarray(f(jnp.arange(4.).reshape(2, 2))).tolist(), flush=True)
'''


def test_a_breakpoint_stops_in_each_call_of_a_callback(tmp_path: Path) -> None:
    script = tmp_path / 'train.py'
    script.write_text(PROGRAM)
    line = next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if '# in ' in line)
    with program(script) as (process, client):
        client.attach({script: [line]})
        seen = set()
        for _ in range(2):
            stop = stopped(client)
            assert (stop.line, stop.name, stop.variables['is_main']) == (line, 'double', 'False')
            seen.add(stop.variables['w'])
            client.ask('continue', threadId=stop.thread)
        assert len(seen) == 2
        assert process.stdout is not None
        assert process.stdout.readline() == '[[0.0, 2.0], [4.0, 6.0]]\n'
