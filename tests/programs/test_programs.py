"""Programs with a planted fault, from end to end: what a user is told of each in a terminal."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyfuncdbg.ui.commands.programs import verify

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def pyfuncdbg(folder: Path, *words: str, typed: str = '') -> subprocess.CompletedProcess[str]:
    """A command, with lines that a user types."""
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'NO_COLOR': '1', 'COLUMNS': '100'}
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *words], cwd=folder, env=environment, input=typed, text=True,
                          capture_output=True, timeout=100, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for program in HERE.glob('*.py'):
        if not program.name.startswith('test_'):
            shutil.copy(program, tmp_path)
    return tmp_path


@pytest.mark.parametrize(('size', 'factor', 'scale', 'verdict', 'why'), [
    ('256', '-1', '0.05', 'BAD', '(the sign)'), ('256', '3', '0.05', 'BAD', '(3.0'),
    ('64', '-1', '0.03', 'BAD', '(the sign)'),
    ('256', '1', '0.05', 'OK', ''), ('4096', '1', '0.05', 'OK', '')])
def test_a_gradient_of_the_wrong_sign_or_size_is_bad(folder: Path, size: str, factor: str, scale: str, verdict: str,
                                                     why: str) -> None:
    words = ('run', '--ops', '--break', 'loss', 'logistic.py', size, factor, scale)
    done = pyfuncdbg(folder, *words, typed='cont\ncheck\nclear all\ncont\n')
    assert done.returncode == 0 and 'done' in done.stdout
    said = done.stdout + done.stderr
    assert re.search(rf'^#\d+ of #\d+ +IdentityN .* {verdict} ', said, re.M), said
    assert why.replace(' ', '') in re.sub(r'\s+', '', said), said         # it goes on in the next line perhaps


def test_a_function_that_sorts_its_input_is_retried_on_what_it_was_given(folder: Path) -> None:
    plain = subprocess.run([sys.executable, 'metric.py'], cwd=folder, env={**os.environ, 'PYTHONPATH': str(ROOT)}, text=True,
                           capture_output=True, timeout=100, check=True)
    done = pyfuncdbg(folder, 'run', '--break', 'recall', 'metric.py', typed='n\nretry\nclear all\ncont\n')
    said = done.stdout + done.stderr
    assert 'it had written to scores:0 (9 of 10 elements): it gets that input as before' in said
    assert '1 tensor made again, each as before' in said
    assert [line for line in done.stdout.splitlines() if line.startswith('batch')] == plain.stdout.splitlines()
    listed = json.loads(pyfuncdbg(folder, 'show', 'metric.pfd', 'calls', '--json').stdout)
    assert [call['retry_of'] for call in listed['calls']] == ['', '1', '', '', '', ''] and listed['total'] == 6


def test_a_division_by_zero_in_a_loop_is_found_in_its_line(folder: Path) -> None:
    done = pyfuncdbg(folder, 'run', 'newton.py')
    assert done.returncode == 0 and len(done.stdout.splitlines()) >= 3
    line = 1 + (HERE / 'newton.py').read_text().splitlines().index('    return (x - fx / dfx).astype(np.float32)')
    assert re.search(rf'(Inf|NaN) born in call #\d+ update\[6\], update at newton.py:{line}', done.stderr)


def test_a_seeded_program_with_a_parallel_map_is_deterministic(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (folder / 'pipeline.py').read_text()
    (folder / 'pipeline.py').write_text(text.replace("'' if n == 371 else", ''))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(verify, 'LEVELS', ('plain', 'debugger'))        # which is recorded too
    monkeypatch.setattr(verify, '_costs', lambda *_: ())
    assert verify.verify(('pipeline.py',)).answer == 'equal'


def test_the_broken_line_of_a_pipeline_is_the_input_of_the_call_that_raised(folder: Path) -> None:
    done = pyfuncdbg(folder, 'run', 'pipeline.py')
    assert done.returncode == 1 and "could not convert string to float: ''" in done.stderr
    failed = pyfuncdbg(folder, 'show', 'pipeline.pfd', 'calls', '--failed', '--json')
    (call,) = json.loads(failed.stdout)['calls']
    assert '371,,' in pyfuncdbg(folder, 'show', 'pipeline.pfd', 'pt', f'#{call["number"]}:in0').stdout


def test_two_threads_in_one_function_are_two_at_once(folder: Path) -> None:
    done = pyfuncdbg(folder, 'doctor', 'threads.py')
    said = done.stdout + done.stderr
    assert re.search(r'^smoo\S+ +\S+ +120 .*s +2 +\d\.\d+', said, re.M), said
