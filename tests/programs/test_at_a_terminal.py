"""Programs with a planted fault, solved at a terminal with what a user of pdb types first; on TensorFlow too."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

HERE = Path(__file__).parent


@pytest.fixture(params=['pyfuncdbg', pytest.param('tensorflow', marks=[pytest.mark.tensorflow, pytest.mark.timeout(300)])])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The programs, of our own runtime or of the real TensorFlow."""
    for program in HERE.glob('*.py'):
        if not program.name.startswith('test_'):
            text = program.read_text()
            if request.param == 'tensorflow':
                text = text.replace('from pyfuncdbg import tf\n', 'import tensorflow as tf\n')
            (tmp_path / program.name).write_text(text)
    return tmp_path


def run(folder: Path, *words: str) -> Terminal:
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', *words, environment={'TF_CPP_MIN_LOG_LEVEL': '3'}, timeout=90)


def line_of(program: str, text: str) -> int:
    return 1 + next(index for index, line in enumerate((HERE / program).read_text().splitlines()) if text in line)


def test_a_line_stops_at_each_execution(folder: Path) -> None:
    """In code of the module, while graphs are built and traced, and between runs."""
    line = line_of('lines.py', 'k = n + 1')
    with run(folder, '--break', f'lines.py:{line}', 'lines.py') as terminal:
        assert f'STOPPED in early at lines.py:{line}' in terminal.prompt()
        for number in range(1, 6):
            assert re.search(rf'^{number}\b', terminal.type('p n').partition('p n')[2].lstrip(), re.M)
            assert 'STOPPED in early' in terminal.type('c')
        terminal.last('c', ', 1 call of 1 Python function')
        assert terminal.end() == 0


def test_newton_divides_by_zero_at_its_seventh_step(folder: Path) -> None:
    line = line_of('newton.py', 'return (x - fx / dfx)')
    with run(folder, '--break', f'newton.py:{line} if not dfx.all()', 'newton.py') as terminal:
        assert f'STOPPED in update at newton.py:{line}, call 7 of' in terminal.prompt()
        assert '6' in terminal.type('p int(i)')
        assert 'first bad' not in terminal.type('p dfx') and '0' in terminal.type('p dfx[0]')
        assert 'newton.py' in terminal.type('w') and 'target' in terminal.type('a')
        terminal.last('q')
        assert terminal.end() == 0


def test_a_metric_writes_to_its_argument(folder: Path) -> None:
    with run(folder, '--break', 'recall_at_k', 'metric.py') as terminal:
        shown = terminal.prompt()
        assert 'STOPPED entering recall_at_k at metric.py' in shown and 'n to its first line' in shown
        terminal.type('n')
        before = terminal.type('p scores[:3]')
        terminal.type('n')
        after = terminal.type('n')
        assert re.search(r'changed\s+scores', after)        # by a line that names another variable
        assert terminal.type('p scores[:3]') != before
        assert "it had written to scores:0" in terminal.type('retry')
        terminal.last('q')
        assert terminal.end() == 0
        assert 'batch 4: recall@3' in terminal.text


def test_the_line_of_a_pipeline_that_has_no_price(folder: Path) -> None:
    with run(folder, '--catch', 'pipeline.py') as terminal:
        assert "ValueError: could not convert string to float: ''" in terminal.prompt()
        assert "b'371,,1'" in terminal.type('p line') and "''" in terminal.type('p price')
        assert 'parse' in terminal.type('w')
        assert 'node parse' in terminal.type('u') and 'pipeline.py' in terminal.type('d')
        terminal.last('q')
        assert terminal.end() == 1


def test_two_threads_share_a_buffer(folder: Path) -> None:
    line = line_of('threads.py', 'return (scratch')
    with run(folder, '--break', f'threads.py:{line} if scratch[0] != x[0]', 'threads.py') as terminal:
        assert f'STOPPED in smooth at threads.py:{line}' in terminal.prompt()
        mine, theirs = (re.search(r'^(?:float32 )?([15])\b', terminal.type(f'p {name}[0]').partition(']')[2].lstrip(), re.M)
                        for name in ('x', 'scratch'))
        assert mine is not None and theirs is not None and mine[1] != theirs[1]
        assert 'smooth' in terminal.type('threads')
        terminal.type('clear 1')
        terminal.last('c')
        assert terminal.end() == 0
