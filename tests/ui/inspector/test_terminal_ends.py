"""A terminal ends: no process of ours survives it, whatever it was doing; a program does as it would under plain Python."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from listening import wait_until
from tmux_pane import Pane, needs_tmux, processes

pytestmark = [needs_tmux, pytest.mark.timeout(180),
              pytest.mark.skipif(not Path('/proc/self/stat').exists(), reason='finds processes in /proc')]
SOURCE = '''
import os, signal, sys, time
import numpy as np
from pyfuncdbg import tf
if 'deaf' in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
def double(x):
    y = x * 2
    return y
print('running', flush=True)                    # later there may be no terminal to print to
tf.numpy_function(double, [np.arange(3.)], tf.float64)
while True:
    with open('count', 'a') as file: file.write('.')
    time.sleep(0.05)
'''
RUN = ('-m', 'pyfuncdbg', 'run', '--record', 'trace.pfd')
WAYS = {'hosted, running': ((*RUN, '--ui', 'inspector', 'script.py'), 'running', {}),
        'hosted, stopped': ((*RUN, '--ui', 'inspector', '--break', 'double', 'script.py'), 'STOPPED', {}),
        'live': ((*RUN, '--live', 'script.py'), 'running', {}),
        'lent': ((*RUN, '--break', 'double', 'script.py'), 'STOPPED', {'PYFUNCDBG_UI': 'inspector'}),
        'prompt': ((*RUN, '--ui', 'prompt', '--break', 'double', 'script.py'), '(pfd)', {}),
        'open': (('-m', 'pyfuncdbg', 'open', 'trace.pfd'), 'q quit', {})}
PATIENCE = 30.0


def ours(folder: Path) -> set[int]:
    """What runs in a folder, but the terminal."""
    return processes(str(folder), sys.executable)


def open_in(pane: Pane, way: str, *, prefix: str = '', suffix: str = '') -> set[int]:
    """Start it, and wait until it is there; its processes."""
    args, sign, _ = WAYS[way]
    (pane.folder / 'script.py').write_text(SOURCE)
    if way == 'open':
        (pane.folder / 'short.py').write_text(SOURCE.replace('while True', 'while False'))
        subprocess.run([sys.executable, *RUN, 'short.py'], cwd=pane.folder, check=True, capture_output=True)
    pane.type(f'{prefix}{sys.executable} {" ".join(args)}{suffix}')
    pane.until(sign)
    time.sleep(0.5)
    found = ours(pane.folder)
    assert found
    return found


# A session of its own: a program without a controlling terminal gets no SIGHUP. It is never in its terminal's foreground
# either, so that it is not asked for the terminal: the ways that lend it are not there.
ENDS = [*((way, 'server', '') for way in WAYS), ('hosted, stopped', 'pane', ''), ('prompt', 'pane', ''),
        *((way, 'server', 'setsid -w ') for way in WAYS if way not in ('lent', 'prompt'))]


@pytest.mark.parametrize(('way', 'end', 'how'), ENDS)
def test_nothing_survives_the_end_of_its_terminal(tmp_path: Path, way: str, end: str, how: str) -> None:
    with Pane(tmp_path, 'bash --norc --noprofile', **WAYS[way][2]) as pane:
        pids = open_in(pane, way, prefix=how)
        try:
            pane.tmux('kill-server' if end == 'server' else 'kill-pane')
            wait_until(lambda: not ours(tmp_path), PATIENCE)
        finally:
            for pid in pids & ours(tmp_path):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize('way', ['hosted, running', 'hosted, stopped', 'live', 'lent'])
def test_a_program_that_ignores_the_hang_up_goes_on_alone(tmp_path: Path, way: str) -> None:
    with Pane(tmp_path, 'bash --norc --noprofile', **WAYS[way][2]) as pane:
        pids = open_in(pane, way, suffix=' deaf')
        try:
            pane.tmux('kill-server')
            wait_until(lambda: not processes(str(tmp_path), 'pyfuncdbg.ui.inspector'), PATIENCE)
            count = tmp_path / 'count'
            wait_until(count.exists)
            before = count.stat().st_size
            wait_until(lambda: count.stat().st_size > before + 3)
        finally:
            for pid in pids & ours(tmp_path):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
