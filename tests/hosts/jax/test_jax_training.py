"""Faults of a training program, each found in a real terminal with the few commands that a user types."""
from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts.jax.jax_program import PROGRAMS
from tmux_pane import Pane, needs_tmux

pytestmark = [pytest.mark.jax, pytest.mark.timeout(600), needs_tmux]

PYFUNCDBG = f'{sys.executable} -m pyfuncdbg'
LONG = 60.0
SOURCE = (PROGRAMS / 'training.py').read_text()


def line_of(text: str) -> int:
    return SOURCE[:SOURCE.index(text)].count('\n') + 1


@pytest.fixture
def pane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pane]:
    """A terminal in which a user types five commands at most; clearing it is none, and `q` the last one."""
    typed: list[str] = []

    def type_line(shell: Pane, line: str) -> None:
        if line != 'clear':
            typed.append(line)
        own_type(shell, line)
    own_type = Pane.type
    monkeypatch.setattr(Pane, 'type', type_line)
    shutil.copy(PROGRAMS / 'training.py', tmp_path)
    with Pane(tmp_path, JAX_PLATFORMS='cpu') as shell:
        yield shell
    assert 0 < len(typed) <= 5, typed


def test_a_nan_in_backward_is_found_at_its_line(pane: Pane) -> None:
    line = line_of('return x / (1e-3 + jnp.sqrt')
    pane.type(f'{PYFUNCDBG} run --record nan.pfd --ops training.py nan')
    pane.until('5 nan', 'trained', 'pyfuncdbg open nan.pfd', seconds=LONG, scrolled=True)
    pane.type('clear')
    pane.type(f'{PYFUNCDBG} show nan.pfd health -n 3')
    pane.until('BORN', f'training.py:{line}', 'step/div', seconds=LONG)


def test_a_wrong_gradient_is_found(pane: Pane) -> None:
    """In compiled code, where the rule was called without values."""
    place, rule = f'training.py:{line_of("return jax.tree.map")}', f'training.py:{line_of("def swish_backward")}'
    pane.type(f'{PYFUNCDBG} run --break {place} --ui prompt training.py gradient')
    pane.until('STOPPED in step', '(pfd)', seconds=LONG)
    pane.type('check')
    pane.until('BAD', 'custom_vjp/swish swish_backward', rule, 'expected', 'normal random numbers', '(pfd)', seconds=LONG)
    pane.type('q')
    pane.until('trained', seconds=LONG, scrolled=True)


def test_a_wrong_gradient_of_eager_code_is_found(pane: Pane) -> None:
    """In the backward step of a call."""
    place = f'training.py:{line_of("return jax.tree.map")}'
    pane.type(f'JAX_DISABLE_JIT=1 {PYFUNCDBG} run --break {place} --ui prompt training.py gradient')
    pane.until('STOPPED in step', '(pfd)', seconds=LONG)
    pane.type('check')
    pane.until('BAD', 'custom_vjp/swish_forward', 'expected', '(pfd)', seconds=LONG)
    pane.type('q')
    pane.until('trained', seconds=LONG, scrolled=True)


def test_the_exception_of_a_loading_worker_is_found(pane: Pane) -> None:
    pane.type(f'{PYFUNCDBG} run --record worker.pfd training.py worker')
    pane.until("ended with KeyError: 'batch 2 has a label 10'", 'show worker.pfd call', seconds=LONG, scrolled=True)
    pane.type('clear')
    pane.type(f'{PYFUNCDBG} show worker.pfd call next_batch[2]')
    pane.until('next_batch', "KeyError: 'batch 2 has a label 10'", 'number', seconds=LONG)
