"""Programs run with one backend, each in a process of its own that is a fork of one where the backend is loaded.

`Worker` is used by the tests and by `record.py`; `python worker.py BACKEND` is the process it talks to, which reads one
request a line (`{"path", "limit"}`) and answers with what that program printed. A fork makes every program start in the
same clean state and costs milliseconds, where loading TensorFlow anew costs seconds.
"""
from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]


class Absent:
    """In place of a private TensorFlow module: only the lines that print it differ."""

    __mro__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __sub__(self, other: Any) -> Any:
        return self

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return '<private TensorFlow module>'


def for_backend(code: str, backend: str) -> str:
    """The program with the import changed; line numbers stay."""
    if backend == 'tensorflow':
        return code
    code = re.sub(r'\bimport tensorflow as tf\b', f'import {backend} as tf', code)
    return re.sub(r'\bfrom tensorflow\.[\w.]+ import (\w+)(?: as (\w+))?',
                  lambda found: f'{found[2] or found[1]} = __absent__', code)


class Worker:
    """One loaded backend. `run` may be called from one thread at a time; `close` ends the process."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        places = [str(PROJECT), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]
        environment = {**os.environ, 'PYTHONIOENCODING': 'utf-8', 'PYTHONPATH': os.pathsep.join(filter(None, places)),
                       'TF_CPP_MIN_LOG_LEVEL': '3', 'CUDA_VISIBLE_DEVICES': '', 'TF_ENABLE_ONEDNN_OPTS': '0'}
        self._process = subprocess.Popen([sys.executable, __file__, backend], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env=environment, start_new_session=True)

    def run(self, name: str, code: str, limit: float = 60.) -> str:
        """What program `name` prints; what ended it early is its last line."""
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f'{name}.py')
            path.write_text(for_backend(code, self.backend))
            self._process.stdin.write(json.dumps({'path': str(path), 'limit': limit}) + '\n')
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f'the process that holds {self.backend} ended, status {self._process.wait()}')
        printed: str = json.loads(answer)
        return printed

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    """In the process that holds the backend: answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)                       # what the backend itself prints is no answer
    importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_run_apart(Path(request['path']), request['limit'])) + '\n')
        answers.flush()


def _run_apart(path: Path, limit: float) -> str:
    out = path.with_suffix('.out')
    child = os.fork()
    if child == 0:
        _run_here(path, out)
    status, end = None, time.monotonic() + limit
    while status is None and time.monotonic() < end:
        done, found = os.waitpid(child, os.WNOHANG)
        if done:
            status = found
        else:
            time.sleep(0.002)
    if status is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ending = f'\nTIMEOUT after {limit:g} s'
    else:
        ending = '' if status == 0 else f'\nPROCESS EXIT STATUS {os.waitstatus_to_exitcode(status)}'
    return out.read_text(errors='replace').rstrip('\n') + ending if out.exists() else ending


def _run_here(path: Path, out: Path) -> None:
    """In the fork: run the program as `__main__` and leave."""
    os.setsid()
    written = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(written, 1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 2)
    os.chdir(path.parent)
    # both live as long as the process
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, 'w', buffering=1, encoding='utf-8', closefd=False)  # noqa: SIM115
    try:
        names = {'__name__': '__main__', '__file__': str(path), '__absent__': Absent()}
        exec(compile(path.read_text(), str(path), 'exec'), names)
    except BaseException as error:  # how the program ended is part of what it shows
        print('UNCAUGHT', f'{type(error).__module__}.{type(error).__name__}', '|', str(error)[:600])
    sys.stdout.flush()
    os._exit(0)


if __name__ == '__main__':
    main()
