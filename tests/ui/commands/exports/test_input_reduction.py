"""Inputs that `--shrink` reduces: the call fails alike, and nothing smaller of them was needed."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports.input_reduction import least_inputs

MODULE = '''
import numpy as np

def standard(x, y):
    assert x.shape[0] == y.shape[0]
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) + y[:, None]

def refuse(x, names):
    if (x > 100).any():
        raise ValueError(f'{int((x > 100).sum())} rows of {len(x)} are large, {len(names)} names')
    return x

def random(x):
    if hasattr(np, '_was_called'): raise OSError('only in the program')
    return x
'''


def export(path: Path, line: str) -> object:
    with Trace.open(path) as trace:
        return execute(f'export pytest {line}', Context(trace)).result


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A trace, and the numbers of its calls by function."""
    folder = tmp_path_factory.mktemp('reduction')
    (folder / 'reduced_subjects.py').write_text(MODULE)
    sys.path.insert(0, str(folder))
    try:
        import reduced_subjects as subjects  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(folder))
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 5)).astype(np.float32)
    x[17] = 2.5
    large = random.integers(0, 50, 64)
    large[[3, 40]] = 1234
    with np.errstate(all='ignore'), pyfuncdbg.record(folder / 'it.pfd'):
        tf.numpy_function(subjects.standard, [x, x[:, 0]], tf.float32)
        tf.numpy_function(subjects.standard, [np.eye(3, dtype=np.float32), x[:3, 0]], tf.float32)
        for function, inputs in ((subjects.refuse, [large, np.array([b'a', b'b\0', b'c'], object)]), (subjects.random, [x])):
            with pytest.raises((ValueError, OSError)):
                np._was_called = True           # of this process alone
                tf.numpy_function(function, inputs, tf.float32)
            del np._was_called
    with Trace.open(folder / 'it.pfd') as trace:
        found: dict[str, str] = {}
        for call in trace.calls(kind='python'):
            found.setdefault(call.site.function, call.number)
            found[f'last {call.site.function}'] = call.number
    return folder / 'it.pfd', found


def test_the_least_rows_and_the_simplest_elements_are_found(recorded: tuple[Path, dict[str, str]], tmp_path: Path,
                                                            capfd: pytest.CaptureFixture[str]) -> None:
    trace, numbers = recorded
    result = export(trace, f'{numbers["standard"]} --shrink -o {tmp_path}/test_standard.py')
    told = capfd.readouterr().err
    assert 'pyfuncdbg: --shrink calls standard of ' in told and 'in another process' in told
    assert result.remarks[0].startswith(
        'Inputs were reduced from float32[40, 5], float32[40] to float32[1, 1], float32[1], in ')
    with np.load(tmp_path / 'test_standard.npz') as values:
        np.testing.assert_equal([values[name] for name in sorted(values)], [[[0]], [0], [[np.nan]]])
    export(trace, f'{numbers["refuse"]} --shrink -o {tmp_path}/test_refuse.py')
    with np.load(tmp_path / 'test_refuse.npz') as values:
        assert [values[name].tolist() for name in sorted(values)] == [[1234], [b'c.']]
    assert "== '1 rows of 1 are large, 1 names'" in (tmp_path / 'test_refuse.py').read_text()
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(tmp_path)], text=True,
                          capture_output=True, cwd=tmp_path, env={'PATH': ''})
    assert done.returncode == 0 and '2 passed' in done.stdout, done.stdout


def test_calls_that_cannot_be_reduced(recorded: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    trace, numbers = recorded
    file = f'--shrink -o {tmp_path}/test_it.py'
    with pytest.raises(CommandError, match='neither raised nor gave NaN or infinity: --shrink reduces'):
        export(trace, f'{numbers["last standard"]} {file}')
    with pytest.raises(CommandError, match='the call does not fail here as it did: it returned'):
        export(trace, f'{numbers["random"]} {file}')
    with pytest.raises(CommandError, match='reduces the inputs of one call, and 2 were chosen'):
        export(trace, f'{numbers["standard"]}..{numbers["last standard"]} {file}')
    assert not list(tmp_path.iterdir())


def test_a_reduction_ends_and_keeps_the_failure() -> None:
    random = np.random.default_rng(5)
    inputs = [random.normal(size=(16, 3)), random.integers(0, 9, (16,)), random.normal(size=(3, 16))]
    tried = 0

    def fails(candidate):
        nonlocal tried
        tried += 1
        a, b, c = candidate
        fits = a.shape[1] == c.shape[0] and a.shape[0] == len(b) == c.shape[1]
        return fits and bool((a @ c).any() and b.max(initial=0) > 4)
    least = least_inputs(inputs, fails, [True, True, True])
    assert fails(least) and [array.size for array in least] == [1, 1, 1] and least[1].tolist()[0] > 4 and tried < 500
