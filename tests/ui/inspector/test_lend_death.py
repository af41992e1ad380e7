"""The terminal is lent and one side dies, is interrupted or suspended: the other goes on, the terminal is as it was."""
from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
import time
from pathlib import Path

import pytest
from hosted_program import hang_up
from lent_terminal import Terminal, gone
from listening import wait_until


@pytest.mark.parametrize('name', ['KILL', 'TERM'])
def test_the_inspector_dies_and_the_prompt_goes_on(tmp_path, name) -> None:
    source = "import threading\nthreading.Timer(1.5, print, ['held']).start()\ntrain(2, 'inspector')"
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        time.sleep(1.6)
        os.kill(terminal.inspector(), getattr(signal, f'SIG{name}'))
        screen = terminal.until(r'\(pfd\)', '1st run of|1st of session 1', full=False)
        assert 'held' in screen and 'the inspector is gone, the prompt replaces it: its process has ended' in screen
        assert screen.index('held') < screen.index('the inspector is gone') < screen.index('(pfd)')
        assert not terminal.display.mouse()
        terminal.child.send('run\r')
        terminal.until('done after', r'\(pfd\)$')
        terminal.child.send('quit\r')
        terminal.end()
        assert terminal.code == 0 and 'step 1 [-2.  0.  2.]' in terminal.screen and terminal.restored()


def test_the_inspector_dies_between_two_stops(tmp_path) -> None:
    source = '''
from pathlib import Path
def wait(x):
    while not Path('go').exists():
        time.sleep(0.01)
    return x
with graph.as_default():
    c = tf.numpy_function(wait, [c], tf.float32)
train(2, 'inspector')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        terminal.type('run')
        terminal.until('norm of', full=False)
        assert terminal.restored()
        os.kill(inspector, signal.SIGKILL)
        wait_until(lambda: gone(inspector))
        (tmp_path / 'go').write_text('')
        screen = terminal.until(r'\(pfd\)$', 'done after', full=False)
        assert screen.count('the inspector is gone') == 1
        terminal.child.send('quit\r')
        terminal.end()
        assert terminal.code == 0 and terminal.restored()


@pytest.mark.parametrize('name', ['KILL', 'TERM', 'HUP'])
def test_the_program_dies_and_the_terminal_is_as_before(tmp_path, name) -> None:
    source = "import threading\nthreading.Timer(1.5, print, ['held', 'back']).start()\ntrain(2, 'inspector')"
    with Terminal(tmp_path, source, shell=True) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        time.sleep(1.6)
        os.kill(terminal.program, getattr(signal, f'SIG{name}'))
        wait_until(lambda: terminal.read() and gone(inspector))
        terminal.child.send('echo $?; stty -a | grep -c -- -echo\r')
        screen = terminal.until('held back', f'(?m)^{128 + getattr(signal, f"SIG{name}")}$', full=False)
        assert screen.index('held back') < screen.index('pyfuncdbg: the program was killed\n')
        assert screen.index('was killed\n') < screen.index(str(128 + getattr(signal, f'SIG{name}')))
        assert terminal.restored()


def test_ctrl_z_suspends_both_and_fg_goes_on(tmp_path) -> None:
    with Terminal(tmp_path, "train(2, 'inspector')", shell=True) as terminal:
        terminal.stopped('1st run of')
        state = Path(f'/proc/{terminal.inspector()}/stat')
        terminal.key('\x1a')
        terminal.until('Stopped', 'shell>', full=False)
        wait_until(lambda: state.read_text().rpartition(')')[2].split()[0] == 'T')     # nobody types 'fg' sooner
        assert not terminal.display.mouse()
        terminal.child.send('echo here $((40 + 2))\r')
        terminal.until('here 42', full=False)
        terminal.child.send('fg\r')
        terminal.stopped('1st run of')
        terminal.type('quit')
        terminal.until('step 1', 'end', 'shell>$', full=False)
        assert terminal.restored()


def test_a_mistake_in_the_app_is_told_in_one_line(tmp_path) -> None:
    """The app is made to fail once it draws."""
    (tmp_path / 'broken').mkdir()
    (tmp_path / 'broken' / 'sitecustomize.py').write_text('''
import sys
if any('inspector.lease' in word for word in sys.orig_argv):
    from pyfuncdbg.ui.inspector.app import Inspector
    def fail(self, scene):
        raise KeyError('a mistake\\nof ours')
    Inspector.follow = fail
''')
    source = "import os\nos.environ['PYTHONPATH'] += ':' + os.path.abspath('broken')\ntrain(2, 'inspector')"
    with Terminal(tmp_path, source) as terminal:
        screen = terminal.until(r'\(pfd\)$', full=False)
        assert "prompt replaces it: KeyError: 'a mistake" in ' '.join(screen.split()) and 'Traceback' not in screen
        terminal.child.send('quit\r')
        terminal.end()
        assert terminal.code == 0 and terminal.restored() and b'Traceback' not in terminal.raw


def test_an_inspector_that_cannot_start(tmp_path) -> None:
    (tmp_path / 'broken' / 'textual').mkdir(parents=True)
    (tmp_path / 'broken' / 'textual' / '__init__.py').write_text('raise ImportError("no textual here")')
    source = '''
import os
os.environ['PYTHONPATH'] = os.path.abspath('broken') + ':' + os.environ['PYTHONPATH']
train(1, 'inspector')
'''
    with Terminal(tmp_path, source) as terminal:
        screen = terminal.until(r'\(pfd\)$', full=False)
        assert 'ImportError: no textual here' in screen and 'Traceback' not in screen
        terminal.child.send('quit\r')
        terminal.end()
        assert terminal.code == 0 and terminal.restored()


def test_ctrl_c_is_a_key_while_stopped_and_ends_a_program_that_runs(tmp_path) -> None:
    source = '''
def endless(x):
    print('waiting')
    time.sleep(60)
    return x
with graph.as_default():
    c = tf.numpy_function(endless, [c], tf.float32)
train(2, 'inspector')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        terminal.key('\x03')
        terminal.type('p 20 + 22')
        terminal.until('42', full=True)
        terminal.key('c')
        terminal.until('waiting', full=False)
        terminal.key('\x03')
        terminal.end()
        assert terminal.code in (1, -signal.SIGINT) and 'KeyboardInterrupt' in terminal.screen and terminal.restored()
        wait_until(lambda: gone(inspector))


def test_the_window_gets_another_size(tmp_path) -> None:
    """While it is lent, and while it is not."""
    source = '''
import shutil
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    for step in range(3):
        sess.run(a, {a: np.zeros(3, np.float32)})
        print('size', tuple(shutil.get_terminal_size()))
        input('next? ')
'''
    def resize(rows: int, columns: int) -> None:
        fcntl.ioctl(terminal.child.child_fd, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))
        terminal.display.resize(rows, columns)

    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        resize(40, 130)
        terminal.until(r'(?m)^.{125}', '1st run of', full=True)
        wait_until(lambda: terminal.read() and len(terminal.screen.splitlines()) == 40)
        terminal.key('c')
        terminal.until(r'size \(130, 40\)', full=False)
        resize(26, 90)
        terminal.child.send('\r')
        terminal.stopped('2nd run of')
        assert len(terminal.screen.splitlines()) == 26
        terminal.type('quit')
        terminal.until(r'size \(90, 26\)', full=False)
        terminal.child.send('\r\r')
        terminal.end()
        assert terminal.code == 0 and terminal.restored()


def test_the_terminal_hangs_up(tmp_path) -> None:
    source = '''
import os
print('pid', os.getpid())
train(2, 'inspector')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector, program = terminal.inspector(), terminal.child.pid
        hang_up(terminal.child)
        wait_until(lambda: gone(inspector))
        wait_until(lambda: gone(program))


def test_a_program_that_ignores_a_hang_up_goes_on(tmp_path) -> None:
    source = '''
import signal
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with v1.Session(graph=graph) as plain:
    sess = pyfuncdbg.DebugSession(plain, ui='inspector')
    got = [float(sess.run(a, {a: np.arange(3) * 1.})[2]) for _ in range(2)]
Path('result').write_text(repr(got))
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        hang_up(terminal.child)
        wait_until(lambda: gone(inspector))
        wait_until((tmp_path / 'result').exists)
        assert (tmp_path / 'result').read_text() == '[2.0, 2.0]'


def test_the_program_ends_while_a_thread_of_its_waits(tmp_path) -> None:
    source = '''
import threading
threading.Thread(target=train, args=(1, 'inspector'), daemon=True).start()
while not __import__('os').path.exists('go'):
    time.sleep(0.01)
print('the main thread is done')
'''
    with Terminal(tmp_path, source) as terminal:
        terminal.stopped('1st run of')
        inspector = terminal.inspector()
        (tmp_path / 'go').write_text('')
        terminal.end()
        assert terminal.code == 0 and 'the main thread is done' in terminal.screen and terminal.restored()
        assert 'was killed' not in terminal.screen
        wait_until(lambda: gone(inspector))


def test_a_command_that_asks_finds_no_input_and_ctrl_c_breaks_one_off(tmp_path) -> None:
    with Terminal(tmp_path, "train(1, 'inspector')\nprint('typed:', input('name? '))") as terminal:
        terminal.stopped('1st run of')
        terminal.type('p input("x")')
        terminal.until('EOFError', full=True)
        terminal.type('p [0 for _ in iter(int, 1)]')
        time.sleep(0.5)
        terminal.key('\x03')
        terminal.until('interrupted', full=True)
        terminal.type('quit')
        terminal.until(r'name\?$', full=False)
        terminal.child.send('anna\r')
        assert terminal.end().endswith('typed: anna') and terminal.code == 0
