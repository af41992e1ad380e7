"""Traces that nobody likes: empty, from elsewhere, with hostile names and prints, without anything finite."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from inspecting import ROOT, drive, inspector, opened, press, record, screen, type_line

from pyfuncdbg.ui.inspector.desks.desk import Event
from pyfuncdbg.ui.inspector.lists.messages import DeskChanged

EMPTY = 'print("nothing wrapped here")\n'
HOSTILE = '''
import numpy as np
import pyfuncdbg.tf as tf
tf1 = tf.compat.v1

def shout(x):
    print('[red]markup[/] \\x1b[31mred\\x1b[0m \\r back \\u202eright\\u202c [@click=app.quit]quit[/]')
    return x * np.float32('nan')

def nothing(x):
    return x[:0]

graph = tf1.Graph()
with graph.as_default():
    x = tf1.placeholder(tf.float32, [3], name='x')
    a = tf.numpy_function(shout, [x], tf.float32, name='n' * 500)
    b = tf.numpy_function(nothing, [a], tf.float32, name='empty')
    c = tf.numpy_function(eval('lambda x: x'), [b], tf.float32, name='unsourced')
with tf1.Session(graph=graph) as session:
    session.run(c, {x: np.ones(3, np.float32)})
'''
ESCAPES = ('\x1b', '\r', '\u202e')


@pytest.fixture(scope='module')
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(HOSTILE, tmp_path_factory.mktemp('hostile'))


@pytest.mark.parametrize('size', [(80, 24), (160, 50)])
def test_an_empty_trace(tmp_path, size) -> None:
    path = record(EMPTY, tmp_path)

    async def test() -> None:
        async with opened(path, size) as pilot:
            assert 'no call was recorded' in screen(pilot)
            for key in '136' if size[0] == 80 else '':
                assert 'no call was recorded' in await press(pilot, key) or '0 calls' in screen(pilot)
            assert 'no further call raised' in await press(pilot, 'f')
            for key in ('full_stop', 'r', 't', 'g'):
                assert 'failed here' not in await press(pilot, key)
    drive(test)


@pytest.mark.parametrize('size', [(80, 24), (160, 50)])
def test_hostile_names_prints_and_tensors(hostile, size) -> None:
    async def test() -> None:
        async with opened(hostile, size) as pilot:
            seen = screen(pilot)
            for key in '13456' if size[0] == 80 else ('full_stop', 'full_stop', '.'):
                shown = await press(pilot, key)
                assert not any(escape in shown for escape in ESCAPES) and 'failed here' not in shown
                assert all(len(line) <= size[0] for line in shown.split('\n'))
                seen += shown
            words = ' '.join(seen.replace('│', ' ').split())
            assert '[red]markup[/]' in words and '\\x1b[31mred\\x1b[0m' in words and '[@click=app.quit]quit[/]' in words
            assert 'NaN 3, nothing finite' in words and ('n' * 10 + '...' + 'n' * 5) in words
            if size[0] == 160:
                assert 'float32 [0] 0 B empty' in words and 'lambda' in words and 'this is the last call' in words
            for line in ('report', 'call ' + 'n' * 500, 'out 1'):
                shown = await type_line(pilot, line)
                assert 'failed here' not in shown and not any(escape in shown for escape in ESCAPES)
            await press(pilot, 'ctrl+p')
            await press(pilot, *'nnn')
            assert pilot.app.is_running
    drive(test)


def test_a_trace_from_another_machine(trace, tmp_path) -> None:
    """Its files are not here: what was recorded of the functions is shown, for the rest it is said."""
    moved = tmp_path / 'elsewhere' / 'moved.pfd'
    shutil.copytree(trace, moved)
    script = trace.parent / 'prog.py'
    script.rename(tmp_path / 'gone.py')

    async def test() -> None:
        async with opened(moved, (160, 50)) as pilot:
            assert '> 11     return ((x - mu) / sd).astype(np.float32)' in screen(pilot)
            await type_line(pilot, 'call 11')                           # a gradient step: it has no source of its own
            shown = await press(pilot, 'escape')
            assert 'calls no Python function' in shown and "hidden = tf.matmul(x, w, name='hidden')" in shown
    try:
        drive(test)
    finally:
        (tmp_path / 'gone.py').rename(script)


def test_a_trace_that_is_damaged_while_it_is_open(trace, tmp_path) -> None:
    path = tmp_path / 'broken.pfd'
    shutil.copytree(trace, path)

    async def test() -> None:
        async with opened(path) as pilot:
            for file in path.rglob('*'):
                if file.is_file():
                    file.write_bytes(b'\0' * 100)
            for key in ('1', 'comma', 'r', 'escape', '3'):
                await press(pilot, key)
            assert inspector(pilot).is_running and 'Traceback' not in screen(pilot)
    drive(test)


def run(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', *args], cwd=cwd, env=dict(os.environ, PYTHONPATH=str(ROOT), **env),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_without_a_terminal_one_line_says_what_does_without(trace) -> None:
    done = run('pyfuncdbg', 'open', 'prog.pfd', cwd=trace.parent)
    assert done.returncode == 2 and done.stdout == ''
    assert done.stderr.count('\n') == 1 and 'not a terminal' in done.stderr and 'pyfuncdbg show prog.pfd' in done.stderr
    module = run('pyfuncdbg.ui.inspector', 'prog.pfd', cwd=trace.parent)
    assert (module.returncode, module.stderr) == (2, done.stderr)


@pytest.mark.parametrize(('arguments', 'term', 'told'), [
    (['open', 'prog.pfd'], 'dumb', "the terminal is of the kind 'dumb'"),
    (['open', 'none.pfd'], 'xterm', 'none.pfd'),
    (['open', os.sep], 'xterm', 'not a trace'),
])
def test_on_a_terminal_that_cannot_show_it(trace, arguments, term, told) -> None:
    child = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', *arguments], cwd=str(trace.parent), encoding='utf-8',
                          timeout=30, dimensions=(24, 200), env=dict(os.environ, PYTHONPATH=str(ROOT), TERM=term))
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2 and told in child.before
    assert '\x1b' not in child.before and 'Traceback' not in child.before


def test_without_a_trace_the_newest_is_opened(trace) -> None:
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TERM='xterm-256color')
    child = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'open'], cwd=str(trace.parent), encoding='utf-8',
                          timeout=60, dimensions=(24, 200), env=environment)
    child.expect('prog.pfd, the newest trace here')
    child.expect('quit')
    child.send('q')
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_the_terminal_is_restored_after_a_kill(trace) -> None:
    """SIGTERM ends the app, and leaves the alternate screen."""
    child = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'open', 'prog.pfd'], cwd=str(trace.parent), encoding='utf-8',
                          timeout=30, dimensions=(24, 80), env=dict(os.environ, PYTHONPATH=str(ROOT), TERM='xterm-256color'))
    child.expect('normalize')
    child.kill(signal.SIGTERM)
    child.expect(pexpect.EOF)
    assert '\x1b[?1049l' in child.before


def test_what_happens_while_the_panes_are_closed_is_dropped(trace, monkeypatch) -> None:
    async def test() -> None:
        async with opened(trace, (100, 30)) as pilot:
            app = inspector(pilot)
            close = app._close_all

            async def close_one_by_one() -> None:
                await app.panes.query_one('#graph').remove()
                for kind in ('grown', 'resumed', 'stopped'):
                    app.on_desk_changed(DeskChanged(Event(kind)))
                await close()
            monkeypatch.setattr(app, '_close_all', close_one_by_one)
            assert 'normalize' in screen(pilot)
    drive(test)
