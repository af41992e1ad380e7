"""`diff` at the shell and at a prompt: answers, options, exit codes, bad input."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import call as call_module
from pyfuncdbg.observers.debug.comparison.divergence import KINDS
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.command_line import SUBCOMMANDS
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three traces of one program: good, one ULP off in its second call, and with one call more."""
    path = tmp_path_factory.mktemp('traces')
    near = np.nextafter(np.float32(2), np.float32(9))
    for name, numbers in (('good', (1, 2, 3)), ('near', (1, near, 3)), ('more', (1, 2, 3, 4))):
        with pyfuncdbg.record(path / f'{name}.pfd'):
            for number in numbers:
                tf.numpy_function(lambda x: x, [np.float32(number)], tf.float32, name='same')
    return path


def diff(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'diff', *words], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '100'})


@pytest.mark.parametrize(('words', 'code', 'first'), [
    (('good.pfd', 'good.pfd'), 0, 'SAME  good.pfd and good.pfd: 3 calls compared'),
    (('good.pfd', 'near.pfd'), 1, 'DIFFERENT  good.pfd and near.pfd: 3 calls compared'),
    (('good.pfd', 'near.pfd', '--ulp', '1'), 0, 'SAME  good.pfd and near.pfd: 3 calls compared'),
    (('--ignore', 'values, time', 'good.pfd', 'near.pfd'), 0, 'SAME  good.pfd and near.pfd: 3 calls compared'),
    (('good.pfd', 'more.pfd'), 1, 'DIFFERENT  good.pfd and more.pfd: 4 calls compared')])
def test_the_exit_code_is_the_verdict(folder: Path, words: tuple[str, ...], code: int, first: str) -> None:
    done = diff(folder, *words)
    assert (done.returncode, done.stdout.splitlines()[0], done.stderr) == (code, first, '')


def test_the_first_divergence_is_shown_with_what_it_is(folder: Path) -> None:
    lines = diff(folder, 'good.pfd', 'near.pfd').stdout.splitlines()
    assert lines[1].startswith('first divergence  value  same[') and lines[3:] == [
        '  in 0  1 element of 1, first value  2.0 | 2.0000002  at most 1 ULP  relative 1.19e-07',
        '  out 0  1 element of 1, first value  2.0 | 2.0000002  at most 1 ULP  relative 1.19e-07',
        '  an input differs already: what gave it was not recorded as a call']
    assert '  only the second has this call' in diff(folder, 'good.pfd', 'more.pfd').stdout


def test_json_has_the_same(folder: Path) -> None:
    done = diff(folder, 'good.pfd', 'near.pfd', '--json')
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert [tensor['value']['ulp'] for tensor in answer['first']['tensors']] == [1, 1]
    assert json.loads(diff(folder, 'good.pfd', 'good.pfd', '--json').stdout)['first'] is None


@pytest.mark.parametrize(('words', 'said'), [
    (('good.pfd',), 'the following arguments are required: TRACE'),
    (('good.pfd', 'none.pfd'), 'none.pfd: no such file or folder'),
    (('good.pfd', 'near.pfd', '--ignore', 'vlaue'), "'vlaue' is no kind of difference"),
    (('good.pfd', 'near.pfd', '--ignore', 'vlaue'), "Did you mean 'value'?"),
    (('good.pfd', 'near.pfd', '--rtol', '-1'), "'-1' is not a number from 0 on"),
    (('good.pfd', 'near.pfd', '--atol', 'nan'), "'nan' is not a number from 0 on"),
    (('good.pfd', 'near.pfd', '--ulp', '0'), "'0' is not an integer from 1 on")])
def test_bad_input_gets_one_line_and_exit_code_2(folder: Path, words: tuple[str, ...], said: str) -> None:
    done = diff(folder, *words)
    assert (done.returncode, done.stdout) == (2, '')
    assert said in done.stderr and done.stderr.count('\n') == 1


@pytest.mark.parametrize('command', ['diff', 'run'])
def test_help_names_every_kind(command: str) -> None:
    text = ' '.join(SUBCOMMANDS[command].parser().format_help().split())
    assert f'such as time,print: {", ".join(KINDS)}' in text


def test_two_calls_and_what_to_give(folder: Path) -> None:
    with Trace.open(folder / 'good.pfd') as trace:
        context = Context(trace)
        one, two, _ = trace.calls()
        assert execute(f'diff --calls {one.number} {one.number}', context).result.same
        found = execute(f'diff --calls {one.number} {two.number}', context).result
        assert [tensor.texts for tensor in found.first.tensors] == [('1.0', '2.0')] * 2
        for line in ('diff', f'diff near.pfd --calls {one.number} {two.number}'):
            with pytest.raises(CommandError, match='give TRACE, --processes P Q, --runs N M or --calls N M'):
                execute(line, context)
        with pytest.raises(CommandError, match='There is no run 98'):
            execute('diff --runs 98 99', context)


def test_info_shows_versions_machine_and_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OMP_NUM_THREADS', '3')
    form = '(compiled)' if call_module.__file__.endswith('.so') else '(not compiled: recording takes more time)'
    with pyfuncdbg.record(tmp_path / 'one.pfd'):
        tf.numpy_function(lambda x: x, [np.float32(1)], tf.float32)
    with Trace.open(tmp_path / 'one.pfd') as trace:
        lines = {line.split()[0]: line for line in execute('info', Context(trace)).text(200).splitlines()}
    assert f'pyfuncdbg {pyfuncdbg.__version__} {form}, NumPy {np.__version__}' in lines['with']
    assert os.uname().machine in lines['machine'] and 'OMP_NUM_THREADS=3' in lines['settings']
