"""PyTorch, imported once for all tests that need it, and programs that are recorded in a process of their own."""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.trace import Trace

PROGRAMS = Path(__file__).parent / 'programs'


@pytest.fixture(scope='session')
def torch() -> Any:
    """PyTorch; only tests marked `torch` ask for it."""
    import torch
    return torch


@pytest.fixture
def seen(torch: Any) -> Iterator[Seen]:
    """Attached, with a hook that keeps what it sees."""
    hook = Seen()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)


class Recorded(NamedTuple):
    """A program that was recorded.

    Attributes:
        out, err: What it printed, and the report.
        trace: The recording.
        folder: Of the recording.
    """

    out: str
    err: str
    trace: Trace
    folder: Path


Record = Callable[..., Recorded]


def run_command(*words: str, typed: str = '', cwd: Path, timeout: int = 100) -> subprocess.CompletedProcess[str]:
    """Run a command of pyfuncdbg in a process of its own."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'COLUMNS': '160', 'PYTHONDONTWRITEBYTECODE': '1'}
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *words], input=typed, capture_output=True, text=True, cwd=cwd,
                          env=environment, timeout=timeout, check=False)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Records a program of `programs`, or one given as text."""
    def recorded(program: str, *options: str, args: tuple[str, ...] = ()) -> Recorded:
        path = PROGRAMS / program
        if '\n' in program:
            path = tmp_path / 'program.py'
            path.write_text(program)
        folder = tmp_path / 'recorded.pfd'
        done = run_command('run', '--record', str(folder), *options, str(path), *args, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return Recorded(done.stdout, done.stderr, Trace.open(folder), folder)
    return recorded


def plain_output(program: str) -> str:
    """What a program of `programs` prints when nobody watches."""
    return (PROGRAMS / program).with_suffix('.plain.out').read_text()
