"""What it takes to start: imports, `pyfuncdbg run` and `show`, each in processes of their own, in CPU time."""
from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from measurement import REPORTED, Row, Side, Target, Work

from pyfuncdbg.observers.record.processes.followed_process import STARTUP, VARIABLE

_IMPORT = 'import time; began = time.process_time_ns(); import {}; print((time.process_time_ns() - began) / 1e3)'
_CALL = """
import numpy as np
from pyfuncdbg import tf
print(tf.numpy_function(lambda x: x + 1, [np.float32(1)], tf.float32).numpy())
"""


_CHILDREN = """
import subprocess, sys
for _ in range({}):
    subprocess.run([sys.executable, *{!r}], check=True, stdout=subprocess.DEVNULL)
"""
_STARTED = 10
"""Processes that a program starts, one after the other."""


def importing(module: str) -> Work:
    def work() -> float:
        done = subprocess.run([sys.executable, '-c', _IMPORT.format(module)], check=True, capture_output=True, text=True,
                              env=_environment())
        return float(done.stdout)
    return work


def command(*words: str, folder: Path, **variables: str) -> Work:
    """Microseconds of CPU of a command and its children."""
    def work() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True, cwd=folder,
                       env=_environment() | variables)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6
    return work


def _in_new_trace(folder: Path, *words: str) -> float:
    """Microseconds of CPU of a command that makes `many.pfd`."""
    shutil.rmtree(folder / 'many.pfd', ignore_errors=True)
    taken: float = command(*words, folder=folder)()  # type: ignore[assignment]
    return taken


def _environment() -> dict[str, str]:
    """Compiled files are kept; as many threads of linear algebra as a user has."""
    left_out = 'PYTHONDONTWRITEBYTECODE', 'OPENBLAS_NUM_THREADS'
    return {name: value for name, value in os.environ.items() if name not in left_out}


def rows(folder: Path) -> Iterator[Row]:
    (folder / 'empty.py').write_text('')
    (folder / 'call.py').write_text(_CALL)
    run = command('-m', 'pyfuncdbg', 'run', '-q', 'call.py', folder=folder)
    yield Row('import pyfuncdbg.tf', lambda: (
        Side('pyfuncdbg', importing('pyfuncdbg.tf')), Side('NumPy', importing('numpy'))),
              Target('time', 1.5), per='start', clock=REPORTED, seconds=4)
    yield Row('pyfuncdbg run empty.py', lambda: (
        Side('pyfuncdbg', command('-m', 'pyfuncdbg', 'run', 'empty.py', folder=folder)),
        Side('python empty.py', command('empty.py', folder=folder))), Target('takes', 250_000), per='start', clock=REPORTED,
        seconds=4)

    def child() -> tuple[Side, Side]:
        run_empty()
        trace = folder / 'followed.pfd'
        value = f'{json.loads((trace / "manifest.json").read_text())["id"]}:torch,jax,tensorflow::{trace}'
        path = os.pathsep.join([STARTUP, *filter(None, [os.environ.get('PYTHONPATH')])])
        followed = command('empty.py', folder=folder, PYTHONPATH=path, **{VARIABLE: value})
        return Side('followed', followed), Side('python empty.py', command('empty.py', folder=folder))
    run_empty = command('-m', 'pyfuncdbg', 'run', '-q', '--record', 'followed.pfd', 'empty.py', folder=folder)
    yield Row('a child that records nothing', child, Target('adds', 5_000), per='start', clock=REPORTED, seconds=4)

    def program(name: str, *child: str) -> Callable[[], tuple[Side, Side]]:
        (folder / name).write_text(_CHILDREN.format(_STARTED, child))
        words = '-m', 'pyfuncdbg', 'run', '-q', '--record'
        return lambda: (
            Side('followed', lambda: _in_new_trace(folder, *words, 'many.pfd', name)),
            Side('--no-children', lambda: _in_new_trace(folder, *words, 'many.pfd', '--no-children', name)))
    yield Row('following: a process that records nothing, of 10', program('many.py', '-c', 'pass'), Target('adds', 5_000),
              per='start', calls=_STARTED, clock=REPORTED, seconds=6)
    yield Row('following: a process that makes a call, of 10', program('calling.py', 'call.py'), kind='adds',
              per='start', calls=_STARTED, clock=REPORTED, seconds=12)
    yield Row('a program of one call', lambda: (
        Side('pyfuncdbg run', run), Side('python', command('call.py', folder=folder))),
              kind='adds', per='start', clock=REPORTED, seconds=4)

    def show() -> tuple[Side, None]:
        run()
        trace = max(folder.glob('*.pfd')).name
        return Side('pyfuncdbg show', command('-m', 'pyfuncdbg', 'show', trace, folder=folder)), None
    yield Row('pyfuncdbg show of a small trace', show, Target('takes', 400_000), per='start', clock=REPORTED, seconds=4)
