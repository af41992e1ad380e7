"""What `run` reads before it records: sizes, and where a trace goes."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.commands.byte_size import byte_size
from pyfuncdbg.ui.commands.programs.recorded_program import free_path, give_up

ENVIRONMENT = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[3]), COLUMNS='120')


@pytest.mark.parametrize(('text', 'nbytes'), [
    ('4096', 4096), ('4096B', 4096), ('64k', 65_536), ('64KiB', 65_536), ('256MB', 256 << 20), ('1.5 GiB', 3 << 29),
    (' 2tb ', 2 << 40),
])
def test_size(text: str, nbytes: int) -> None:
    assert byte_size(text) == nbytes


@pytest.mark.parametrize('text', ['', 'MB', '0', '0.2', '-1MB', '1XB', '1e6', 'nan', '1,5MB', '٣MB', '256MBs'])
def test_no_size(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        byte_size(text)
    assert str(raised.value).startswith(repr(text))


def test_a_path_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert free_path('a') == Path('a.pfd')
    (tmp_path / 'a-2.pfd').symlink_to('nowhere')
    assert free_path('a') == Path('a-3.pfd')
    assert (tmp_path / 'a.pfd').is_dir() and (tmp_path / 'a-3.pfd').is_dir()
    give_up(Path('a.pfd'))
    (tmp_path / 'a-3.pfd' / 'log').touch()
    give_up(Path('a-3.pfd'))
    assert not (tmp_path / 'a.pfd').exists() and (tmp_path / 'a-3.pfd' / 'log').exists()
    assert free_path('no/such/folder') == Path('no/such/folder.pfd')


def test_programs_that_start_at_once_have_a_path_each(tmp_path: Path) -> None:
    (tmp_path / 'same.py').write_text('print("ran")\n')
    started = [subprocess.Popen([sys.executable, '-m', 'pyfuncdbg', 'run', 'same.py'], cwd=tmp_path, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) for _ in range(4)]
    said = [one.communicate(timeout=60) for one in started]
    assert [(one.returncode, out) for one, (out, _) in zip(started, said, strict=True)] == [(0, 'ran\n')] * 4, said
    assert sorted(path.name for path in tmp_path.glob('*.pfd')) == ['same-2.pfd', 'same-3.pfd', 'same-4.pfd', 'same.pfd']
    assert {err.split('->')[1].split()[0] for _, err in said} == {'same.pfd', 'same-2.pfd', 'same-3.pfd', 'same-4.pfd'}


def test_a_mistake_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / 'same.py').write_text('print("ran")\n')
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--break', 'norm', '--if', 'x >', 'same.py'],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.returncode == 2 and 'bad condition' in done.stderr
    assert list(tmp_path.glob('*.pfd')) == []


def test_quiet_leaves_stderr_to_the_program(tmp_path: Path) -> None:
    (tmp_path / 'said.py').write_text('import sys\nprint("out")\nprint("err", file=sys.stderr)\n')
    for option in ('-q', '--quiet'):
        done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', option, 'said.py'], cwd=tmp_path, text=True,
                              env=ENVIRONMENT, capture_output=True, check=True)
        assert (done.stdout, done.stderr) == ('out\n', 'err\n')
    assert {path.name for path in tmp_path.glob('*.pfd')} == {'said.pfd', 'said-2.pfd'}
