"""`pyfuncdbg doctor` on a JAX program with a fault of each kind: the finding, at its line, with its figures."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts.jax.jax_program import ERROR, PROGRAMS, RELEASE, run

import pyfuncdbg
from pyfuncdbg.hooks.diagnosis import Finding
from pyfuncdbg.hosts import doctors
from pyfuncdbg.observers.debug.diagnosis.diagnose import diagnose

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]

HEALTHY = """
import jax, jax.numpy as jnp, numpy as np
def half(v): return np.asarray(v) / 2
step = jax.jit(lambda v: jax.pure_callback(half, jax.ShapeDtypeStruct(v.shape, v.dtype), v))
for k in range(5):
    print(step(jnp.float32(k)))
"""


def line_of(text: str) -> int:
    source = (PROGRAMS / 'faulty.py').read_text()
    return source[:source.index(text)].count('\n') + 1


def test_each_fault_is_found_at_its_line(tmp_path: Path) -> None:
    program = PROGRAMS / 'faulty.py'
    plain = run(tmp_path, str(program))
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', str(program))
    kind = 'ValueError' if RELEASE >= (0, 8) else ERROR
    assert plain.stdout == f'{kind}\nend\n' and done.stdout.startswith(plain.stdout), done.stderr
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        found: dict[str, Finding] = {}
        for finding in diagnose(trace, doctors()).findings:     # on a machine under load more calls block
            found.setdefault(finding.kind, finding)
    assert {kind: finding.place.line for kind, finding in found.items()} == {
        'dead': line_of('jax.pure_callback(note'), 'repeated': line_of('jax.jit(jax.grad(jax.checkpoint'),
        'blocking': line_of('blocked = jax.jit'),
        **({'error type': line_of("raise ValueError('too large')")} if kind != ERROR else {}),
        'retraced': line_of('@jax.jit\ndef total'),
        'copies': line_of('summed = jax.jit')}
    assert found['repeated'].figures == {'calls a run': 2}
    assert found['blocking'].figures['calls while dispatching'] == 4
    assert found['retraced'].what == 'total was compiled 5 times; last for values: float32[4], then float32[5]'
    assert found['copies'].figures['bytes a call'] == 4 * 1024 * 1024 + 4
    assert kind == ERROR or re.search(r'comes to the program as ValueError', found['error type'].what)


def test_a_healthy_program_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / 'healthy.py').write_text(HEALTHY)
    done = run(tmp_path, '-m', 'pyfuncdbg', 'doctor', '--record', 'it.pfd', 'healthy.py')
    with pyfuncdbg.load(tmp_path / 'it.pfd') as trace:
        assert diagnose(trace, doctors()).findings == (), done.stderr
