"""What Tab offers behind `pyfuncdbg` in bash, zsh and fish: typed in the real shells, on a terminal."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pexpect
import pytest
from inspecting import record

from pyfuncdbg.ui.commands.command_line import SUBCOMMANDS
from pyfuncdbg.ui.commands.shell_completion import SCRIPTS, words

PROGRAM = """
import numpy as np
from pyfuncdbg import tf
def norm(x):
    return x
for name in ('norm', 'a b', 'scale'):
    tf.numpy_function(norm, [np.ones(2, np.float32)], tf.float32, name=name.replace(' ', '_'))
"""


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('completed')
    record(PROGRAM, folder)
    return folder


@pytest.fixture(autouse=True)
def here(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(recorded)
    return recorded


@pytest.mark.parametrize(('line', 'offered'), [
    ('pyfuncdbg sh', ['show']), ('pyfuncdbg c', ['clean', 'completion', 'connect']), ('pyfuncdbg --v', ['--version']),
    ('pyfuncdbg run --u', ['--ui', '--ulp']),
    ('pyfuncdbg run --against p', ['prog.pfd']), ('pyfuncdbg run --ui p', ['prompt']), ('pyfuncdbg run --record ', []),
    ('pyfuncdbg run --hos', []), ('pyfuncdbg run train.py --u', []), ('pyfuncdbg run -m train --u', []),
    ('pyfuncdbg open p', ['prog.pfd']), ('pyfuncdbg diff p', ['prog.pfd']), ('pyfuncdbg show diff p', ['prog.pfd']),
    ('pyfuncdbg diff prog.pfd --ig', ['--ignore']), ('pyfuncdbg completion f', ['fish']), ('pyfuncdbg nonsense ', []),
    ('pyfuncdbg show cal', ['call', 'calls']), ('pyfuncdbg show prog', ['prog.pfd']), ('pyfuncdbg show ste', []),
    ('pyfuncdbg show prog.pfd calls --so', ['--sort']), ('pyfuncdbg show calls --sort d', ['duration']),
    ('pyfuncdbg show prog.pfd call #', ['#1', '#2', '#3']), ('pyfuncdbg show pt sca', ['scale:0', 'scale[0]:0']),
    ('pyfuncdbg show call sca', ['scale[0]']), ('pyfuncdbg show ni sca', ['scale']),
    ('pyfuncdbg show ./prog.pfd pt norm:', ['norm:0']), ('pyfuncdbg show nowhere.pfd call ', []),
    ('pyfuncdbg "sh', ['show']), ("pyfuncdbg show 'pro", ['processes', 'prog.pfd']),
    ('pyfuncdbg', []), ('', []), ("it's ", [])])
def test_words(line: str, offered: list[str]) -> None:
    found = words(line, 'zsh')
    assert (found if len(found) < 10 or offered else []) == offered, found


def test_without_a_word_everything_is_offered() -> None:
    assert words('pyfuncdbg ', 'zsh') == sorted(SUBCOMMANDS)
    assert {'prog.pfd', 'report', 'calls'} <= set(words('pyfuncdbg show ', 'zsh'))


def test_bash_gets_words_as_they_are_typed_from_its_own_beginning() -> None:
    assert words('pyfuncdbg show call #', 'bash') == [r'\#1', r'\#2', r'\#3']
    assert words("pyfuncdbg show call '#", 'bash') == ['#1', '#2', '#3']
    assert words('pyfuncdbg show pt norm:', 'bash') == ['0']


def test_a_hostile_trace_offers_no_control_characters(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(here / 'prog.pfd', tmp_path / 'a\nb$(id).pfd')
    shutil.copytree(here / 'prog.pfd', tmp_path / 'a;id.pfd')
    monkeypatch.chdir(tmp_path)
    assert words('pyfuncdbg open a', 'bash') == [r'a\;id.pfd']
    assert words('pyfuncdbg open a', 'zsh') == ['a;id.pfd']


WRAPPED = {
    'bash': """PS1='> '
pyfuncdbg() { if [ "$1" = completion ]; then PYTHON -m pyfuncdbg "$@"; else printf '%s|' "$@" > args; fi; }""",
    'zsh': """PROMPT='> '; autoload -U compinit; compinit -u -D
pyfuncdbg() { if [ "$1" = completion ]; then PYTHON -m pyfuncdbg "$@"; else printf '%s|' "$@" > args; fi; }""",
    'fish': """function fish_prompt; echo '> '; end; set -g fish_autosuggestion_enabled 0
function pyfuncdbg
    if test "$argv[1]" = completion; PYTHON -m pyfuncdbg $argv; else; printf '%s|' $argv > args; end
end"""}


@pytest.mark.parametrize('shell', ['bash', 'zsh', 'fish'])
@pytest.mark.parametrize(('typed', 'meant'), [
    ('sho\tprog\tpt norm:\t', 'show|prog.pfd|pt|norm:0|'), ('run --ui\tpro\tpro\t', 'run|--ui|prompt|prog.p'),
    ('show call \\#3\t', 'show|call|#3|'), ('open pr\t', 'open|prog.p')])
def test_typed_in_a_shell(here: Path, tmp_path: Path, shell: str, typed: str, meant: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f'there is no {shell}')
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    (tmp_path / 'setup').write_text(WRAPPED[shell].replace('PYTHON', sys.executable) + '\n' + SCRIPTS[shell] + '\n')
    options = {'bash': ['--norc', '--noprofile', '-i'], 'zsh': ['-f', '-i'], 'fish': ['--no-config', '-i']}[shell]
    environment = {**os.environ, 'HOME': str(tmp_path), 'TERM': 'xterm',
                   'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    child = pexpect.spawn(shell, options, cwd=str(tmp_path), env=environment, encoding='utf-8', timeout=60,
                          dimensions=(40, 150))
    try:
        child.sendline('. ./setup; echo re""ady')
        child.expect('ready')
        child.send(f'pyfuncdbg {typed}\r')
        child.sendline('echo do""ne')
        child.expect('done\r\n')
        assert (tmp_path / 'args').read_text().startswith(meant)
    finally:
        child.close(force=True)
