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
    assert "STOPPED after call 1 of node 'step/sin'" in done.stderr, done.stderr
    limit = 'stopped nothing: ops of JAX stop under --ops only, where a jitted function that is compiled then has them.'
    assert said[0] == f'pyfuncdbg: breakpoint 2 (cos) {limit}'
    assert said[1].startswith('pyfuncdbg: breakpoint 3 (sine) stopped nothing: nothing of that name ran.')
    assert len(said) == 2


def test_without_ops_none_stops(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAM, '--break', 'sin', typed='c\n')
    assert done.stdout == '(2,)\n'
    assert 'STOPPED' not in done.stderr
    assert 'breakpoint 1 (sin) stopped nothing: ops of JAX stop under --ops only' in done.stderr


def test_a_stop_is_after_its_op_and_says_what_cannot_be_changed(tmp_path: Path) -> None:
    done, _ = record(tmp_path, PROGRAM.replace('.shape', '.tolist()'), '--ops', '--break', 'sin', '--ui', 'prompt',
                     typed='inject out0 np.zeros(2, np.float32)\ninject v np.zeros(2, np.float32)\nretry\nc\n')
    card = done.stderr.partition('(pfd)')[0]
    assert 'step/sin:0  float32[2]' in card and 'jax.pure_callback' in card and 'retry' not in card, done.stderr
    assert 'STOPPED before' not in done.stderr and done.stderr.count('STOPPED after') == 1
    assert done.stderr.count('has run already, and nothing here changes that') == 3
    assert done.stdout.startswith('[1.68294')


def test_conditions_on_inputs_and_outputs_stop_after_the_op(tmp_path: Path) -> None:
    conditions = 'inputs[0][0] == 1', 'out[0] > .5', 'out[0] > 1'
    program = PROGRAM + 'for k in range(1, 3):\n    step(jnp.full(2, k / 4))\n'
    done, trace = record(tmp_path, program, '--ops', '--break', f'sin if {conditions[0]}',
                         '--break', f'sin if {conditions[1]}', '--break', f'sin if {conditions[2]}', '--ui', 'prompt',
                         typed='c\nc\n')
    assert done.stderr.count('STOPPED after call') == 1 and 'breakpoint 1, breakpoint 2' in done.stderr, done.stderr
    assert len([call for call in trace.calls(kind='op') if call.site.op_type == 'sin']) == 3
