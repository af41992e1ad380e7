"""A real kernel and who sits in front of it: cells are run, and what the kernel asks for is answered."""
from __future__ import annotations

import contextlib
import os
import queue
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import KernelManager

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
TESTS = Path(__file__).resolve().parent
PATIENCE = 60.0

SETUP = '''\
import numpy as np
import pyfuncdbg
from pyfuncdbg import tf
from native_threads import run_native
'''
TWICE = '''\
def twice(x):
    y = x * 2
    {stop}
    print('in the call', y[0])
    z = y + 1
    return z
'''
EAGER = 'print(tf.py_function(twice, [np.array([{value}.])], tf.float64).numpy()[0])'
CALL = 'print(tf.numpy_function(twice, [np.array([{value}.])], tf.float64).numpy()[0])'
NATIVE = '''\
made = []
run_native([lambda: made.append(tf.numpy_function(twice, [np.array([4.])], tf.float64).numpy()[0])] * {threads})
print(made)
'''


@dataclass
class Cell:
    """What came of one cell.

    Attributes:
        text: All it printed and showed, without colours.
        asked: The prompts.
        status: 'ok' or 'error'; '' as long as it runs.
        error: Name of the error's class.
        said: Its text.
        displayed: Name of the class of the error that was shown in the cell: none where showing it was interrupted.
        shown: The MIME bundles that it displayed.
    """

    text: str = ''
    asked: list[str] = field(default_factory=list)
    status: str = ''
    error: str = ''
    said: str = ''
    displayed: str = ''
    shown: list[dict[str, Any]] = field(default_factory=list)


Answer = str | Callable[[], object]
"""What is typed at a prompt, or something that is done there and needs no answer."""


class Notebook:
    """A kernel and who sits in front of it."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self._cells: dict[str, Cell] = {}

    def run(self, source: str, *lines: Answer, stdin: bool = True) -> Cell:
        """Run a cell; each prompt gets the next line."""
        cell = self.begin(source, stdin=stdin)
        return self.end(cell, *lines)

    def begin(self, source: str, *, stdin: bool = True) -> Cell:
        """Ask for a cell to be run."""
        cell = Cell()
        self._cells[self.client.execute(source, allow_stdin=stdin)] = cell
        return cell

    def end(self, cell: Cell, *lines: Answer) -> Cell:
        """Wait for a cell's end and for its reply; each prompt gets the next line."""
        answers = iter(lines)
        self.until(lambda: cell.status == 'idle', answers)
        self._reply(next(request for request, one in self._cells.items() if one is cell), cell)
        left = list(answers)
        assert not left, f'{left} {cell.text}'
        return cell

    def until(self, happened: Callable[[], bool], answers: Iterator[Answer] | None = None) -> None:
        """Take what the kernel sends until something has happened; a prompt without an answer left gets 'quit'."""
        end = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > end:
                raise AssertionError(f'it did not happen; {list(self._cells.values())[-2:]}')
            with contextlib.suppress(queue.Empty):
                asked = self.client.get_stdin_msg(timeout=0.01)
                self._cells[asked['parent_header']['msg_id']].asked.append(asked['content']['prompt'])
                if answers is not None:
                    answer = next(answers, 'quit')
                    if isinstance(answer, str):
                        self.client.input(answer)
                    else:
                        answer()
            with contextlib.suppress(queue.Empty):
                message = self.client.get_iopub_msg(timeout=0.01)
                cell = self._cells.get(message['parent_header'].get('msg_id', ''))
                if cell is not None:
                    _take(cell, message['msg_type'], message['content'])

    def _reply(self, request: str, cell: Cell) -> None:
        """Status of a request. A kernel that was slow to start has answered more than once that it is there."""
        while cell.status == 'idle':
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply['parent_header']['msg_id'] == request:
                content = reply['content']
                cell.status, cell.said = str(content['status']), str(content.get('evalue', ''))
                cell.error = cell.error or str(content.get('ename', ''))


def _take(cell: Cell, kind: str, content: dict[str, Any]) -> None:
    if kind == 'stream':
        cell.text += re.sub(r'\x1b\[[0-9;]*m', '', content['text'])
    elif kind == 'error':
        cell.error = cell.displayed = content['ename']
    elif kind in ('display_data', 'execute_result'):
        cell.shown.append(content['data'])
    elif kind == 'status' and content['execution_state'] == 'idle':
        cell.status = 'idle'


@contextlib.contextmanager
def sockets() -> Iterator[dict[str, str]]:
    """For the manager of a kernel: sockets in a folder of its own. A port that was free when the manager looked may be taken
    by another test's kernel when this one comes to bind it.
    """
    with tempfile.TemporaryDirectory(prefix='kernel-') as folder:
        yield {'transport': 'ipc', 'connection_file': str(Path(folder, 'kernel.json'))}


@contextlib.contextmanager
def started(**environment: str) -> Iterator[Notebook]:
    """A kernel of one's own."""
    path = os.pathsep.join((str(HERE), str(TESTS)))
    with sockets() as where:
        manager = KernelManager(kernel_name='python3', **where)
        manager.start_kernel(env=dict(os.environ, PYTHONPATH=path, **environment))
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            notebook = Notebook(manager, client)
            assert notebook.run(SETUP).status == 'ok'
            yield notebook
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
