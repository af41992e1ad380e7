"""A line of 1 MB at every prompt: refused in one line at once, nothing of it is kept, and the next command works."""
from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from listening import CONNECT, Program, environment
from tmux_pane import Pane, needs_tmux

from pyfuncdbg.ui.commands.engine.line_parser import LONGEST
from pyfuncdbg.ui.prompt.terminal_io.paste_limit import PasteLimit

pytestmark = pytest.mark.timeout(180)
SOURCE = '''
import numpy as np
from pyfuncdbg import tf
def double(x):
    y = x * 2
    return y
print(tf.numpy_function(double, [np.arange(3.)], tf.float64).numpy())
'''
LINES = {'words': 'p 1 + 1 ' * 125_000, 'quotes': "p '\"" * 250_000, 'brackets': 'pt [ ' * 200_000, 'dots': 'x.' * 500_000}


def await_paste_end(pane: Pane) -> None:
    """Type until that is shown: what comes in one go with the rest of a paste belongs to it."""
    while 'xyzzy' not in pane.screen:
        pane.tmux('send-keys', '-l', 'xyzzy')
        time.sleep(0.5)
    pane.tmux('send-keys', 'C-u')


@needs_tmux
@pytest.mark.parametrize('brackets', [True, False], ids=['marked', 'unmarked'])
@pytest.mark.parametrize('way', ['prompt', 'connect', 'dumb'])
def test_a_megabyte_is_pasted_at_a_terminal(tmp_path: Path, way: str, brackets: bool) -> None:
    (tmp_path / 'script.py').write_text(SOURCE)
    program = Program(tmp_path) if way == 'connect' else None
    try:
        with Pane(tmp_path) as pane:
            if way == 'dumb':
                pane.type('export TERM=dumb')
            pane.python('-m', 'pyfuncdbg', *(['connect', str(program.process.pid)] if program is not None else
                                             ['run', '-q', '--ui', 'prompt', '--break', 'double', 'script.py']))
            pane.until('(pfd)')
            pane.paste('p 1 + 1 ' * 125_000, brackets=brackets)
            if way == 'dumb':
                pane.tmux('send-keys', 'Enter')
            pane.until('refused', scrolled=way == 'dumb')
            await_paste_end(pane)
            pane.type('help nonesuch' if program is not None else 'p 20 + 22')
            pane.until("'nonesuch'" if program is not None else '42')
            assert 'Traceback' not in pane.screen
        history = tmp_path / 'pyfuncdbg' / 'history'
        assert way == 'dumb' or 0 < history.stat().st_size < 1_000
    finally:
        if program is not None:
            program.__exit__()


@pytest.mark.parametrize('line', list(LINES))
def test_a_megabyte_comes_from_a_pipe(tmp_path: Path, line: str) -> None:
    (tmp_path / 'script.py').write_text(SOURCE)
    words = [sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--ui', 'prompt', '--break', 'double', 'script.py']
    said = subprocess.run(words, input=f'{LINES[line]}\np 20 + 22\n{LINES[line]}', cwd=tmp_path, capture_output=True,
                          text=True, env=environment(tmp_path), timeout=60)
    assert said.returncode == 0 and said.stdout == '[0. 2. 4.]\n', said.stderr[-500:]
    assert said.stderr.count(f'*** a line of more than {LONGEST} characters is too long') == 2
    assert '\n42\n' in said.stderr and 'Traceback' not in said.stderr and len(said.stderr) < 5 * LONGEST


@pytest.mark.parametrize('line', list(LINES))
def test_a_megabyte_comes_from_a_pipe_to_connect(tmp_path: Path, line: str) -> None:
    with Program(tmp_path) as program:
        said = subprocess.run(CONNECT, input=f'{LINES[line]}\nbreaks\n{LINES[line]}',
                              capture_output=True, text=True, env=program.env, timeout=60)
        assert said.returncode == 0 and said.stderr == ''
        assert said.stdout.count(f'*** a line of more than {LONGEST} characters is too long') == 2
        assert '(pfd) breaks\n' in said.stdout and len(said.stdout) < 3_000


# --- the limit -------------------------------------------------------------------------------------------------------

def limited(text: str, size: int) -> tuple[str, int]:
    """What is passed on of a text that comes in such pieces without a pause, and how often it was refused."""
    refused: list[int] = []
    limit = PasteLimit(lambda: refused.append(1), lambda: 1.0)
    return ''.join(limit.passed(text[at:at + size]) for at in range(0, len(text), size)), len(refused)


@given(st.lists(st.sampled_from(['a', 'bc', '\x1b', '\x1b[A', '\r', '\x1b[200~', '\x1b[20', '0~', '\u20ac']), max_size=30)
       .map(''.join), st.integers(1, 9))
def test_what_is_typed_is_passed_on_as_it_is(text: str, size: int) -> None:
    whole = text + ('\x1b[201~' if '\x1b[200~' in text else '')
    assert limited(whole, size) == (whole, 0)


@pytest.mark.parametrize('size', [1, 7, 1024, 1 << 16])
def test_of_a_paste_that_is_too_long_one_character_too_many_is_passed_on(size: int) -> None:
    text = 'ab\x1b[200~' + 'x' * 30_000 + '\x1b[201~cd'
    assert limited(text, size) == ('ab\x1b[200~' + 'x' * (LONGEST + 1) + '\x1b[201~cd', 0)


@pytest.mark.parametrize('size', [1, 7, 1024, 1 << 16])
def test_of_keys_without_a_pause_those_that_are_too_many_are_left_out_to_the_end_of_their_line(size: int) -> None:
    passed, refused = limited('x' * 30_000 + '\rnext\r', size)
    passed = passed.replace('\x1b[200~', '').replace('\x1b[201~', '')
    assert refused == 1 and passed.endswith('next\r') and len(passed) < 4_200 and '\r' not in passed[:-5]
    assert limited('short\r' * 5_000, size) == ('short\r' * 5_000, 0)


@needs_tmux
@pytest.mark.parametrize('brackets', [True, False], ids=['marked', 'unmarked'])
def test_a_megabyte_is_pasted_into_the_inspector(tmp_path: Path, brackets: bool) -> None:
    (tmp_path / 'script.py').write_text(SOURCE)
    with Pane(tmp_path) as pane:
        pane.python('-m', 'pyfuncdbg', 'run', '-q', '--record', 'trace.pfd', 'script.py')
        pane.until('trace.pfd', '[0. 2. 4.]')
        pane.python('-m', 'pyfuncdbg', 'open', 'trace.pfd')
        pane.until('q quit')
        pane.tmux('send-keys', ':')
        pane.until('Esc back')
        pane.paste('p 1 + 1 ' * 125_000, brackets=brackets)
        pane.until('was pasted, and refused')
        await_paste_end(pane)
        pane.tmux('send-keys', '-l', 'nonesuch')
        pane.until('nonesuch')
        pane.tmux('send-keys', 'Enter')
        pane.until("unknown command 'nonesuch'")
        pane.tmux('send-keys', 'q')
    assert (tmp_path / 'pyfuncdbg' / 'history').stat().st_size < 1_000
