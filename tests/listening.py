"""A program that listens, in a process of its own, and a raw client of its command socket."""
from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

TRAIN = '''
import sys, time
import numpy as np
from pyfuncdbg import tf

def norm(x):
    mu = x.mean()
    y = x - mu
    return y

graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(norm, [a], tf.float32, name='norm')
    c = tf.multiply(b, 2., name='c')
total = 0.
with tf.compat.v1.Session(graph=graph) as session:
    for step in range(int(sys.argv[1])):
        total += float(session.run(c, {a: np.arange(3, dtype=np.float32) * step})[2])
        sys.stdout.write(f'\\rstep {step}')
        sys.stdout.flush()
        time.sleep(0.02)
print('\\ntotal', total)
'''
"""A loop with a progress bar; with N steps the total is N * (N - 1)."""


STOP = {'number': 1, 'phase': 'before', 'at': 'before norm[1]', 'reason': 'breakpoint 1', 'thread': 7,
        'thread_name': 'MainThread', 'run': 1, 'call': {'number': 1, 'site': 'norm', 'ordinal': 1},
        'where': {'file': 'a.py', 'line': 3, 'function': 'norm'}}
HELLO = (b'{"event": "hello", "protocol": 1, "pid": 1, "program": ["a.py"], "client": 1, "waiting": false, "stop": null}\n')
"""What a program says of a stop, and first of all."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment whose sockets are in a folder of the test's."""
    kept = {name: value for name, value in os.environ.items() if name not in ('PYFUNCDBG_LISTEN', 'COLUMNS')}
    return {**kept, 'PYTHONPATH': str(ROOT), 'XDG_RUNTIME_DIR': str(folder), 'TMPDIR': str(folder),
            'XDG_STATE_HOME': str(folder), 'TERM': 'xterm', 'PYTHONUNBUFFERED': '1',
            'PROMPT_TOOLKIT_NO_CPR': '1', 'NO_COLOR': '1', **more}


CONNECT = (sys.executable, '-c', """
import itertools, sys
sys.argv[0] = 'pyfuncdbg'
from pyfuncdbg.ui.commands.socket import rendezvous
candidates = rendezvous._candidates
rendezvous._candidates = lambda: itertools.islice(candidates(), 1)
from pyfuncdbg.cli import main
sys.exit(main())
""", 'connect')
"""`pyfuncdbg connect` that looks for programs in the runtime folder of its environment only: others may listen elsewhere."""


class Program:
    """A program that runs; its stdout is a file."""

    def __init__(self, folder: Path, steps: int = 1_000_000, *, source: str = TRAIN, command: tuple[str, ...] = (),
                 **env: str) -> None:
        script = folder / 'train.py'
        script.write_text(source)
        self.folder = folder
        self.output = folder / 'stdout.txt'
        self.env = environment(folder, PYFUNCDBG_LISTEN='1', **env)
        with self.output.open('wb') as out, (folder / 'stderr.txt').open('wb') as err:
            self.process = subprocess.Popen([sys.executable, *command, str(script), str(steps)], stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err, cwd=folder, env=self.env)
        self.socket = folder / 'pyfuncdbg' / f'{self.process.pid}.sock'
        try:
            wait_until(lambda: self.socket.exists() or self.process.poll() is not None)
        except BaseException:
            self.__exit__()                     # else it would run on, and other tests' `connect` could find it
            raise

    @property
    def printed(self) -> str:
        return self.output.read_text()

    @property
    def errors(self) -> str:
        return (self.folder / 'stderr.txt').read_text()

    def runs_on(self) -> bool:
        """Whether it makes progress."""
        before = len(self.printed)
        wait_until(lambda: len(self.printed) > before)
        return True

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class RawClient:
    """Sends lines of bytes and reads messages."""

    def __init__(self, path: Path | socket.socket) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) if isinstance(path, Path) else path
        self.socket.settimeout(20)
        if isinstance(path, Path):
            self.socket.connect(str(path))
        self.file = self.socket.makefile('rb')
        self.events: list[dict[str, Any]] = []
        self.number = 0
        self.hello = self.read()

    def read(self) -> dict[str, Any]:
        line = self.file.readline()
        if not line:
            raise EOFError
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, **message: Any) -> None:
        self.socket.sendall(json.dumps(message).encode() + b'\n')

    def ask(self, **message: Any) -> dict[str, Any]:
        """The answer to a request; events that come before it are kept."""
        self.number += 1
        self.send(id=self.number, **message)
        while (answer := self.read()).get('id') != self.number:
            self.events.append(answer)
        return answer

    def line(self, text: str) -> dict[str, Any]:
        return self.ask(line=text)

    def event(self, kind: str) -> dict[str, Any]:
        """The next event of a kind; earlier ones are forgotten."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            if message.get('event') == kind:
                return message

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@contextmanager
def client(program: Program) -> Iterator[RawClient]:
    """A client that stops go to."""
    made = RawClient(program.socket)
    try:
        made.ask(attach=True)
        yield made
    finally:
        made.close()


def wait_until(true: Any, seconds: float = 60) -> None:
    """Wait for something that takes its time on a busy machine."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, 'waited in vain'
        time.sleep(0.02)
