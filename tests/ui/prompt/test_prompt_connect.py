"""`pyfuncdbg connect` on a real terminal and from pipes, against programs that run: training loops, pytest."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pexpect
import pytest
from listening import CONNECT, ROOT, TRAIN, Program, environment, wait_until
from ui.prompt.pseudo_terminal import Terminal

from pyfuncdbg.ui.prompt.connecting.connect import RemotePrompt
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand

PROMPT = r'\(pfd\)'


def connected(program: Program) -> pexpect.spawn:
    """A terminal with the prompt of the program."""
    user = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'connect', str(program.process.pid)], env=program.env,
                         encoding='utf-8', timeout=30, dimensions=(40, 110))
    user.expect('connected to')
    user.expect(PROMPT)
    return user


def typed(user: pexpect.spawn, line: str, answer: str) -> None:
    """Type a line and wait for what it must show, then for the prompt."""
    user.send(line + '\r')
    user.expect(answer)
    user.expect(PROMPT)


def piped(program: Program, lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The same from a pipe."""
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'connect', *options, str(program.process.pid)], input=lines,
                          capture_output=True, text=True, env=program.env, timeout=60)


def test_break_step_print_and_detach_on_a_terminal(tmp_path: Path) -> None:
    with Program(tmp_path, 300) as program:
        user = connected(program)
        user.send('break norm\r')
        user.expect('breakpoint 1')
        user.send('cont\r')
        user.expect('STOPPED before call')
        user.expect(PROMPT)
        typed(user, 'step', 'in norm at')
        typed(user, 'next', 'in norm at')
        typed(user, 'p x.shape', r'\(3,\)')
        typed(user, 'clear all', 'clear')
        user.sendeof()
        user.expect(pexpect.EOF)
        assert user.wait() == 0 and 'by another user' not in user.before
        program.process.wait(60)
        assert f'total {300 * 299 + 0.0}' in program.printed
        assert 'STOPPED' not in program.printed + program.errors


def test_interrupt_ctrl_c_and_completion_on_a_terminal(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        user = connected(program)
        user.sendintr()
        user.expect(PROMPT)
        typed(user, 'interrupt', 'STOPPED before call')
        user.send('whati\t')
        user.expect('s')                        # asked from the program
        typed(user, ' x', 'ndarray')
        user.send('cont\r')
        assert program.runs_on()
        user.sendintr()                         # ends the waiting, and nothing else
        user.expect('the program runs')
        user.expect(PROMPT)
        user.send('quit\r')
        user.expect(pexpect.EOF)
        assert program.runs_on()


def test_a_terminal_without_cursor_control_gets_plain_text(tmp_path: Path) -> None:
    with Program(tmp_path, 2_000) as program:
        program.env['TERM'] = 'dumb'
        user = connected(program)
        read: list[str] = []
        user.logfile_read = type('Log', (), {'write': lambda _, text: read.append(text), 'flush': lambda _: None})()
        typed(user, 'break norm', 'breakpoint 1')
        typed(user, 'cont', 'STOPPED before call')
        user.send('p x.si')
        user.sendintr()                         # gives up the line
        user.expect(PROMPT)
        user.send('for n in range(2):\r    print(n + 40)\r\r')
        user.expect('40\r\n41\r\n')
        user.expect(PROMPT)
        program.process.kill()                  # while a line is waited for
        user.expect('the connection is lost: the program was killed')
        user.expect(pexpect.EOF)
        assert user.wait() == 1 and '\x1b' not in ''.join(read)
    with Program(tmp_path) as program:
        program.env['TERM'] = 'dumb'
        user = connected(program)
        user.sendeof()
        user.expect(pexpect.EOF)
        assert user.wait() == 0 and program.runs_on()


def test_a_user_killed_at_a_stop_does_not_hold_the_program(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        user = connected(program)
        user.send('break norm --once\r')
        user.expect('STOPPED before call')      # comes by itself, above the prompt
        user.kill(signal.SIGKILL)
        user.wait()
        assert program.runs_on()


def test_the_user_is_told_when_the_program_is_killed(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        user = connected(program)
        program.process.kill()
        user.expect('the connection is lost: the program was killed')
        user.expect(pexpect.EOF)
        assert user.wait() == 1


def test_the_user_is_told_when_the_program_ends(tmp_path: Path) -> None:
    with Program(tmp_path, 150) as program:
        said = piped(program, 'breaks\ncont\nbreaks\n')
        assert 'the program has ended' in said.stdout
        assert said.returncode == 0
        assert program.process.wait(20) == 0


def test_commands_from_a_pipe_and_a_file_wait_for_the_stops(tmp_path: Path) -> None:
    commands = tmp_path / 'commands.txt'
    commands.write_text('# once\nbreak norm --once\n\ncont\n')
    with Program(tmp_path) as program:
        said = piped(program, 'p x.size ;; p x.ndim\nnext\nbogus x\n', '-x', str(commands))
        shown = re.sub(r'\s+', ' ', said.stdout)
        assert '(pfd) cont STOPPED before call' in shown
        assert '(pfd) p x.size ;; p x.ndim 3 1' in shown
        assert "unknown command 'bogus'" in shown
        assert said.returncode == 0
        assert program.runs_on()                # the end of the pipe leaves the stop


def test_json_is_one_message_a_line(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        said = piped(program, 'break norm --once\ncont\np x.size\np nowhere\n', '--json')
        messages = [json.loads(line) for line in said.stdout.splitlines()]
        assert messages[0]['event'] == 'hello'
        answers = {message['line']: message for message in messages if 'line' in message}
        assert '3' in json.dumps(answers['p x.size']['data'])
        assert 'NameError' in answers['p nowhere']['error']
        assert [message['stop']['call']['site'] for message in messages if message.get('event') == 'stopped'] == ['norm']


PRINTS = '''
import sys, threading, time
import numpy as np
from pyfuncdbg import tf

def norm(x):
    print('norm of', x.size)
    return x - x.mean()

def chat():
    while True:
        print('another thread')
        time.sleep(0.01)

threading.Thread(target=chat, daemon=True).start()
for step in range(1, 1000):
    tf.numpy_function(norm, [np.ones(step)], tf.float64, name='norm')
    print('step', step)
    time.sleep(0.05)
'''


def test_what_a_command_prints_comes_back_and_the_program_prints_none_of_it(tmp_path: Path) -> None:
    with Program(tmp_path, source=PRINTS) as program:
        lines = ('break function:norm if x.size % 4 == 0', 'cont', 'print("TYPED 1")', 'p print("TYPED 2", end="")',
                 '!print("TYPED 3")', 'pp print("TYPED 4")', 'for i in range(2):', '    print("TYPED", 5 + i)', '',
                 'sys.stderr.write("TYPED 7\\n")', 'print("TYPED 8") or 1/0',
                 '$y = norm(np.ones(5000))', 'clear all', 'detach')
        said = piped(program, '\n'.join(lines) + '\n')
        assert said.returncode == 0, said
        answers = said.stdout.partition('STOPPED')[2]
        assert re.findall(r'^TYPED \d|^norm of 5000$', answers, re.MULTILINE) == [
            *(f'TYPED {number}' for number in range(1, 9)), 'norm of 5000'], answers
        assert 'TYPED 8\n*** ZeroDivisionError' in answers
        assert 'another thread' not in said.stdout
        wait_until(lambda: program.printed.count('step') > 20)
        assert 'TYPED' not in program.printed + program.errors and 'norm of 5000' not in program.printed
        assert 'another thread' in program.printed and 'norm of 3\n' in program.printed


def test_what_a_command_prints_is_in_json_and_in_the_log_of_a_breakpoint(tmp_path: Path) -> None:
    with Program(tmp_path, source=PRINTS) as program:
        # It stops at nothing before it has its commands, for the program runs meanwhile.
        said = piped(program, 'break function:norm if x.size < 0 --once\ncommands 1\nprint("BY THE BREAKPOINT")\nend\n'
                              'condition 1\ncont\nprint("TYPED")\nprint("x" * 3_000_000)\n', '--json')
        messages = [json.loads(line) for line in said.stdout.splitlines()]
        assert any(message.get('event') == 'log' and message['text'] == 'BY THE BREAKPOINT' for message in messages)
        printed = {message['line']: message['printed'] for message in messages if 'line' in message}
        assert printed['print("TYPED")'] == 'TYPED\n'
        assert printed['print("x" * 3_000_000)'] == 'x' * (1 << 20) + '\n... 1,951,425 characters more\n'
        assert 'BY THE BREAKPOINT' not in program.printed and 'TYPED' not in program.printed


def test_a_stop_that_comes_before_cont_is_the_one_that_cont_waits_for(tmp_path: Path) -> None:
    """Whoever writes commands to a pipe cannot see that the program is there already."""
    with Program(tmp_path) as program, subprocess.Popen(
            [*CONNECT, '--json'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=program.env) as user:
        assert user.stdin is not None and user.stdout is not None
        user.stdin.write('break norm --once\n')
        user.stdin.flush()
        while json.loads(user.stdout.readline()).get('event') != 'stopped':
            pass
        said, _ = user.communicate('cont\np x.size\n', timeout=60)
        answers = {message['line']: message for message in map(json.loads, said.splitlines()) if 'line' in message}
        assert '3' in json.dumps(answers['p x.size']['data'])
        assert user.returncode == 0 and program.runs_on()


def test_several_programs_none_and_an_unknown_one(tmp_path: Path) -> None:
    def connect(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*CONNECT, *words], capture_output=True, text=True,
                              env=environment(tmp_path, PYFUNCDBG_LISTEN='1'), stdin=subprocess.DEVNULL)
    said = connect()
    assert (said.returncode, said.stdout) == (2, '')
    assert said.stderr.count('\n') == 1 and 'no program listens' in said.stderr
    with Program(tmp_path) as first, Program(tmp_path) as second:
        said = connect()
        assert said.returncode == 2
        assert f'{first.process.pid} ' in said.stderr and f'{second.process.pid} ' in said.stderr
        said = connect('1')
        assert said.stderr.startswith('pyfuncdbg: connect: process 1 does not listen; these do: ')
        assert said.stderr.count('\n') == 1


def test_run_listen_wait_begins_at_cont(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(TRAIN)
    env = environment(tmp_path)
    words = [sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--listen', '--wait', 'train.py', '3']
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL) as process:
        wait_until(lambda: list(tmp_path.glob('pyfuncdbg/*.sock')))
        said = subprocess.run(CONNECT, env=env, capture_output=True, text=True,
                              input='break norm --once\ncont\np x\n', timeout=60)
        printed, _ = process.communicate(timeout=60)
    assert 'the program waits to start' in said.stdout
    assert "STOPPED before call 1 of node 'norm'" in said.stdout, said
    assert 'total 6.0' in printed
    assert process.returncode == 0


def test_a_test_under_pytest_can_be_debugged(tmp_path: Path) -> None:
    (tmp_path / 'test_model.py').write_text(
        'import time\nimport numpy as np\nfrom pyfuncdbg import tf\n\n'
        'def scale(x):\n    time.sleep(0.02)\n    return x * 2.\n\n'
        'def test_scale():\n    for i in range(200):\n'
        '        assert tf.numpy_function(scale, [np.float64(i)], tf.float64).numpy() == 2 * i\n')
    env = environment(tmp_path, PYFUNCDBG_LISTEN='1')
    with subprocess.Popen([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_model.py'], cwd=tmp_path,
                          env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_until(lambda: list(tmp_path.glob('pyfuncdbg/*.sock')))
        said = subprocess.run(CONNECT, env=env, capture_output=True, text=True,
                              input='break scale --once\ncont\nstep\np x + 0.5\n', timeout=60)
        report, _ = process.communicate(timeout=90)
    assert 'STOPPED' in said.stdout and '.5' in said.stdout.rpartition('p x + 0.5')[2], said
    assert '1 passed' in report


@pytest.mark.skipif(not os.path.exists('/proc'), reason='needs /proc')
def test_the_program_of_a_process_is_named(tmp_path: Path) -> None:
    code = ('import os; from pyfuncdbg.ui.prompt.connecting.connection import name_of; print(name_of(os.getpid()))')
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert said.stdout.startswith('python')


def test_commands_behind_interrupt_in_a_pipe_wait_for_the_stop(tmp_path: Path) -> None:
    with Program(tmp_path, 400) as program:
        said = piped(program, 'interrupt\np x.shape\ndetach\n').stdout
        assert 'STOPPED before call' in said
        assert '(3,)' in said
        assert program.runs_on()


def test_who_connects_while_the_terminal_holds_a_stop_sees_it_and_may_let_it_go_on(tmp_path: Path) -> None:
    (tmp_path / 'train.py').write_text(TRAIN)
    env = environment(tmp_path)
    with Terminal(tmp_path, '-m', 'pyfuncdbg', 'run', '-q', '--listen', '--break', 'norm', 'train.py', '3',
                  environment=env) as user:
        user.prompt()
        done = subprocess.run(CONNECT, input='p x.shape\nclear all\ncont\n',
                              capture_output=True, text=True, env=env, timeout=60)
        assert 'STOPPED before call 1' in done.stdout
        assert '(3,)' in done.stdout
        user.until('total 6')
        assert user.end() == 0


class StoppedBeforeItsAnswer:
    """Connection to a program whose stop is heard of before the answer to `interrupt`; keeps the lines that it gets."""

    def __init__(self) -> None:
        self.hello = {'waiting': False, 'client': 2, 'stop': None}
        self.lines: list[str] = []
        self.prompt: Any = None

    def begin(self, *, line: str, **_: Any) -> Future[dict[str, Any]]:
        self.lines.append(line)
        if line == 'interrupt':
            self.prompt._shown_stop({'number': 1})
        answered: Future[dict[str, Any]] = Future()
        answered.set_result({'command': line, 'data': None, 'error': None, 'stop': {'number': 1}, 'printed': '', 'later': [],
                             'left': None, 'text': ''})
        return answered


def test_cont_behind_interrupt_lets_the_program_go_on_however_soon_it_stops() -> None:
    """The stop was taken for one that `cont` waits for: `cont` was not sent, and what follows it met the stop before."""
    connection = StoppedBeforeItsAnswer()
    connection.prompt = prompt = RemotePrompt(connection, as_json=True)  # type: ignore[arg-type]
    for line in ('interrupt', 'graph', 'cont'):
        prompt._carry_out(PendingCommand(line, 'commands.txt:1'))
    assert connection.lines == ['interrupt', 'graph', 'cont']
