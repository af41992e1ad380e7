"""Blocks of Python, `commands` and the question of `cl` at every prompt that reads lines."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from listening import CONNECT, Program
from notebook_kernel import CALL, SETUP, TWICE, started
from ui.prompt.pseudo_terminal import HERE, Terminal

MODEL = '''\
import numpy as np
from pyfuncdbg import tf

def twice(x):
    y = x * 2
    return y

for i in range(4):
    print('gave', tf.numpy_function(twice, [np.array([i])], tf.int64).numpy()[0])
print('the end')
'''


def model(folder: Path) -> str:
    (folder / 'model.py').write_text(MODEL)
    return 'model.py'


def at_terminal(folder: Path, **environment: str) -> Terminal:
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', '-q', '--break', 'twice', model(folder), environment=environment)


@pytest.mark.parametrize('term', ['xterm', 'dumb'])
def test_a_terminal_asks_for_the_rest(term: str, tmp_path: Path) -> None:
    prompt = '(pfd) '
    with at_terminal(tmp_path, TERM=term) as user:
        user.until('entering twice', 'call 1 of', prompt)
        for line, after in (('step', prompt), ('def f(v):', '...   '), ('    return v + 40', '...   '), ('', prompt),
                            ('y = f(', '...   '), ('2)', prompt), ('for $i in range(3):', '...   '),
                            ('    $last = $i', '...   '), ('', prompt)):
            user.child.send(line + '\r')
            user.until(after)
        user.child.send('p y * 100 + $last\r')
        user.until('4202', prompt)
        user.child.send('cl\r')
        user.until('Clear all breakpoints? [y/n] ')
        user.child.send('no\r')
        user.until(prompt)
        user.child.send('commands 1\r')
        user.until('(com) ')
        user.child.send('p x[0] + 70\r')
        user.until('(com) ')
        user.child.send('end\r')
        user.until('1 command', prompt)
        user.child.send('c\r')
        user.until('gave 0', 'call 2 of', '(pfd) p x[0] + 70', '71', prompt)
        user.child.send('cl\r')
        user.until('[y/n] ')
        user.child.send('y\r')
        user.until('breakpoint 1 cleared', prompt)
        user.child.send('\x04')
        user.until('the program continues', 'gave 2', 'gave 6', 'the end')
        assert user.end() == 0


def test_ctrl_c_gives_a_block_up_and_a_paste_is_whole(tmp_path: Path) -> None:
    with at_terminal(tmp_path) as user:
        user.prompt()
        user.type('step', 'model.py:5')
        user.child.send('for i in range(3):\r')
        user.until('...   ')
        user.child.send('\x03')
        user.until('(pfd) ')
        user.child.send('\x1b[200~def g(v):\n    a = v\n\n    return a + 1\nn\np g(y) - y + 30\x1b[201~\r')
        user.until('model.py:6', '31', '(pfd) ')
        user.last('q', 'the end')
        assert user.end() == 0


def test_an_alias_of_two_commands_and_tab_within_a_block(tmp_path: Path) -> None:
    with at_terminal(tmp_path) as user:
        user.prompt()
        user.type('alias ny n ;; p y + %1', 'ny = ')
        user.type('step', 'model.py:5')
        user.type('ny 500', 'model.py:6', '(pfd) p y + 500', '500')
        user.child.send('if True:\r')
        user.until('...   ')
        user.child.send('\ty = y + 8')          # Tab indents where a line is empty
        user.child.send('\r\r')
        user.until('(pfd) ')
        user.last('q', 'gave 8', 'the end')
        assert user.end() == 0


def run(folder: Path, *options: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    stdin = {'stdin': subprocess.DEVNULL} if given is None else {'input': given}
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--quiet', '--break', 'twice', *options, model(folder)],
                          cwd=folder, text=True, timeout=60, env=dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120'),
                          capture_output=True, **stdin)  # type: ignore[call-overload]


def test_a_pipe(tmp_path: Path) -> None:
    done = run(tmp_path, given='step\ndef f(v):\n    w = v + 3\n    return w\n\nn\ny = f(y)\ncommands 1\nsilent\n'
                               'step\nend\nc\nn\ny = y * 10\ncl\ny\nc\n')
    assert (done.returncode, done.stdout.split('\n')[:4]) == (0, ['gave 3', 'gave 20', 'gave 4', 'gave 6']), done.stderr
    assert '...       w = v + 3' in done.stderr and '(com) silent' in done.stderr
    assert 'Clear all breakpoints? [y/n] y' in done.stderr
    assert done.stderr.count('STOPPED entering') == 1       # silent


def test_a_file_of_commands(tmp_path: Path) -> None:
    (tmp_path / 'c').write_text('commands 1\nstep\nend\nstep\nif True:\n    y = 1\n\n    z = 700\nelse:\n    pass\np z + 1\n'
                                'cl\nno\nnothing here\nc\n')
    done = run(tmp_path, '-x', 'c', given='')
    assert done.returncode == 0 and '701' in done.stderr
    assert '*** c:14: ' in done.stderr          # the line of the file
    assert '(pfd) step' in done.stderr and 'cleared' not in done.stderr


def test_connect_from_a_pipe_and_from_a_terminal(tmp_path: Path) -> None:
    with Program(tmp_path, 300) as program:
        lines = ('break norm\ncommands 1\np x.size + 10\nend\ncont\nstep\nfor i in range(3):\n    k = i * 11\n\np k\n'
                 # the first stop may come before its commands are set
                 'alias two p k + 1 ;; p k + 2\ntwo\ncont\nclear\nn\n')
        done = subprocess.run(CONNECT, input=lines, capture_output=True, text=True,
                              env=program.env, timeout=60)
        assert done.returncode == 0, done.stdout
        for text in ('(com) p x.size + 10', '...       k = i * 11', 'Clear all breakpoints? [y/n] n'):
            assert text in done.stdout
        shown = [line.strip() for line in done.stdout.splitlines()]
        assert {'13', '22', '23', '24'} <= set(shown)
        user = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'connect', str(program.process.pid)], env=program.env,
                             encoding='utf-8', timeout=40, dimensions=(40, 110))
        user.expect(r'\(pfd\)')
        user.send('cl\r')
        user.expect(r'\[y/n\]')
        user.send('y\r')
        user.expect('breakpoint 1 cleared')
        user.expect(r'\(pfd\)')
        user.sendeof()
        user.expect(pexpect.EOF)
        program.process.wait(60)
        assert 'total' in program.printed


def test_a_notebook() -> None:
    with started() as notebook:
        assert notebook.run(SETUP).status == 'ok'
        notebook.run(TWICE.format(stop='breakpoint()'))
        cell = notebook.run(CALL.format(value=1), 'for i in range(2):', '    y = y + 10', '', 'cl', 'n', 'c')
        assert cell.asked == ['(pfd) ', '...   ', '...   ', '(pfd) ', 'Clear all breakpoints? [y/n] ', '(pfd) ']
        assert cell.text.endswith('in the call 22.0\n23.0\n')
        again = notebook.run(CALL.format(value=1), '\x04')
        assert 'the program continues' in again.text
