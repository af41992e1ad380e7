"""Replay and exported tests of callbacks: their function gets nested arguments, and JAX's arrays."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from hosts.jax.jax_program import run

pytestmark = [pytest.mark.jax, pytest.mark.timeout(400)]

PROGRAM = '''
import jax
import jax.numpy as jnp
import numpy as np


def mixed(batch, scale):
    assert isinstance(batch['x'], jax.Array)
    return np.asarray(batch['x'].at[0].set(5) * batch['w'][1] * scale)


def step(x):
    return jax.pure_callback(mixed, jax.ShapeDtypeStruct((3,), jnp.float32), {'x': x, 'w': (x, x + 1)}, scale=3)


if __name__ == '__main__':
    print(jax.jit(step)(jnp.arange(3.)))
'''


def test_nested_arguments_are_made_again(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    run(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'program.py')
    answer = json.loads(run(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', '1', '--json').stdout)
    assert answer['verdict'] == 'same', answer
    changed = run(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'replay', '1', '--change', "batch['w'][1][:] = 1")
    assert 'float32[3] = 15 3 6' in changed.stdout, changed.stdout
    run(tmp_path, '-m', 'pyfuncdbg', 'show', 't.pfd', 'export', 'pytest', '1', '-o', 'test_it.py')
    tested = run(tmp_path, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_it.py')
    assert '1 passed' in tested.stdout, tested.stdout
