"""When the program, the screen, or the process above both dies: the others go on or end, and the terminal is as it was."""
from __future__ import annotations

import contextlib
import os
import signal
import termios
import time
from pathlib import Path

import pytest
from hosted_program import INSPECTOR, ITS_KEYS, LIVE, Person, hang_up, under

pytestmark = [pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='finds processes in /proc'),
              pytest.mark.timeout(180)]

COUNTING = '''
import os, sys, time
print('begin', flush=True)
n = 0
while not os.path.exists('enough'):
    n += 1
    with open('count', 'w') as file: file.write(str(n))
    time.sleep(0.02)
print('enough', flush=True)
sys.exit(9)
'''
fronts = pytest.mark.parametrize('front', [INSPECTOR, LIVE], ids=['inspector', 'live'])


def runs_on(folder: Path) -> bool:
    before = (folder / 'count').read_text()
    end = time.monotonic() + 20
    while (folder / 'count').read_text() in ('', before):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_gone(pid: int, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f'/proc/{pid}/stat').read_text().rpartition(') ')[2][0] in 'ZX':
                return True
        except (OSError, IndexError):
            return True
        time.sleep(0.05)
    return False


def as_before(person: Person) -> bool:
    """Whether the terminal is as it was, as far as it is still there."""
    with contextlib.suppress(termios.error, OSError, ValueError):
        assert termios.tcgetattr(person.child.child_fd) == person.modes
    return person.left_on == set()


@fronts
def test_the_program_is_killed(tmp_path: Path, front: tuple[str, ...]) -> None:
    with under(tmp_path, COUNTING, *front) as person:
        person.until('begin')
        os.kill(person.program, signal.SIGKILL)
        person.until('program: killed by SIGKILL')
        person.ready()
        person.type('q')
        assert person.end() == -signal.SIGKILL
        assert as_before(person)
        assert 'pyfuncdbg: killed by SIGKILL; recorded to trace.pfd' in person.text


@pytest.mark.parametrize(('front', 'number'), [
    (INSPECTOR, signal.SIGKILL), (LIVE, signal.SIGKILL), (INSPECTOR, signal.SIGTERM), (LIVE, signal.SIGSEGV),
    (INSPECTOR, signal.SIGHUP)])
def test_the_screen_is_killed_and_the_program_goes_on_in_the_terminal(tmp_path: Path, front: tuple[str, ...],
                                                                       number: signal.Signals) -> None:
    with under(tmp_path, COUNTING, *front) as person:
        person.until('begin')
        person.until(ITS_KEYS)
        os.kill(person.screen_process, number)
        person.until(f'pyfuncdbg: the inspector was killed by {number.name}; the program continues here')
        assert person.left_on == set()
        assert runs_on(tmp_path)
        (tmp_path / 'enough').touch()
        assert person.end() == 9
        assert 'enough' in person.text and as_before(person)


def test_a_stop_is_asked_for_in_the_terminal_when_the_screen_is_gone(tmp_path: Path) -> None:
    source = '''
import numpy as np
from pyfuncdbg import tf
def double(x):
    y = x * 2
    return y
print(tf.numpy_function(double, [np.arange(3.)], tf.float64).numpy())
'''
    with under(tmp_path, source, *INSPECTOR, '--break', 'double') as person:
        person.until('STOPPED')
        person.ready()
        os.kill(person.screen_process, signal.SIGKILL)
        person.until('(pfd)')
        person.type('p x.sum()\r')
        person.until('3.0\n(pfd)')
        person.type('cont\r')
        person.until('[0. 2. 4.]')
        assert person.end() == 0
        assert as_before(person)


@fronts
def test_sigterm_is_the_programs(tmp_path: Path, front: tuple[str, ...]) -> None:
    source = '''
import signal, sys, time
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(12))
signal.signal(signal.SIGUSR1, lambda number, frame: print('user signal', flush=True))
print('begin', flush=True)
while True: time.sleep(0.05)        # pause() would sleep on where the signal comes just before it
'''
    with under(tmp_path, source, *front) as person:
        person.until('begin')
        person.child.kill(signal.SIGUSR1)
        person.until('user signal')
        person.child.kill(signal.SIGTERM)
        assert person.end() == 12                   # nobody has to leave the screen
        assert as_before(person)
        assert 'user signal' in person.text and 'ended with exit code 12' in person.text


def test_sigterm_after_the_end_closes_the_screen(tmp_path: Path) -> None:
    with under(tmp_path, "print('that was it')\nraise SystemExit(4)", *LIVE) as person:
        person.until('ended with exit code 4')
        person.child.kill(signal.SIGTERM)
        assert person.end() == 4
        assert as_before(person)


@fronts
def test_the_terminal_hangs_up(tmp_path: Path, front: tuple[str, ...]) -> None:
    with under(tmp_path, COUNTING, *front) as person:
        person.until('begin')
        person.until(ITS_KEYS)
        pids = person.processes()
        hang_up(person.child)
        assert len(pids) == 4
        assert all(is_gone(pid) for pid in pids)


def test_a_program_that_outlives_its_terminal_does_so(tmp_path: Path) -> None:
    source = 'import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n' + COUNTING
    with under(tmp_path, source, *LIVE) as person:
        person.until('begin')
        person.until(ITS_KEYS)
        program, screen = person.program, person.screen_process
        hang_up(person.child)
        assert is_gone(screen)
        assert runs_on(tmp_path)
        (tmp_path / 'enough').touch()
        assert is_gone(program)
        assert is_gone(person.child.pid)


@fronts
def test_the_process_above_both_is_killed(tmp_path: Path, front: tuple[str, ...]) -> None:
    with under(tmp_path, COUNTING, *front) as person:
        person.until('begin')
        person.until(ITS_KEYS)
        _, *below = person.processes()
        person.child.kill(signal.SIGKILL)
        assert all(is_gone(pid) for pid in below)


def test_resized_all_the_time_and_far_too_small(tmp_path: Path) -> None:
    with under(tmp_path, COUNTING, *INSPECTOR) as person:
        person.until('begin')
        for rows, columns in [(24, 80), (5, 20), (1, 1), (60, 200), (3, 200), (60, 10), (30, 100)] * 2:
            person.resize(rows, columns)
            person.settle(0.1)
        person.resize(40, 120)
        person.until('begin')
        (tmp_path / 'enough').touch()
        person.until('program: ended with exit code 9')
        person.ready()
        person.type('q')
        assert person.end() == 9
        assert as_before(person)


def test_a_screen_that_cannot_begin_leaves_the_program_alone(tmp_path: Path) -> None:
    with under(tmp_path, "print('all the same')", *INSPECTOR, TEXTUAL_DRIVER='no.such:Driver') as person:
        assert person.end() == 0
        assert 'pyfuncdbg: the inspector failed' in person.text and 'all the same' in person.text
        assert as_before(person)


@pytest.mark.parametrize(('options', 'said'), [
    (('--budget', '1'), 'budget'), (('--break', 'norm', '--if', 'x >'), 'bad condition')])
def test_mistakes_in_options_are_told_without_a_screen(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    with under(tmp_path, "print('not run')", *INSPECTOR, *options) as person:
        assert person.end() == 2
        assert said in person.text and 'not run' not in person.text
        assert b'\x1b[?1049h' not in person.raw and as_before(person)
