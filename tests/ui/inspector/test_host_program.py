"""Programs under `pyfuncdbg run --ui inspector` and `--live` at a real terminal: they do what they do under plain Python."""
from __future__ import annotations

import os
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hosted_program import INSPECTOR, ITS_KEYS, LIVE, Person, leave, noted, plainly, under

fronts = pytest.mark.parametrize('front', [INSPECTOR, LIVE], ids=['inspector', 'live'])
pytestmark = [pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='finds processes in /proc'),
              pytest.mark.timeout(180)]

NOTE = '''
import json, os, signal, sys, threading, time
def note(**what):
    with open('notes.json', 'w') as file:
        json.dump(what, file)
'''


def both(folder: Path, source: str, front: tuple[str, ...], play: Callable[[Person], None],
         args: tuple[str, ...] = ()) -> tuple[int, str]:
    """Play with a program under plain Python and under ours: what it noted and its exit must be equal."""
    with plainly(folder, NOTE + source, *args) as person:
        play(person)
        plain = person.end()
    expected = noted(folder)
    with under(folder, NOTE + source, *front, args=args) as person:
        play(person)
        person.until(lambda text: 'program: ended' in text or 'program: killed' in text)
        shown = person.ready()
        person.type('q')
        assert person.end() == plain
        assert noted(folder) == expected
        assert person.left_on == set()
        assert 'look again with: pyfuncdbg open trace.pfd' in person.text
        if person.child.child_fd >= 0:
            assert termios.tcgetattr(person.child.child_fd) == person.modes
    return plain, shown


@fronts
def test_input_and_passwords_and_an_exit_code(tmp_path: Path, front: tuple[str, ...]) -> None:
    source = '''
import getpass, termios
name = input('name? ')
secret = getpass.getpass('secret? ')
print('read', name)
modes = termios.tcgetattr(0)[:4]
rest = sys.stdin.read()
note(name=name, secret=secret, rest=rest, modes=modes, tty=[os.isatty(n) for n in range(3)], argv=sys.argv, file=__file__,
     path=sys.path[0], name_=__name__, foreground=os.tcgetpgrp(0) == os.getpgrp(), leader=os.getpgrp() == os.getpid(),
     same=os.ttyname(0) == os.ttyname(2), main=threading.current_thread() is threading.main_thread())
print('so many', len(rest))
sys.exit(3)
'''

    def play(person: Person) -> None:
        person.until('name?')
        person.type('Ada\r')
        person.until('secret?')
        person.type('hush\r')
        person.until('read Ada')
        person.type('two\rlines\r\x04')
    code, shown = both(tmp_path, source, front, play, args=('--flag', 'a b'))
    assert code == 3
    assert 'so many 10' in shown and 'hush' not in shown and 'ended with exit code 3' in shown


@pytest.mark.parametrize(('body', 'code'), [
    ("print('by itself')\nnote()", 0), ("note()\nraise ValueError('no luck')", 1),
    ('note()\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(30)', -signal.SIGTERM),
    ('note()\nos._exit(7)', 7), ('note()\nos.abort()', -signal.SIGABRT)])
def test_the_exit_is_the_programs(tmp_path: Path, body: str, code: int) -> None:
    found, shown = both(tmp_path, body, LIVE if code == 7 else INSPECTOR, lambda person: None)
    assert found == code
    assert code != 1 or 'ValueError: no luck' in shown


def test_what_it_leaves_running_outlives_it_and_the_screen(tmp_path: Path) -> None:
    source = """
import subprocess, sys
code = "import time, pathlib, os; time.sleep(4); pathlib.Path('later').write_text(str(os.getpgrp()))"
subprocess.Popen([sys.executable, '-c', code])
print('left it')
"""
    with under(tmp_path, source, *LIVE) as person:
        person.until('program: ended')
        person.ready()
        person.type('q')
        assert person.end() == 0
        assert not (tmp_path / 'later').exists()
        end = time.monotonic() + 30
        while not (tmp_path / 'later').exists():
            assert time.monotonic() < end
            time.sleep(0.1)


@fronts
def test_ctrl_c_without_a_handler_is_the_programs_end(tmp_path: Path, front: tuple[str, ...]) -> None:
    def play(person: Person) -> None:
        person.until('waiting')
        person.type('\x03')
    code, shown = both(tmp_path, "note()\nprint('waiting', flush=True)\ntime.sleep(30)", front, play)
    assert code == -signal.SIGINT
    assert 'KeyboardInterrupt' in shown and 'killed by SIGINT' in shown


@fronts
def test_ctrl_c_with_a_handler(tmp_path: Path, front: tuple[str, ...]) -> None:
    source = '''
heard = []
before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(threading.current_thread().name))
signal.signal(signal.SIGQUIT, lambda number, frame: heard.append('quit'))
print('waiting', flush=True)
while len(heard) < 3:
    time.sleep(0.01)
    if heard: print('heard', len(heard), flush=True); time.sleep(0.2)
note(heard=heard, default=before is signal.default_int_handler)
'''

    def play(person: Person) -> None:
        person.until('waiting')
        person.type('\x03')
        person.until('heard 1')
        person.type('\x1c')
        person.until('heard 2')
        person.type('\x03')
    assert both(tmp_path, source, front, play)[0] == 0


def test_asyncio_cancels_its_main_task_at_ctrl_c(tmp_path: Path) -> None:
    source = '''
import asyncio
async def main():
    print('waiting', flush=True)
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        note(cancelled=True)
        raise
asyncio.run(main())
'''

    def play(person: Person) -> None:
        person.until('waiting')
        person.type('\x03')
    assert both(tmp_path, source, INSPECTOR, play)[0] == -signal.SIGINT


def test_sqlite_threads_and_child_processes(tmp_path: Path) -> None:
    source = '''
import sqlite3, subprocess, multiprocessing, asyncio
base = sqlite3.connect(':memory:')
base.execute('create table t (n)')
base.executemany('insert into t values (?)', [(n,) for n in range(5)])
def work():
    try: base.execute('select 1')
    except sqlite3.ProgrammingError as error: return type(error).__name__
async def later(n):
    await asyncio.sleep(0.01)
    return n
async def all_():
    return await asyncio.gather(later(1), asyncio.to_thread(threading.get_ident))
if __name__ == '__main__':
    found = []
    thread = threading.Thread(target=lambda: found.append(work())); thread.start(); thread.join()
    shell = subprocess.run(['sh', '-c', 'echo go; read line; echo "got $line"; tty | cut -c1-8; exit 4'])
    with multiprocessing.get_context('fork').Pool(2) as pool:
        squares = pool.map(abs, [-1, -2])
    pid = os.fork()
    if not pid:
        os._exit(5)
    note(sum=base.execute('select sum(n) from t').fetchone(), found=found, shell=shell.returncode, squares=squares,
         forked=os.waitpid(pid, 0)[1], gathered=asyncio.run(all_())[0], env=[os.environ.get('LANG'), os.getcwd()])
    print('all done')
'''

    def play(person: Person) -> None:
        person.until('go\n')
        person.type('hello\r')
        person.until('all done')
    assert '\ngot hello\n/dev/pts' in both(tmp_path, source, INSPECTOR, play)[1]


def test_colours_cursor_and_progress_bars_look_as_on_a_terminal(tmp_path: Path) -> None:
    source = '''
for n in range(101):
    print(f'\\r\\x1b[32m{n:3}%\\x1b[0m', end='', flush=True)
print('\\n\\x1b[1;31mred\\x1b[0m \\x1b[Amiddle\\x1b[B end é日本')
note(size=None)
'''
    shown = both(tmp_path, source, INSPECTOR, lambda person: None)[1]
    assert '\n100%middle\nred        end é日本\n' in shown


@fronts
def test_much_output_holds_nobody_up(tmp_path: Path, front: tuple[str, ...]) -> None:
    source = '''
began = time.monotonic()
for n in range(15_000):
    print('line', n, 'of the output of a program that prints a lot')
note(lines=n)
print('that was all')
'''
    assert 'line 14999 of' in both(tmp_path, source, front, lambda person: person.until('that was all', 90))[1]


def test_another_size_reaches_the_program(tmp_path: Path) -> None:
    source = NOTE + '''
sizes = []
signal.signal(signal.SIGWINCH, lambda number, frame: sizes.append(tuple(os.get_terminal_size())))
print('size', *os.get_terminal_size(), flush=True)
while not sizes or sizes[-1][0] != 89:
    time.sleep(0.02)
print('new size', *sizes[-1], flush=True)
input()
'''
    with under(tmp_path, source, *LIVE) as person:
        person.until('size 119')
        for columns in range(119, 80, -7):
            person.resize(30, columns)
            time.sleep(0.03)
        person.resize(30, 90)
        person.until('new size 89')
        person.type('\r')
        assert leave(person) == 0


def test_ctrl_z_is_refused_and_the_program_runs_on(tmp_path: Path) -> None:
    with under(tmp_path, "print('go', flush=True)\nname = input('name? ')\nprint('hello', name)", *LIVE) as person:
        person.until('name?')
        person.type('\x1a')
        person.until('no shell could resume')
        person.type('you\r')
        person.until('hello you')
        assert leave(person) == 0


def test_every_other_key_is_the_programs_until_ctrl_bracket(tmp_path: Path) -> None:
    source = NOTE + '''
import tty
tty.setraw(0)
print('raw\\r', flush=True)
got = b''
while not got.endswith(b'.'):
    got += os.read(0, 100)
note(got=got.decode())
'''
    keys = 'q\x11\x10\t\x1b[A\x1b[Z:?\x02\x03\x1a\x0c\x7f.'
    with under(tmp_path, source, *INSPECTOR) as person:
        person.until('raw')
        person.settle()
        for key in keys.replace('\x1b[A', 'U').replace('\x1b[Z', 'T'):
            person.type({'U': '\x1b[A', 'T': '\x1b[Z'}.get(key, key))
            time.sleep(0.02)
        assert leave(person) == 0
        assert noted(tmp_path)['got'] == keys
    source = "import time\nprint('on', flush=True)\ntime.sleep(60)"
    with under(tmp_path, source, *LIVE, '--record', 'other.pfd') as person:
        person.until(ITS_KEYS)
        person.type('\x1d')
        person.ready()


def test_pasted_lines_are_typed(tmp_path: Path) -> None:
    with under(tmp_path, "print(sorted([input('? '), input('! ')]))", *LIVE) as person:
        person.until('?')
        person.until(ITS_KEYS)
        person.type('\x1b[200~one\ntwo\n\x1b[201~')
        person.until("['one', 'two']")
        assert leave(person) == 0


def test_the_last_lines_stay_on_the_normal_screen(tmp_path: Path) -> None:
    with under(tmp_path, "for n in range(100): print('line', n)\nraise SystemExit(2)", *LIVE) as person:
        person.until('ended with exit code 2')
        person.until('no wrapped function was called yet')
        person.ready()
        person.type('q')
        assert person.end() == 2
        assert person.left_on == set()
        after = person.raw[person.raw.rindex(b'\x1b[?1049l'):].decode()
        assert 'line 98\r\nline 99\r\n' in after and 'line 50\r\n' not in after
        assert 'pyfuncdbg: ended with exit code 2; recorded to trace.pfd' in after


def test_the_end_stays_in_sight_when_the_pane_shrinks(tmp_path: Path) -> None:
    source = '''
import time
for n in range(100):
    print('line', n, flush=True)
while not os.path.exists('go'):
    time.sleep(0.02)
for n in range(100):
    print('row', n, flush=True)
time.sleep(60)
'''
    with under(tmp_path, 'import os' + source, *LIVE) as person:
        person.until('line 99')
        person.resize(25, 100)
        person.until(lambda text: 'line 99' in text and len(text.splitlines()) <= 25)
        person.resize(18, 100)
        person.settle(0.2)
        (tmp_path / 'go').touch()
        person.until('row 99')


def test_a_breakpoint_that_stopped_nothing_is_told_of_at_the_end(tmp_path: Path) -> None:
    with under(tmp_path, "print('over')", *INSPECTOR, '--break', 'nowhere') as person:
        person.until('over')
        person.until(lambda text: 'ended' in text)
        person.type('q')
        assert person.end() == 0
        assert person.text.rstrip().endswith(
            'pyfuncdbg: breakpoint 1 (nowhere) stopped nothing: nothing of that name ran.')


def test_keys_that_come_before_there_is_a_screen_are_the_programs(tmp_path: Path) -> None:
    with under(tmp_path, NOTE + "note(line=input('line? '))", *INSPECTOR) as person:
        end = time.monotonic() + 60
        while 'line? ' not in person.text:              # keys are read before there is a screen
            assert time.monotonic() < end, person.text
            person.type('a')
            person.read(0.05)
        person.type('\r')
        assert leave(person) == 0
        assert set(noted(tmp_path)['line']) == {'a'}
        assert b'Traceback' not in person.raw


def test_leaving_while_it_runs_gives_it_the_terminal(tmp_path: Path) -> None:
    source = NOTE + '''
print('first', flush=True)
name = input('name? ')
print('hello', name, *os.get_terminal_size(), flush=True)
heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
print('waiting', flush=True)
while not heard: time.sleep(0.01)       # not in input(): Python forgets a signal that comes just before it reads
print('interrupted', flush=True)
print(input('more? '))
sys.exit(6)
'''
    with under(tmp_path, source, *LIVE) as person:
        person.until('name?')
        person.until(ITS_KEYS)
        person.type('\x1d')
        person.ready()
        person.type('q')
        person.until(lambda text: text.startswith('first\nname?'))
        person.type('Bob\r')
        person.until('hello Bob 120 40')
        person.until('waiting')
        person.type('\x03')
        person.until('interrupted')
        person.until('more?')
        person.type('yes\r')
        assert person.end() == 6
        assert 'yes' in person.text and person.left_on == set()


@pytest.mark.parametrize(('options', 'environment', 'why'), [
    (INSPECTOR, {'TERM': 'dumb'}, 'the terminal (TERM=dumb) cannot show a full screen; stops are shown'),
    (LIVE, {'TERM': 'dumb'}, 'the terminal (TERM=dumb) cannot show a full screen; running without --live')])
def test_a_terminal_that_shows_no_screen_is_told_of_in_one_line(
        tmp_path: Path, options: tuple[str, ...], environment: dict[str, str], why: str) -> None:
    with under(tmp_path, "print('done')", *options, **environment) as person:
        assert person.end() == 0
        assert f'pyfuncdbg: {why}' in person.text and 'done' in person.text
        assert b'\x1b[?1049h' not in person.raw


def test_a_terminal_that_is_too_small(tmp_path: Path) -> None:
    with under(tmp_path, "print('done')", *INSPECTOR, size=(8, 60)) as person:
        assert person.end() == 0
        assert b'pyfuncdbg: the terminal has 60x8 characters' in person.raw


def test_output_to_a_pipe_runs_as_ever(tmp_path: Path) -> None:
    import subprocess
    (tmp_path / 'script.py').write_text("print('done')")
    found = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--ui', 'inspector', 'script.py'], cwd=tmp_path,
                           capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                           env={**os.environ, 'PYTHONPATH': str(Path(__file__).resolve().parents[3])})
    assert (found.stdout, found.returncode) == ('done\n', 0)
    assert found.stderr.startswith('pyfuncdbg: stdin and stdout are not a terminal; stops are shown without')


@pytest.mark.parametrize('options', [('--live', '--break', 'x'), ('--live', '--catch'), ('--live', '--ui', 'prompt')])
def test_live_is_without_the_debugger(tmp_path: Path, options: tuple[str, ...]) -> None:
    with under(tmp_path, "print('done')", *options) as person:
        assert person.end() == 2
        assert 'pyfuncdbg: run: --live cannot be combined with stops; use --ui inspector' in person.text


WAITING = '''
import os, time
import numpy as np
from pyfuncdbg import tf
def waits(x):
    print('it waits', flush=True)
    while not os.path.exists('go'):
        time.sleep(0.05)
    return x
tf.numpy_function(waits, [np.zeros(3, np.float32)], tf.float32, name='waits')
'''


def test_live_figures_say_when_they_are_not_of_now(tmp_path: Path) -> None:
    with under(tmp_path, WAITING, *LIVE) as person:
        person.until('1 running now')           # a call that has not returned is one
        person.until('100%')
        assert 'these figures' not in person.text
        (tmp_path / 'trace.pfd').rename(tmp_path / 'elsewhere')
        person.until('s old: trace.pfd: no such file or folder')
        (tmp_path / 'elsewhere').rename(tmp_path / 'trace.pfd')
        person.until(lambda text: '1 running now' in text and 'these figures' not in text)
        (tmp_path / 'go').touch()
        person.until('mean rates')
        person.until(lambda text: 'these figures' not in text and 'running now' not in text)
        person.type('q')
        assert person.end() == 0
