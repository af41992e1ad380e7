"""Breakpoints on names of JAX's ops: those of jitted functions stop under `--ops`, and what stopped nothing says so."""
from __future__ import annotations

from pathlib import Path

import pytest
from hosts.jax.jax_program import record

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

PROGRAM = """
import jax, jax.numpy as jnp
@jax.jit
def step(v):
    return jnp.sin(v) * 2
print(step(jnp.ones(2)).shape)
"""


def test_why_none_stopped(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAM, '--ops', '--break', 'sin', '--break', 'cos', '--break', 'sine', typed='c\n')
    assert done.stdout == '(2,)\n'
    said = [line for line in done.stderr.splitlines() if 'stopped nothing' in line]
    assert "STOPPED before call 1 of node 'step/sin'" in done.stderr, done.stderr
    limit = 'stopped nothing: ops of JAX stop under --ops only, where a jitted function that is compiled then has them.'
    assert said[0] == f'pyfuncdbg: breakpoint 2 (cos) {limit}'
    assert said[1].startswith('pyfuncdbg: breakpoint 3 (sine) stopped nothing: nothing of that name ran.')
    assert len(said) == 2


def test_without_ops_none_stops(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAM, '--break', 'sin', typed='c\n')
    assert done.stdout == '(2,)\n'
    assert 'STOPPED' not in done.stderr
    assert 'breakpoint 1 (sin) stopped nothing: ops of JAX stop under --ops only' in done.stderr
