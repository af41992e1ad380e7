"""`pyfuncdbg verify` on JAX programs: their results, output and exit code are the same while they are watched."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from hosts.jax.jax_program import PROGRAMS, run

pytestmark = [pytest.mark.jax, pytest.mark.timeout(400)]

SEVERAL = '''
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path)
'''
WRITES = """
import jax, jax.numpy as jnp, numpy as np
def half(v):
    return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
from pyfuncdbg.hooks.chain import hooks
print(float(step(jnp.float32(3 + len(hooks.python)))))
"""


def test_a_program_is_the_same(tmp_path: Path) -> None:
    """Of two programs as one: each of the seven runs imports JAX."""
    (tmp_path / 'program.py').write_text(SEVERAL)
    programs = [str(PROGRAMS / f'{name}.py') for name in ('kinds', 'nan')]
    done = run(tmp_path, '-m', 'pyfuncdbg', 'verify', '--repeat', '0', '--json', 'program.py', *programs)
    answer = json.loads(done.stdout)
    assert (answer['answer'], answer['recorded'], done.returncode) == ('equal', 'bit for bit', 0), done.stdout
    assert answer['results'] >= 32 + 4
    assert answer['stdout'] == sum(Path(name).with_suffix('.out').stat().st_size for name in programs)


def test_a_program_that_sees_us_is_told(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(WRITES)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'verify', '--repeat', '0', 'program.py')
    assert done.stdout.startswith('DIFFERENT') and 'half' in done.stdout and done.returncode == 1, done.stdout
