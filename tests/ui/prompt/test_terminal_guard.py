"""Everything that has the terminal is killed at once, and the shell is as it was: echo, cursor, screen, no mouse."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from listening import Program, wait_until
from pexpect import spawn
from tmux_pane import ROOT, Pane, needs_tmux, processes

pytestmark = [needs_tmux, pytest.mark.timeout(180),
              pytest.mark.skipif(not Path('/proc/self/stat').exists(), reason='finds processes in /proc')]
USUAL = {'alternate_on': '0', 'cursor_flag': '1', 'mouse_any_flag': '0', 'mouse_sgr_flag': '0', 'keypad_flag': '0',
         'keypad_cursor_flag': '0'}
SOURCE = '''
import numpy as np
from pyfuncdbg import tf
def double(x):
    y = x * 2
    return y
print(tf.numpy_function(double, [np.arange(3.)], tf.float64).numpy())
'''
WATCHDOG = 'watchdog.py'
WAYS = {'lent': (('-m', 'pyfuncdbg', 'run', '--break', 'double', 'script.py'), {'PYFUNCDBG_UI': 'inspector'}),
        'hosted': (('-m', 'pyfuncdbg', 'run', '--ui', 'inspector', '--break', 'double', 'script.py'), {}),
        'live': (('-m', 'pyfuncdbg', 'run', '--live', 'script.py'), {}),
        'prompt': (('-m', 'pyfuncdbg', 'run', '--ui', 'prompt', '--break', 'double', 'script.py'), {}),
        'open': (('-m', 'pyfuncdbg', 'open', 'trace.pfd'), {}),
        'connect': (('-m', 'pyfuncdbg', 'connect'), {})}


def others(folder: Path) -> set[int]:
    """Processes of ours that run in a folder, but for watchdogs."""
    return processes(str(folder), 'pyfuncdbg') - watchdogs(folder)


def watchdogs(folder: Path) -> set[int]:
    return processes(str(folder), WATCHDOG)


def raw(pane: Pane) -> bool:
    """Whether keys are not echoed."""
    return {'-icanon', '-echo'} <= modes(pane)


def modes(pane: Pane) -> set[str]:
    return set(subprocess.run(['stty', '-a', '-F', pane.device], capture_output=True, text=True, check=True).stdout.split())


def started(pane: Pane, way: str) -> set[int]:
    """Start something that takes the terminal, and wait until it has it; all its processes."""
    (pane.folder / 'script.py').write_text(SOURCE)
    if way == 'open':
        subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--record', 'trace.pfd', 'script.py'], cwd=pane.folder,
                       check=True, capture_output=True)
    before = others(pane.folder)
    pane.python(*WAYS[way][0], *(path.stem for path in pane.folder.glob('pyfuncdbg/*.sock')))
    if way in ('prompt', 'connect'):
        pane.until('(pfd)')
    else:
        pane.until({'lent': 'STOPPED', 'hosted': 'STOPPED', 'live': 'ended', 'open': 'q quit'}[way])
        wait_until(lambda: pane.flags()['alternate_on'] == '1')
    wait_until(lambda: raw(pane) and watchdogs(pane.folder))
    return others(pane.folder) - before - set(map(int, pane.tmux('display-message', '-p', '#{pane_pid} #{pid}').split()))


def usual(pane: Pane) -> bool:
    return pane.flags() == USUAL and {'echo', 'icanon', 'isig'} <= modes(pane)


@pytest.mark.parametrize('shell', ['sh', 'bash --norc --noprofile'])
@pytest.mark.parametrize('way', list(WAYS))
def test_all_are_killed_at_once_and_the_shell_works(tmp_path: Path, way: str, shell: str) -> None:
    with Pane(tmp_path, shell, **WAYS[way][1]) as pane:
        program = Program(tmp_path) if way == 'connect' else None
        try:
            for pid in started(pane, way):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not watchdogs(tmp_path))
            pane.tmux('send-keys', 'C-u')
            pane.type('echo back $((40 + 2)); stty -a > modes')
            pane.until('back 42')
            wait_until(lambda: (tmp_path / 'modes').exists() and pane.flags() == USUAL)
            assert {'echo', 'icanon', 'isig'} <= set((tmp_path / 'modes').read_text().split())
            if shell == 'sh':                   # which edits no line itself
                assert usual(pane)
        finally:
            if program is not None:
                program.__exit__()


@pytest.mark.parametrize('way', ['lent', 'prompt'])
def test_the_whole_group_of_the_job_is_killed(tmp_path: Path, way: str) -> None:
    with Pane(tmp_path, 'bash --norc --noprofile', **WAYS[way][1]) as pane:
        pids = started(pane, way)
        groups = {os.getpgid(pid) for pid in pids}
        assert len(groups) == 1 and not groups & {os.getpgid(pid) for pid in watchdogs(tmp_path)}
        os.killpg(groups.pop(), signal.SIGKILL)
        wait_until(lambda: not watchdogs(tmp_path))
        pane.type('echo back $((40 + 2))')
        pane.until('back 42')
        assert pane.flags() == USUAL


def test_a_shell_that_has_taken_the_terminal_back_is_left_alone(tmp_path: Path) -> None:
    """A line editor of a shell turns echo off too, but leaves signals on: its modes stay."""
    source = '''
import os, sys, termios, time
sys.path.insert(0, {root!r})
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
before = termios.tcgetattr(0)
guard_of(0).hold(0, b'left')
modes = termios.tcgetattr(0)
modes[3] &= ~(termios.ECHO | termios.ICANON | (termios.ISIG if sys.argv[1] == 'raw' else 0))
termios.tcsetattr(0, termios.TCSANOW, modes)
print('ready', flush=True)
time.sleep(60)
'''
    (tmp_path / 'taker.py').write_text(source.format(root=str(ROOT)))
    for how in ('raw', 'edited'):
        with Pane(tmp_path) as pane:
            pane.python('taker.py', how)
            pane.until('ready')
            wait_until(lambda: len(watchdogs(tmp_path)) == 1)
            for pid in processes(str(tmp_path), 'taker.py') - watchdogs(tmp_path):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not watchdogs(tmp_path))
            pane.until('left')
            assert raw(pane) == (how == 'edited')


def test_after_a_normal_end_the_watchdog_goes_and_touches_nothing(tmp_path: Path) -> None:
    with Pane(tmp_path, **WAYS['lent'][1]) as pane:
        pids = started(pane, 'lent')
        pane.tmux('send-keys', ':')
        pane.until('Esc back')
        pane.type('quit')
        pane.until('[0. 2. 4.]')
        wait_until(lambda: not any(Path(f'/proc/{pid}').exists() for pid in pids))
        wait_until(lambda: not watchdogs(tmp_path))
        assert usual(pane)


def test_the_watchdog_ends_with_the_terminal_and_holds_no_pipe(tmp_path: Path) -> None:
    source = ('import time\nfrom pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of\n'
              'guard_of(0).hold(0, b"")\nprint("held", flush=True)\n')
    keep = tmp_path / 'keep.py'
    keep.write_text(source + 'import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\ntime.sleep(60)\n')
    child = spawn(sys.executable, [str(keep)], cwd=str(tmp_path))
    try:
        child.expect('held')
        wait_until(lambda: len(watchdogs(tmp_path)) == 1 or processes('watchdog.py', str(child.pid)))
        number = next(iter(processes('watchdog.py', str(child.pid))))
        files = [os.readlink(path) for path in Path(f'/proc/{number}/fd').iterdir()]
        assert sorted(file.split(':')[0] for file in files if not file.startswith('/dev/pts/')) in (
            ['/dev/null', '/dev/null', 'socket'], ['/dev/null', '/dev/null', 'anon_inode', 'socket'])
        child.ptyproc.fileobj.close()
        wait_until(lambda: not Path(f'/proc/{number}').exists())
        assert Path(f'/proc/{child.pid}').exists()
    finally:
        os.kill(child.pid, signal.SIGKILL)
    # A pipeline ends when the program does.
    (tmp_path / 'piped.py').write_text(source)
    ours, theirs = os.openpty()
    began = time.monotonic()
    said = subprocess.run([sys.executable, str(tmp_path / 'piped.py')], stdin=theirs, stdout=subprocess.PIPE, timeout=30)
    os.close(ours)
    os.close(theirs)
    assert said.stdout == b'held\n' and time.monotonic() - began < 20
