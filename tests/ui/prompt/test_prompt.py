"""Scripted sessions on a real pseudo-terminal: what a person types and reads."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import READY, Terminal

import pyfuncdbg
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.prompt.front_ends.terminal import TerminalReader
from pyfuncdbg.ui.prompt.terminal_io import ctrl_c, terminal_lock
from pyfuncdbg.ui.prompt.terminal_io.conversation import LineRequest

MODEL = '''\
import numpy as np
from pyfuncdbg import tf

def norm(x, eps=1e-6):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    return (x - mu) / (sd + eps)

def half(x):
    return x / 2

g = tf.Graph()
with g.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [2, 3], name='a')
    b = tf.numpy_function(norm, [a], tf.float32, name='norm')
    c = tf.add(b, 1., name='c')
    d = tf.multiply(c, 2., name='d')
with tf.compat.v1.Session(graph=g) as s:
    for i in range(3):
        print('run', i, s.run(d, {a: np.arange(6, dtype=np.float32).reshape(2, 3) * 10 ** i}).sum())
print('end', input('name? ') if INPUT else '')
'''


def model(folder: Path, *, reads: bool = False) -> str:
    (folder / 'model.py').write_text(f'INPUT = {reads}\n' + MODEL)
    return 'model.py'


def run(folder: Path, *options: str, reads: bool = False, **more: object) -> Terminal:
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', *options, model(folder, reads=reads), **more)  # type: ignore[arg-type]


# --- a session --------------------------------------------------------------------------------------------------------

def test_break_with_a_condition_step_print_and_go_on(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm', '--if', 'x.max() > 5') as user:
        assert 'run 0 12.0' in user.until("before call 2 of node 'norm'")
        user.prompt()
        assert '(2, 3)' in user.type('p x.shape')
        assert 'model.py:6' in user.type('step', 'STOPPED')
        assert 'model.py:7' in user.type('next', 'STOPPED')
        shown = user.type('p mu')
        assert 'float32' in shown
        assert '10' in shown
        assert '40' in shown
        assert 'unknown command' in user.type('nxet')
        assert "name 'mew' is not defined" in user.type('p mew')
        shown = user.type('bt')
        assert shown.index('in <module>') < shown.index('Session.run') < shown.index('node norm')
        assert 'node norm' in user.type('up', '>')
        user.type('down')
        assert 'call 3' in user.type('c', 'STOPPED')
        user.last('c', 'end')
        assert user.end() == 0
    assert 'run 1 12.0' in user.text
    assert '3 calls of 1 Python function' in user.text


def test_inject_and_rewind(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        user.type('node', "before node 'c'")
        user.type('inject norm:0 np.zeros((2, 3), np.float32)')
        user.type('node', "before node 'd'")
        user.type('rewind norm', "before node 'norm'")
        user.type('to d', "before node 'd'")
        user.type('inject c:0 np.ones((2, 3), np.float32)')
        user.type('clear 1')
        user.last('c', 'run 0 12.0', 'run 1 12.0', 'end')
        assert user.end() == 0


def test_catch_shows_the_frames_of_the_error(tmp_path: Path) -> None:
    (tmp_path / 'model.py').write_text('import numpy as np\nfrom pyfuncdbg import tf\n'
                                       'def bad(x):\n    y = len(x)\n    return x[y]\n'
                                       'try:\n    tf.numpy_function(bad, [np.ones(3)], tf.float64)\n'
                                       'except Exception as error:\n'
                                       '    print("got", type(error.__cause__ or error).__name__)\n')
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--catch', 'model.py') as user:
        assert 'IndexError' in user.prompt()
        assert '3' in user.type('p y')
        user.last('c', 'got IndexError')
        assert user.end() == 0


def test_an_empty_line_repeats_a_step_and_two_semicolons_part_commands(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        user.type('step', 'model.py:6')
        user.type('next', 'model.py:7')
        user.child.send('\r')
        user.until('model.py:8', READY)
        shown = user.type("p 'a;;b' ;; p 6*7", '42')
        assert "a;;b" in shown.replace('(pfd) p', '', 1)
        user.type('p 1')
        user.child.send('\r')
        assert 'STOPPED' not in user.type('p 5')
        user.last('quit', 'end')
        assert user.end() == 0


# --- the line ---------------------------------------------------------------------------------------------------------

def test_tab_completes_commands_options_names_and_attributes(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        for typed, wanted in (('brea\t norm', 'break norm'), ('cont --al\t', 'cont --all'),
                              ('p x.sha\t', 'p x.shape'), ('ni nor\t', 'ni norm'),
                              ('pt #1\t', 'pt #1')):
            user.child.send(typed)
            user.until(wanted)
            user.child.send('\x03')
            user.prompt()
        user.type('step', 'model.py:6')
        user.child.send('p x.sh\t\r')
        user.until('(2, 3)', READY)
        user.last('quit')
        assert user.end() == 0


def test_history_is_kept_for_the_next_session(tmp_path: Path) -> None:
    for typed in ('p 6 * 7', '\x10'):           # Ctrl-P: the line before
        with run(tmp_path, '--break', 'norm') as user:
            user.prompt()
            user.child.send(f'{typed}\r')
            user.until('42', READY)
            user.child.send('\x04')
            assert user.end() == 0
            assert 'run 2 12.0' in user.text


def test_what_a_terminal_without_abilities_gets_is_plain(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm', environment={'TERM': 'dumb'}) as user:
        user.prompt()
        assert '(2, 3)' in user.type('p x.shape')
        user.child.send('p x.sh\x03')
        user.prompt()
        user.last('quit', 'end')
        assert user.end() == 0
    assert '\x1b' not in user.raw


def test_the_width_follows_the_window(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        long = max(map(len, user.type('help').splitlines()))
        user.child.setwinsize(40, 60)
        time.sleep(0.1)
        shown = user.type('help')
        assert max(map(len, shown.splitlines()[2:])) <= 60 < long
        user.last('quit')
        assert user.end() == 0


# --- Ctrl-C, Ctrl-D, the end ------------------------------------------------------------------------------------------

def test_ctrl_c_clears_a_line_and_interrupts_a_command(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        user.child.send('p 1 +\x03')
        user.prompt()
        user.child.send('p [__import__("time").sleep(.01) for _ in range(10**5)]\r')
        user.until('10**5)]\n')
        time.sleep(0.3)
        user.child.send('\x03')
        user.until('interrupted', READY)
        assert '(2, 3)' in user.type('p x.shape')
        user.last('quit', 'end')
        assert user.end() == 0


THREADED = '''
import threading, time, queue
import numpy as np
from pyfuncdbg import tf

def work(x):
    return x + 1

def go():
    try:
        results.put(tf.numpy_function(work, [np.ones(2)], tf.float64).numpy().sum())
    finally:
        results.put('over')

results = queue.Queue()
thread = threading.Thread(target=go)
thread.start()
try:
    print('got', results.get(), flush=True)
except KeyboardInterrupt:
    print('main was interrupted')
thread.join()
try:
    print('sleeping', flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print('the program was interrupted')
'''


def test_ctrl_c_finds_a_prompt_that_is_not_on_the_main_thread(tmp_path: Path) -> None:
    (tmp_path / 'threaded.py').write_text(THREADED)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--break', 'work', 'threaded.py') as user:
        user.prompt()
        user.child.send('p [__import__("time").sleep(.01) for _ in range(10**5)]\r')
        user.until('10**5)]\n')
        time.sleep(0.3)
        user.child.send('\x03')
        user.until('interrupted', READY)
        user.child.send('p 1\x03')
        user.prompt()
        assert '(2,)' in user.type('p x.shape')
        user.last('c', 'got 4.0', 'sleeping')
        time.sleep(0.2)
        user.child.send('\x03')
        user.until('the program was interrupted')
        assert user.end() == 0
    assert 'main was interrupted' not in user.text


def test_abort_ends_the_program_as_ctrl_c_does_and_the_report_comes(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        user.last('abort', 'aborted at stop 1', 'pyfuncdbg  1 run')
        assert user.end() == 130
    assert 'Traceback' not in user.text
    assert 'end' not in user.text.split('aborted')[1].splitlines()


def test_ctrl_d_leaves_debugging_and_the_program_reads_its_own_input(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm', reads=True) as user:
        user.prompt()
        user.child.send('\x04')
        user.until('run 2 12.0', 'name? ')
        user.last('Ada', 'end Ada')
        assert user.end() == 0


def test_the_terminal_is_as_before(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm', reads=True) as user:
        user.child.setecho(True)
        before = termios.tcgetattr(user.child.child_fd)
        user.prompt()
        user.type('p 1')
        user.last('quit', 'name? ')
        assert termios.tcgetattr(user.child.child_fd) == before
        user.last('x')
        assert user.end() == 0


@pytest.mark.parametrize('end', ['cont', 'abort'])
def test_a_terminal_that_is_gone_does_not_hold_the_program(end: str, tmp_path: Path) -> None:
    script = model(tmp_path)
    (tmp_path / script).write_text((tmp_path / script).read_text() + "open('done', 'w').write('x')\n")
    start = ('import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); '
             'out = os.open("out", os.O_CREAT | os.O_WRONLY); os.dup2(out, 1); '
             'os.dup2(out, 2); os.execv(sys.executable, [sys.executable, "-m", "pyfuncdbg", "run", '
             f'"--on-eof", {end!r}, "--break", "norm", {script!r}])')
    with Terminal(tmp_path, '-c', start) as user:
        user.prompt()
        pid = user.child.pid
        user.child.ptyproc.fileobj.close()
        user.child.child_fd = -1
        deadline = time.monotonic() + 30
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        user.child.terminated = True
        assert (tmp_path / 'done').exists() == (end == 'cont')


class Interrupted:
    """An editor whose user presses Ctrl-C as soon as the line is there, before the thread that waits knows that."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.edits = self.cancelled = 0

    def edit(self, stop: Stop, wanted: LineRequest) -> str:
        self.edits += 1
        os.kill(os.getpid(), signal.SIGINT)
        if self.ended.wait(20):
            raise KeyboardInterrupt
        return 'nobody has ended it'

    def cancel(self) -> None:
        self.cancelled += 1
        self.ended.set()


def test_ctrl_c_ends_the_line_however_early_it_comes() -> None:
    """A line that went on would take what is typed at the next one."""
    editor, broker = Interrupted(), Broker()
    stop = Stop('line')
    broker._focus = stop
    ctrl_c.listen()
    try:
        with pytest.raises(KeyboardInterrupt):
            TerminalReader(editor).read(stop, broker, LineRequest())
    finally:
        ctrl_c.ignore()
    assert (editor.edits, editor.cancelled) == (1, 1)
    assert [thread for thread in threading.enumerate() if thread.name == 'pyfuncdbg prompt'] == []


# --- more threads -----------------------------------------------------------------------------------------------------

MANY = '''
import sys
sys.path.insert(0, NATIVE)
from native_threads import run_native
import numpy as np
from pyfuncdbg import tf

def work(x):
    return x + 1

got = []
run_native([lambda i=i: got.append(int(tf.numpy_function(work, [np.array(i)], tf.int64))) for i in range(4)])
open('got', 'w').write(' '.join(map(str, got)))
'''


def test_native_threads_are_listed_switched_to_and_let_go(tmp_path: Path) -> None:
    (tmp_path / 'many.py').write_text(f'NATIVE = {str(Path(__file__).parents[2])!r}' + MANY)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--break', 'work', 'many.py') as user:
        user.prompt()
        while '4 threads at a stop' not in user.type('threads'):
            pass
        values = {}
        for number in (3, 1, 4, 2):
            shown = user.type(f'switch {number}')       # whichever came first has the prompt
            assert 'STOPPED' in shown or f'stop {number} has the prompt already' in shown
            user.child.send('p int(x)\r')
            values[number] = int(user.until('p int(x)\n', READY).split('p int(x)\n')[-1].split()[0])
        assert sorted(values.values()) == [0, 1, 2, 3]
        user.type('switch 3', 'STOPPED')
        user.type('switch 3', 'stop 3 has the prompt already')
        user.type('step', 'STOPPED in work')        # the prompt stays with the thread that steps
        assert 'no stop 77' in user.type('switch 77')
        user.last('cont --all')
        assert user.end() == 0
    assert sorted((tmp_path / 'got').read_text().split()) == ['1', '2', '3', '4']


# --- output -----------------------------------------------------------------------------------------------------------

def test_what_the_prompt_says_is_not_the_programs_output(tmp_path: Path) -> None:
    """stdout and stderr go elsewhere: the prompt is on the terminal all the same."""
    script = model(tmp_path)
    with Terminal(tmp_path, '-c', 'import os, sys; os.dup2(os.open("out", os.O_CREAT | os.O_WRONLY), 1); '
                                  'os.dup2(os.open("err", os.O_CREAT | os.O_WRONLY), 2); '
                                  f'os.execv(sys.executable, [sys.executable, "-m", "pyfuncdbg", "run", "--break", "norm", '
                                  f'{script!r}])') as user:
        user.prompt()
        assert '(2, 3)' in user.type('p x.shape')
        user.last('quit')
        assert user.end() == 0
    assert (tmp_path / 'out').read_text() == 'run 0 12.0\nrun 1 12.0\nrun 2 12.0\nend \n'
    assert 'STOPPED' not in (tmp_path / 'err').read_text()


def test_an_interrupt_from_outside_clears_the_line(tmp_path: Path) -> None:
    with run(tmp_path, '--break', 'norm') as user:
        user.prompt()
        user.child.send('p 1')
        user.until('p 1')
        os.kill(user.child.pid, signal.SIGINT)
        user.prompt()
        assert '(2, 3)' in user.type('p x.shape')
        user.last('quit', 'end')
        assert user.end() == 0


# --- more processes ---------------------------------------------------------------------------------------------------

FORKING = '''
import os
import numpy as np
from pyfuncdbg import tf

def work(x):
    return x + 1

def go(i):
    print('process', i, 'got', int(tf.numpy_function(work, [np.array(i)], tf.int64)), flush=True)

children = []
for i in (1, 2, 3):
    child = os.fork()
    if not child:
        go(i)
        os._exit(0)
    children.append(child)
print('codes', [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
'''


def test_processes_take_turns_at_the_terminal_also_after_one_is_killed(tmp_path: Path) -> None:
    (tmp_path / 'forking.py').write_text(FORKING)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '--break', 'work', 'forking.py',
                  environment={'XDG_RUNTIME_DIR': str(tmp_path)}) as user:
        seen = []
        for turn in range(3):
            user.until('STOPPED', READY)
            user.child.send('p "at", int(x), __import__("os").getpid()\r')
            _, value, pid = user.until("('at'", ')').rsplit('(', 1)[1].rstrip(')').split(',')
            seen.append(int(value))
            user.until(READY)
            if turn == 1:
                os.kill(int(pid), signal.SIGKILL)
            else:
                user.last('cont', f'got {seen[-1] + 1}')
        user.until('codes')
        assert user.end() == 0
    assert sorted(seen) == [1, 2, 3]
    codes = [0, 0, 0]
    codes[seen[1] - 1] = -signal.SIGKILL
    assert f'codes {codes}' in user.text
    assert 'has the terminal' not in user.text          # it would be in the middle of what the user types


HOLDING = """
import os, sys
from pyfuncdbg.ui.prompt.terminal_io import terminal_lock
with terminal_lock.turn(int(sys.argv[1]), print, lambda: True) as has_it:
    print(has_it, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize('another_job', [True, False])
def test_who_has_the_terminal_is_said_where_it_is_another_job(tmp_path: Path, another_job: bool,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('XDG_RUNTIME_DIR', str(tmp_path))
    controller, terminal = os.openpty()
    holder = subprocess.Popen([sys.executable, '-c', HOLDING, str(terminal)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              pass_fds=[terminal], start_new_session=another_job, text=True,
                              env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
    said: list[str] = []
    asked = iter([True, True, False])
    try:
        assert holder.stdout is not None and holder.stdout.readline() == 'True\n'
        with terminal_lock.turn(terminal, said.append, lambda: next(asked)) as has_it:
            assert not has_it
    finally:
        holder.communicate()
        os.close(controller)
        os.close(terminal)
    words = f'process {holder.pid} has the terminal; process {os.getpid()} waits for it'
    assert said == ([words] if another_job else [])


# --- IPython ----------------------------------------------------------------------------------------------------------

def test_prints_of_every_cell_of_ipython_are_captured_and_shown_once(tmp_path: Path) -> None:
    cells = ['import numpy as np, pyfuncdbg', 'from pyfuncdbg import tf', "r = pyfuncdbg.record('cells.pfd'); r.start()",
             'f = lambda x: (print("said", int(x) + 10), x)[1]',
             *[f'a = tf.numpy_function(f, [np.array({value})], tf.int64)' for value in (1, 2, 3)], 'r.stop()']
    with Terminal(tmp_path, '-m', 'IPython', '--simple-prompt', '--no-banner', '--colors=NoColor',
                  environment={'IPYTHONDIR': str(tmp_path / 'ipython'), 'TERM': 'dumb'}) as user:
        for number, cell in enumerate(cells, 1):
            user.until(f'In [{number}]: ')
            user.child.send(cell + '\r')
        user.until(f'In [{len(cells) + 1}]: ')
        user.last('exit()')
        user.end()
    assert [user.text.count(f'said {value}') for value in (11, 12, 13)] == [1, 1, 1]
    with pyfuncdbg.load(tmp_path / 'cells.pfd') as trace:
        assert [said.text for call in trace.calls() for said in call.output] == ['said 11\n', 'said 12\n', 'said 13\n']
