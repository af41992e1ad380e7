"""DebugSession and debug() at a real terminal and with commands from a pipe: what a user sees and the program prints."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

PROGRAM = Path(__file__).with_name('debugged_program.py')
ROOT = PROGRAM.parents[1]
ENVIRONMENT = {**os.environ, 'PYTHONPATH': str(ROOT), 'TERM': 'dumb', 'NO_COLOR': '1'}
STYLES = re.compile(r'\x1b\[[\d;?]*[A-Za-z]')


def printed(arguments=(), **given):
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, timeout=60,
                          env=ENVIRONMENT, check=False, **given)


@pytest.fixture(scope='module')
def plain():
    done = printed(['plain'], stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == 'eager [2.0, 2.0]' and not done.stderr
    return done.stdout


class Terminal:
    """The program on a pseudo-terminal."""

    def __init__(self, arguments=()) -> None:
        self.child = pexpect.spawn(sys.executable, [str(PROGRAM), *arguments], env=ENVIRONMENT, timeout=60, encoding='utf-8',
                                   dimensions=(50, 100))

    def prompt(self) -> str:
        """What is on the screen from the last prompt to this one."""
        self.child.expect_exact('(pfd) ')
        return STYLES.sub('', self.child.before)

    def type(self, line: str) -> str:
        """Type a line and wait for the next prompt."""
        self.child.sendline(line)
        return self.prompt()

    def end(self, line: str) -> str:
        self.child.sendline(line)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return STYLES.sub('', self.child.before)


def test_a_debugging_session_from_card_to_card(plain) -> None:
    terminal = Terminal()
    card = terminal.prompt()
    assert '(1st of session 1)' in card and re.search(r'feeds\s+a:0  float32 \[2\]  8 B', card) and 'MainThread' in card
    end = terminal.type('run')
    assert 'done after' in end and re.search(r'c:0 +#\d+ .* 3 \|.*\| 5', end)
    assert re.search(r'c:0 .* 3 \|.*\| 5', terminal.type('lt'))
    assert '(2nd of session 1)' in terminal.type('run')
    assert 'in double' in terminal.type('into') and re.search(r'y .*\[4, 6\]', terminal.type('next'))
    stack = terminal.type('bt')
    assert [word for word in ('session.run', 'fetches d:0', 'node c', 'node b', 'in double') if word in stack] == [
        'session.run', 'fetches d:0', 'node c', 'node b', 'in double']
    assert '(2nd of session 1)  done' in terminal.type('cont')
    assert '(3rd of session 1)' in terminal.type('run')
    found = terminal.type('run -f has_nan')
    assert 'tensors found' in found and re.search(r'passed has_nan\s+d:0', found)
    assert 'NaN 2' in terminal.type('pt d:0')
    failed = terminal.type('run -t 5')
    assert 'FAILED' in failed and 'ValueError: too big' in failed and re.search(r'failed at\s+b  PyFunc', failed)
    assert '[60, 61]' in terminal.type('p x.tolist()').replace('.0', '')
    assert 'of traced' in terminal.type('cont')
    rest = terminal.end('quit')
    assert rest.replace('\r', '').endswith(plain[plain.index('traced'):])
    assert terminal.child.exitstatus == 0


@pytest.mark.parametrize('script', [
    'run\n' * 20, 'cont\n' * 20, 'quit\n', 'run -n\n' * 9, 'node\nnode\nnode\nnode\n' + 'run\n' * 20,
    'run -t 3\nrun -f has_nan\ncont\ncont\n', 'break c\nrun\ninto\nlt\nbt\ncont\nquit\n',
    'into\nnext\nnext\nreturn\ncont\nrun\n',
    'nonsense\nrun -t\nrun -f\nrun -f has_non\nrun\n', 'next\nnext\np value\ncont\nquit\n', '',
])
def test_the_program_prints_the_same_whatever_is_typed(plain, script) -> None:
    done = printed(input=script)
    assert (done.returncode, done.stdout) == (0, plain)
    assert 'switched off' not in done.stderr and 'Traceback' not in done.stderr


def test_abort_reaches_the_program(plain) -> None:
    done = printed(input='abort\n')
    assert done.returncode == 1 and not done.stdout and 'pyfuncdbg.errors.RunAborted: aborted at stop 1' in done.stderr


def test_ctrl_c_and_the_end_of_input_let_nothing_hang(plain) -> None:
    terminal = Terminal()
    terminal.prompt()
    terminal.child.sendintr()
    assert '(1st of session 1)' not in terminal.prompt()       # back at the prompt, in the same stop
    assert 'done' in terminal.type('run')
    terminal.child.sendeof()
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    assert STYLES.sub('', terminal.child.before).replace('\r', '').endswith(plain)
    assert terminal.child.exitstatus == 0


def test_nobody_to_ask(plain) -> None:
    done = printed(stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, plain)
    assert '1st run of session 1' in done.stderr and 'raised InvalidArgumentError' in done.stderr
    assert '2nd run of session 1 (' not in done.stderr
