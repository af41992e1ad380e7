"""The user's configuration: what it holds, what wins over it, and that nothing in it stops a program or is lost."""
from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pyfuncdbg.ui.commands.configuration import Configuration, configuration, keep, location

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv('XDG_CONFIG_HOME', str(tmp_path / 'config'))
    file = location()
    assert file == tmp_path / 'config' / 'pyfuncdbg' / 'config.toml'
    return file


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_without_a_file_everything_is_as_it_was(path: Path) -> None:
    said: list[str] = []
    assert (configuration(said.append), said) == (Configuration(), [])
    assert not path.parent.exists()


def test_a_folder_that_is_not_absolute_is_ignored_as_xdg_says(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv('XDG_CONFIG_HOME', 'here')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert location() == tmp_path / '.config' / 'pyfuncdbg' / 'config.toml'
    monkeypatch.setenv('HOME', '')
    monkeypatch.setattr(os.path, 'expanduser', lambda path: path)
    assert location() is None and configuration() == Configuration() and keep({'theme': 'nord'}) == 'no home folder'


def test_all_settings(path: Path) -> None:
    write(path, 'ui = "prompt"\nbudget = "64MB"\ntraces = "~/traces"\ntheme = "nord"\npane = "calls"\nzoomed = true\n')
    assert configuration() == Configuration('prompt', '64MB', '~/traces', 'nord', 'calls', True)


@pytest.mark.parametrize(('text', 'told'), [
    ('uii = "prompt"', "no setting 'uii'; there are ui, budget, traces, theme, pane, zoomed. Did you mean 'ui'?"),
    ('ui = "promt"', "ui is 'promt', expected auto, inspector, prompt, none. Did you mean 'prompt'?"),
    ('ui = 3', 'ui is 3, expected a text'), ('zoomed = "yes"', "zoomed is 'yes', expected true or false"),
    ('zoomed = 1', 'zoomed is 1, expected true or false'), ('budget = "much"', "budget: 'much' is not a size"),
    ('traces = ["a"]', "traces is ['a'], expected a text"), ('traces = "a\\u0000"',
                                                             'traces: a path cannot contain a null byte'),
    ('[ui]\nx = 1', "ui is {'x': 1}, expected a text"), ('[inspector]\n', "no setting 'inspector'"),
    ('"\\u001b[31m" = 1', "no setting '\\x1b[31m'"), ('x' * 500 + ' = 1', "no setting 'xxxx")])
def test_a_mistake_is_said_in_one_line_and_the_rest_holds(path: Path, text: str, told: str) -> None:
    write(path, f'theme = "nord"\n{text}\n')
    said: list[str] = []
    assert configuration(said.append) == Configuration(theme='nord')
    assert len(said) == 1 and said[0].startswith(f'{path}: {told}') and '\n' not in said[0] and len(said[0]) < 400


DAMAGED = {'cut': 'theme = "no', 'twice': 'ui = "auto"\nui = "auto"\n', 'binary': b'\xff\xfe\x00',
           'deep': 'x = ' + '[' * 100_000, 'large': 'x' * (1 << 20) + 'y'}


@pytest.mark.parametrize('damage', [*DAMAGED, 'folder', 'pipe', 'loop'])
def test_a_damaged_file_stops_nothing_and_is_not_written_over(path: Path, damage: str) -> None:
    path.parent.mkdir(parents=True)
    if damage == 'folder':
        path.mkdir()
    elif damage == 'pipe':                      # would be waited for
        os.mkfifo(path)
    elif damage == 'loop':
        path.symlink_to(path.name)
    else:
        write(path, DAMAGED[damage])
    before = path.read_bytes() if path.is_file() else b''
    said: list[str] = []
    assert configuration(said.append) == Configuration()
    assert len(said) == 1 and said[0].startswith(f'{path}: ') and said[0].endswith('; the setting is ignored')
    assert '\n' not in said[0] and len(said[0]) < 400
    assert keep({'theme': 'nord'}).startswith(f'{path}: ')
    assert (path.read_bytes() if path.is_file() else b'') == before and len(list(path.parent.iterdir())) == 1


MINE = '''# my settings, \u00e4
ui = "prompt"   # no screens
theme = 'old'  # dark at night

[later]
theme = "not this one"
'''


def test_what_is_kept_leaves_all_else_as_it_was(path: Path) -> None:
    write(path, MINE)
    assert keep({'theme': 'nord', 'pane': 'calls', 'zoomed': True}) == ''
    assert path.read_text() == ('# my settings, \u00e4\nui = "prompt"   # no screens\ntheme = "nord"  # dark at night\n\n'
                                'pane = "calls"\nzoomed = true\n[later]\ntheme = "not this one"\n')
    assert keep({'zoomed': False}) == '' and tomllib.loads(path.read_text())['zoomed'] is False
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and [file.name for file in path.parent.iterdir()] == ['config.toml']


@pytest.mark.parametrize('text', ['x = """\ntheme = "a"\n"""\n', 'theme = """a\nb"""\n', 'theme = "a\\"b"\n',
                                  '"theme" = "a"\n',
                                  "theme = 'a' # b\r\nui = 'auto'\r\n", 'theme="a"', 'ui = "auto"', '', '# nothing',
                                  'x = [\n"theme"]\n', 'x = [\n[1]]\n'])
def test_whatever_the_lines_are_like_the_file_says_the_same_or_is_not_touched(path: Path, text: str) -> None:
    write(path, text)
    why = keep({'theme': 'nord'})
    after = path.read_bytes().decode()
    assert after == text if why else tomllib.loads(after) == {**tomllib.loads(text), 'theme': 'nord'}


def test_a_link_stays_a_link_and_a_new_file_is_for_its_user_alone(path: Path, tmp_path: Path) -> None:
    assert keep({'theme': 'nord'}) == '' and path.read_text() == 'theme = "nord"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.rename(tmp_path / 'dotfiles.toml')
    path.symlink_to(tmp_path / 'dotfiles.toml')
    assert keep({'theme': 'gruvbox'}) == '' and path.is_symlink()
    assert (tmp_path / 'dotfiles.toml').read_text() == 'theme = "gruvbox"\n'


# ---------------------------------------------------------------------- what it does
PROGRAM = '''
import numpy as np
from pyfuncdbg import tf
tf.numpy_function(lambda x: x + 1, [np.zeros(3, np.float32)], tf.float32, name='more')
'''


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / 'script.py').write_text(PROGRAM)
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *words], cwd=folder, capture_output=True, text=True,
                          timeout=60, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, 'PYTHONPATH': str(ROOT), 'HOME': str(folder), **environment})


def test_budget_and_folder_of_traces_hold_unless_the_command_line_has_others(path: Path, tmp_path: Path) -> None:
    write(path, 'budget = "3MB"\ntraces = "~/kept/here"\nnonsense = 1\n')
    done = run(tmp_path, 'run', 'script.py')
    assert done.returncode == 0 and done.stderr.count("no setting 'nonsense'") == 1, done.stderr
    assert (tmp_path / 'kept' / 'here' / 'script.pfd').is_dir() and not (tmp_path / 'script.pfd').exists()
    assert '3 MB' in run(tmp_path, 'show', 'info').stdout
    assert 'script.pfd' in run(tmp_path, 'traces').stdout and 'no trace' in run(tmp_path, 'traces', '.').stdout
    run(tmp_path, 'run', '--budget', '5MB', '--record', 'mine.pfd', 'script.py')
    assert '5 MB' in run(tmp_path, 'show', './mine.pfd', 'info').stdout


def test_a_folder_that_cannot_be_made_costs_no_run(path: Path, tmp_path: Path) -> None:
    write(path, 'traces = "script.py/no"\n')
    done = run(tmp_path, 'run', 'script.py')
    assert done.returncode == 0 and 'Not a directory; the trace goes to the current folder' in done.stderr
    assert (tmp_path / 'script.pfd').is_dir()


@pytest.mark.parametrize(('options', 'environment', 'stops'), [
    ((), {}, False), (('--ui', 'prompt'), {}, True), (('--ui', 'auto'), {}, True), ((), {'PYFUNCDBG_UI': 'prompt'}, True)])
def test_who_is_asked_is_the_last_word_of_the_file(path: Path, tmp_path: Path, options, environment, stops) -> None:
    write(path, 'ui = "none"\n')
    (tmp_path / 'commands').write_text('p 6001 * 7001\ncont\n')
    done = run(tmp_path, 'run', *options, '--break', 'more', '-x', 'commands', 'script.py', **environment)
    assert done.returncode == 0 and ('42013001' in done.stdout + done.stderr) == stops, done.stderr
