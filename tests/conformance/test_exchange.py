"""A GraphDef that pyfuncdbg writes runs in TensorFlow, and one that TensorFlow writes runs here, with the same values."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


def exchanged(maker: str, runner: str, folder: Path) -> dict[str, str]:
    for backend, part in ((maker, 'make'), (runner, 'run')):
        done = subprocess.run([sys.executable, HERE / 'exchange.py', backend, part, folder], capture_output=True, text=True,
                              cwd=PROJECT, timeout=110, env=environment())
        assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(line) for line in done.stdout.splitlines())


def environment() -> dict[str, str]:
    return {**os.environ, 'PYTHONPATH': str(PROJECT)}


def unlike(found: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in found.items() if text != 'same'}


def test_between_two_processes_of_pyfuncdbg(tmp_path: Path) -> None:
    found = exchanged('pyfuncdbg.tf', 'pyfuncdbg.tf', tmp_path)
    assert len(found) >= 20 and unlike(found) == {}


@pytest.mark.tensorflow
@pytest.mark.parametrize(('maker', 'runner'), [('pyfuncdbg.tf', 'tensorflow'), ('tensorflow', 'pyfuncdbg.tf')])
def test_with_tensorflow(maker: str, runner: str, tmp_path: Path) -> None:
    found = exchanged(maker, runner, tmp_path)
    assert len(found) >= 20 and unlike(found) == {}
