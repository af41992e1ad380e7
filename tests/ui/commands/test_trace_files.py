"""`trim`, `pack` and `unpack` on the command line: which calls are kept, what is said, and what is refused."""
from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from plain_sites import wrapped_site

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.cli import main
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace


def ratio(x: np.ndarray) -> list[np.ndarray]:
    if x[0] == 13:
        raise ZeroDivisionError('thirteen')
    return [x / (x[0] != 7)]


@pytest.fixture(scope='module')
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty calls of `ratio` with 0, 1, ...; NaN or infinity at 7, an error at 13. And five of another site."""
    path = tmp_path_factory.mktemp('original') / 'o.pfd'
    call, other = wrapped_site(ratio, 'ratio'), wrapped_site(lambda x: [x], 'other')
    with Recorder(path), np.errstate(all='ignore'):
        for number in range(20):
            with contextlib.suppress(ZeroDivisionError):
                call(np.full(3, float(number)))
            if number % 4 == 0:
                other(np.full(3, float(number)))
    return path


def first(trace: Trace) -> dict[str, int]:
    """Numbers of the calls with their ordinals at `ratio`."""
    return {f'ratio[{call.ordinal}]': int(call.number) for call in trace.calls(site='ratio')}


@pytest.mark.parametrize(('options', 'kept'), [
    ('--bad', [7]), ('--failed', [13]), ('--bad --around 2', [5, 6, 7, 8]), ('--if x[0]>16', [17, 18, 19]),
    ('--if has_inf_or_nan(out)', [7]), ('--if error', [13]), ('--if call.ordinal==3', [3]), ('ratio[4]', [4]),
    ('ratio[4] ratio[9]', [4, 9]), ('--site ratio --if x[0]<2', [0, 1]), ('ratio[4] ratio[9] --if x[0]>5', [9])])
def test_the_calls_of_interest_are_kept(options: str, kept: list[int], original: Path, tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['trim', str(original), '-o', str(tmp_path / 't.pfd'), *options.split()]) == 0
    with Trace.open(tmp_path / 't.pfd') as trace:
        found = [call.ordinal for call in trace.calls(site='ratio')]
        assert found == kept
        assert all(call.inputs[0].to_numpy()[0] == call.ordinal for call in trace.calls(site='ratio'))
        assert trace.info().lost_calls == 25 - len(trace.calls())
        assert f'{len(trace.calls())} call' in capsys.readouterr().out


class Layer:
    def call(self, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
        return [high - low]


@pytest.mark.parametrize(('condition', 'kept'), [('low == 2', [2]), ('high > 20', [3]), ('high > 20 and low < 3', None)])
def test_an_input_of_a_method_has_the_name_that_the_method_gives_it(condition: str, kept: list[int] | None,
                                                                    tmp_path: Path) -> None:
    call = wrapped_site(Layer().call, 'between')
    with Recorder(tmp_path / 'o.pfd'):
        for number in range(4):
            call(np.float64(number), np.float64(10 * number))
    done = main(['trim', str(tmp_path / 'o.pfd'), '-o', str(tmp_path / 't.pfd'), '--if', condition])
    assert done == (2 if kept is None else 0)
    if kept is not None:
        with Trace.open(tmp_path / 't.pfd') as trace:
            assert [found.ordinal for found in trace.calls(site='between')] == kept


def test_calls_of_one_element_of_a_dataset(tmp_path: Path) -> None:
    with pyfuncdbg.record(tmp_path / 'o.pfd'):
        data = tf.data.Dataset.range(4).map(lambda i: tf.numpy_function(lambda i: i * 10, [i], tf.int64))
        assert [int(value) for value in data] == [0, 10, 20, 30]
    assert main(['trim', str(tmp_path / 'o.pfd'), '-o', str(tmp_path / 't.pfd'), '--if', '1 < element < 3']) == 0
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [call.outputs[0].to_numpy()[()] for call in trace.calls()] == [20]


def test_a_range_of_numbers(original: Path, tmp_path: Path) -> None:
    with Trace.open(original) as trace:
        numbers = first(trace)
    start, end = numbers['ratio[2]'], numbers['ratio[5]']
    assert main(['trim', str(original), f'{start}..{end}', '-o', str(tmp_path / 't.pfd')]) == 0
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [int(call.number) for call in trace.calls()] == list(range(start, end + 1))


@pytest.mark.parametrize(('options', 'said'), [
    ('--site nothing --if x[0]>1', 'no call of'), ('', 'what is to be kept?'),
    ('--if element==1', 'of none of these calls is the element of a dataset known'),
    ('--if x[0]>100', 'no call of'), ('--run x', "--run 'x' is not an integer"),
    ('--around x --bad', "--around 'x' is not an integer"), ('--if history[-1].out', 'look back'), ('nothing[3]', 'nothing'),
    ('--if has_nan(', 'bad condition'), ('--if out.foo', 'AttributeError'),
    ('--if xx[0]>1', "are x, and a trace keeps no other variables. Did you mean 'x'?"),
    ('--if STEP==1', "unknown name 'STEP'; the inputs of these calls are x, and a trace keeps no other")])
def test_what_makes_no_sense_is_refused_and_nothing_is_written(options: str, said: str, original: Path, tmp_path: Path,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['trim', str(original), '-o', str(tmp_path / 't.pfd'), *options.split()]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_packed_and_unpacked(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(['pack', str(original)]) == 0 and main(['unpack', 'o.pfz']) == 0
    assert main(['diff', str(original), 'o.pfd']) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ['o.pfd', 'o.pfz']
    assert capsys.readouterr().out.splitlines()[1] == 'o.pfd; pyfuncdbg show o.pfd'


def test_stripped(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(['pack', str(original), '--strip-values', '--strip-source', '--strip-paths', '-o', 's.pfz']) == 0
    assert main(['unpack', 's.pfz']) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ['s.pfd', 's.pfz']
    with Trace.open('s.pfd') as trace:
        assert {call.inputs[0].level for call in trace.calls()} == {'none'}
        assert not trace.calls()[0].site.filename.startswith('/')


def test_a_packed_trace_is_not_shown_as_it_is(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(['pack', str(original)]) == 0 and main(['show', 'o.pfz']) == 2
    assert capsys.readouterr().err == 'pyfuncdbg: o.pfz: is a packed trace; pyfuncdbg unpack makes a trace of it\n'


def test_what_is_no_packed_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'x.pfz').write_text('hello')
    assert main(['unpack', str(tmp_path / 'x.pfz'), '-o', str(tmp_path / 'x.pfd')]) == 2
    assert main(['unpack', str(tmp_path / 'y.pfz')]) == 2
    damaged, missing = capsys.readouterr().err.splitlines()
    assert 'no packed trace, or damaged' in damaged and missing.endswith('y.pfz: no such file')
    assert [path.name for path in tmp_path.iterdir()] == ['x.pfz']
