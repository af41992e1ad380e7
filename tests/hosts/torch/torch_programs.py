"""Programs of PyTorch that tests run and record in a process of their own."""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pyfuncdbg.hooks.diagnosis import Finding
from pyfuncdbg.hosts import doctors
from pyfuncdbg.observers.debug.diagnosis.diagnose import diagnose
from pyfuncdbg.observers.record.trace import Trace

PROGRAMS = Path(__file__).parent / 'programs'


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


def diagnosed(folder: Path, program: Path, returncode: int = 0) -> list[Finding]:
    """The findings of `pyfuncdbg doctor` on a program that ends with an exit code."""
    done = run_command('doctor', '--record', 'it.pfd', str(program), cwd=folder)
    assert done.returncode == returncode, done.stderr
    with Trace.open(folder / 'it.pfd') as trace:
        return list(diagnose(trace, doctors()).findings)


def plain_output(program: str) -> str:
    """What a program of `programs` prints when nobody watches."""
    return (PROGRAMS / program).with_suffix('.plain.out').read_text()
