"""Programs that use the real JAX, run as a user runs them: plainly, and recorded."""
from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pyfuncdbg
from pyfuncdbg.observers.record.trace import Trace

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAMS = Path(__file__).resolve().parent / 'programs'
ENVIRONMENT = {'PYTHONPATH': str(HERE), 'COLUMNS': '120', 'JAX_PLATFORMS': 'cpu'}

try:
    _version = importlib.metadata.version('jax')
except importlib.metadata.PackageNotFoundError:
    _version = '0.0'
RELEASE = tuple(map(int, _version.split('.')[:2]))
"""The first two numbers of JAX's version, without importing it."""
ERROR = 'JaxRuntimeError' if RELEASE >= (0, 8) else 'XlaRuntimeError'
"""Name of the class of the error that C++ raises."""


def run(folder: Path, *args: str, typed: str = '') -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with what a user has typed."""
    return subprocess.run([sys.executable, *args], cwd=folder, env={**os.environ, **ENVIRONMENT}, capture_output=True,
                          text=True, timeout=240, input=typed)


def record(folder: Path, program: Path | str, *options: str,
           typed: str = '') -> tuple[subprocess.CompletedProcess[str], Trace]:
    """Record a program, given as a file or as text.

    Returns:
        Its end and its trace.
    """
    if isinstance(program, str):
        path = folder / 'program.py'
        path.write_text(program)
        program = path
    done = run(folder, '-m', 'pyfuncdbg', 'run', '--record', 'trace', *options, str(program), typed=typed)
    return done, pyfuncdbg.load(folder / 'trace')
