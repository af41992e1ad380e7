"""A real IPython in a real terminal: typed lines, Tab, stops, Ctrl-C, `%debug`, and the ways in which a session ends."""
from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

import pyfuncdbg

ROWS = 400
"""More than a test writes: nothing scrolls away."""
IN, MORE, PFD, IPDB = r'In \[\d+\]:', r'\.\.\.:', r'\(pfd\)', 'ipdb>'
SETUP = '''from pyfuncdbg import tf
import numpy as np
import time

def norm(x):
    total = x.sum()
    return x / total

def fail(x):
    y = 41
    raise ValueError(f'no {y}')

def outer(x):
    return tf.py_function(fail, [x], tf.float32)
'''


class Terminal:
    """Types, and reads what stands there."""

    def __init__(self, folder: Path) -> None:
        (folder / 'setup.py').write_text(SETUP)
        environment = {**os.environ, 'PYTHONPATH': str(Path(pyfuncdbg.__file__).parents[1]), 'TERM': 'xterm',
                       'IPYTHONDIR': str(folder / 'ipython'), 'PROMPT_TOOLKIT_NO_CPR': '1', 'NO_COLOR': '1'}
        environment.pop('COLUMNS', None)
        self.child = pexpect.spawn(sys.executable, ['-m', 'IPython', '--no-banner', '--no-confirm-exit', '--colors=nocolor',
                                                    '--TerminalInteractiveShell.autosuggestions_provider=None'],
                                   cwd=str(folder), env=environment, encoding='utf-8', dimensions=(ROWS, 120))
        self.folder = folder
        self._screen = pyte.Screen(120, ROWS)
        self._stream = pyte.Stream(self._screen)
        self._read = 0
        self.until(IN)

    def lines(self) -> list[str]:
        """What stands on the screen now."""
        with contextlib.suppress(pexpect.TIMEOUT):
            while True:
                self._stream.feed(self.child.read_nonblocking(65536, timeout=0.1))
        return '\n'.join(line.rstrip() for line in self._screen.display).rstrip().split('\n')

    def until(self, prompt: str) -> str:
        """Wait until the last line is this and nothing behind it; what has come since the last time."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            lines = self.lines()
            if len(lines) > self._read and re.fullmatch(prompt, lines[-1].strip()):
                found = '\n'.join(lines[self._read:])
                self._read = len(lines)
                return found
        raise AssertionError('\n'.join(self.lines()[-30:]))

    def type(self, text: str) -> None:
        """Keys."""
        self.child.send(text)

    def enter(self, line: str, then: str = IN) -> str:
        """A line, and what is written until there is a prompt again."""
        self.child.send(line + '\r')
        return self.until(then)

    def end(self) -> None:
        """It ends by itself."""
        self.child.expect(pexpect.EOF, timeout=60)
        self.child.close()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    terminal.enter('%load_ext pyfuncdbg')
    terminal.enter('%run -i setup.py')
    yield terminal
    terminal.child.close(force=True)


def test_a_stop_in_a_forked_process_of_a_cell_is_asked_about_at_the_prompt(terminal: Terminal) -> None:
    terminal.enter('import multiprocessing; fork = multiprocessing.get_context("fork")')
    terminal.enter('def work(n): return float(tf.numpy_function(norm, [np.arange(n + 1.)], tf.float64).numpy().max())\n', IN)
    terminal.enter('%pyfunc break norm if x.size == 3')
    text = terminal.enter('with fork.Pool(1) as pool: r = pool.map(work, range(1, 4))\n', r'process \d+ \(pfd\)')
    assert 'STOPPED' in text and 'norm' in text
    assert '103.0' in terminal.enter('p x.sum() + 100', r'process \d+ \(pfd\)')
    terminal.enter('x = x * 0 + 1', r'process \d+ \(pfd\)')
    terminal.enter('cont')
    assert f'[1.0, {1 / 3}, 0.5]' in terminal.enter('r')


def test_a_breakpoint_stops_in_a_later_cell_at_the_prompt(terminal: Terminal) -> None:
    assert 'breakpoint 1 set at norm if has_nan(out)' in terminal.enter('%pyfunc break norm if has_nan(out)')
    terminal.enter('r = tf.numpy_function(norm, [np.ones(2)], tf.float64)')
    text = terminal.enter('r = tf.numpy_function(norm, [np.zeros(2)], tf.float64)', PFD)
    assert "STOPPED after call 1 of node 'PyFunc'  breakpoint 1" in text
    text = terminal.enter('bt', PFD)
    assert 'IPython' not in text and 'ipython:' not in text and 'In[5]:1 in <module>' in text
    terminal.enter('p out + 100', PFD)
    terminal.enter('cont')
    assert 'nan' in terminal.enter('r.numpy()')
    assert '2 calls' in terminal.enter('%pyfunc calls')
    terminal.enter('r = tf.numpy_function(norm, [np.zeros(2)], tf.float64)', PFD)
    terminal.enter('quit')                      # about that cell
    terminal.enter('r = tf.numpy_function(norm, [np.zeros(2)], tf.float64)', PFD)
    terminal.enter('cont')


def test_a_typed_cell_is_recorded_and_its_breakpoint_asks(terminal: Terminal) -> None:
    terminal.enter('%%pyfunc --break norm --if x.sum() == 6', MORE)
    terminal.enter('r = [tf.numpy_function(norm, [np.full(2, i)], tf.float64)', MORE)
    terminal.enter('     for i in (1, 3, 5)]', MORE)
    terminal.enter('', MORE)
    text = terminal.enter('', PFD)
    assert 'STOPPED entering norm at ' in text and "call 2 of node 'PyFunc'" in text
    terminal.enter('p x * 111', PFD)
    text = terminal.enter('cont')
    assert '1 run, 3 calls of 1 Python function' in text
    assert '0 breakpoints' in terminal.enter('%pyfunc breaks')


def test_debug_begins_in_the_function_that_raised(terminal: Terminal) -> None:
    terminal.enter('outer(1.0)')
    assert 'fail' in terminal.enter('%debug', IPDB)
    assert '41' in terminal.enter('p y', IPDB)
    assert 'outer' in terminal.enter('up', IPDB)
    assert 'py_function(fail' in terminal.enter('list', IPDB)
    assert '<module>' in terminal.enter('up', IPDB)
    terminal.enter('q')
    terminal.enter('%pdb on')
    assert 'fail' in terminal.enter('outer(2.0)', IPDB)
    assert '43' in terminal.enter('p y + 2', IPDB)
    terminal.enter('q')
    terminal.enter('%pdb off')
    terminal.enter('%unload_ext pyfuncdbg')
    terminal.enter('outer(3.0)')
    assert 'outer' in terminal.enter('%debug', IPDB)     # of the host's own error, whose frames are left out
    terminal.enter('q')


def test_tab(terminal: Terminal) -> None:
    terminal.enter('%pyfunc on --record all.pfd')
    terminal.enter('r = tf.numpy_function(norm, [np.ones(2)], tf.float64, name="normalised")')
    terminal.type('x = %pyfunc hea\t')
    wait(lambda: terminal.lines()[-1].endswith('x = %pyfunc health'))
    terminal.type('\x15x = %pyfunc pt norma\t')
    wait(lambda: 'normalised:0' in '\n'.join(terminal.lines()[-8:]))
    terminal.type('\x15')
    terminal.enter('%pyfunc off')


def test_an_interrupt_ends_the_cell_and_what_ran_is_there(terminal: Terminal) -> None:
    terminal.enter('%%pyfunc --record cut.pfd', MORE)
    terminal.enter('while True: tf.numpy_function(norm, [np.ones(2)], tf.float64); time.sleep(0.01)', MORE)
    terminal.enter('', MORE)
    terminal.type('\r')
    wait(lambda: calls(terminal.folder / 'cut.pfd'))
    terminal.type('\x03')
    text = terminal.until(IN)
    assert text.index('KeyboardInterrupt') < text.index('of 1 Python function')
    with pyfuncdbg.load(terminal.folder / 'cut.pfd') as trace:
        assert trace.info().complete
        assert trace.count(kind='python') > 0
    assert '3' in terminal.enter('1 + 2')


def wait(until: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def calls(path: Path) -> int:
    try:
        with pyfuncdbg.load(path) as trace:
            return trace.count(kind='python')
    except pyfuncdbg.errors.TraceError:
        return 0


@pytest.mark.parametrize('how', ['exit', 'kill'])
def test_the_end_of_a_session_that_records(how: str, terminal: Terminal) -> None:
    terminal.enter('%pyfunc on --record all.pfd')
    terminal.enter('for i in range(10): r = tf.numpy_function(norm, [np.ones(2)], tf.float64)')
    if how == 'exit':
        terminal.type('exit\r')
    else:
        wait(lambda: calls(terminal.folder / 'all.pfd') == 10)
        os.kill(terminal.child.pid, signal.SIGKILL)
    terminal.end()
    with pyfuncdbg.load(terminal.folder / 'all.pfd') as trace:
        assert trace.info().complete == (how == 'exit')
        assert trace.count(kind='python') == 10
