"""`pyfuncdbg verify` on JAX programs: their results, output and exit code are the same while they are watched."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from hosts.jax.jax_program import PROGRAMS, run

pytestmark = [pytest.mark.jax, pytest.mark.timeout(400)]

WRITES = """
import jax, jax.numpy as jnp, numpy as np
def half(v):
    return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
from pyfuncdbg.hooks.chain import hooks
print(float(step(jnp.float32(3 + len(hooks.python)))))
"""


@pytest.mark.parametrize('name', ['kinds', 'nan'])
def test_a_program_is_the_same(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, '-m', 'pyfuncdbg', 'verify', '--repeat', '1', '--json', str(PROGRAMS / f'{name}.py'))
    answer = json.loads(done.stdout)
    assert (answer['answer'], answer['recorded'], done.returncode) == ('equal', 'bit for bit', 0), done.stdout
    assert answer['results'] >= {'kinds': 32, 'nan': 4}[name]


def test_a_program_that_sees_us_is_told(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(WRITES)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'verify', '--repeat', '1', 'program.py')
    assert done.stdout.startswith('DIFFERENT') and 'half' in done.stdout and done.returncode == 1, done.stdout
