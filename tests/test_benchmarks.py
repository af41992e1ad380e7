"""The benchmarks' own sums: which way a target points, what is compared, and that figures come back from their file."""
from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests' / 'benchmarks'))
from benchmark_report import read_json  # noqa: E402
from measurement import REPORTED, DifferentValuesError, Figure, Row, Side, Target, equal, measure  # noqa: E402


def sides(ours: float, peer: float | None) -> tuple[Side, Side | None]:
    """Work of other processes, which took so many microseconds."""
    return Side('ours', lambda: ours), None if peer is None else Side('theirs', lambda: peer)


@pytest.mark.parametrize(('kind', 'bound', 'peer', 'compared', 'met'), [
    ('faster', 3, 40.0, 4.0, True), ('faster', 5, 40.0, 4.0, False), ('time', 0.3, 40.0, 0.25, True),
    ('time', 0.2, 40.0, 0.25, False), ('adds', 7, 4.0, 6.0, True), ('adds', 5, 4.0, 6.0, False),
    ('takes', 10, None, 10.0, True), ('takes', 9, None, 10.0, False), ('faster', 3, None, None, None)])
def test_a_row_says_whether_its_target_is_met(kind: str, bound: float, peer: float | None, compared: float | None,
                                              met: bool | None) -> None:
    found = measure(Row('row', lambda: sides(10.0, peer), Target(kind, bound), clock=REPORTED, seconds=0))
    assert (found.compared.median if found.compared is not None else None, found.met) == (compared, met)
    assert found.ours.median == 10.0 and found.against == ('theirs' if peer is not None else '')


def test_a_target_between_the_quartiles_is_neither_met_nor_missed() -> None:
    times = itertools.cycle([8.0, 12.0, 10.0, 14.0])
    row = Row('row', lambda: (Side('ours', lambda: next(times)), None), Target('takes', 11), clock=REPORTED, seconds=0)
    assert measure(row).met is None


def test_a_piece_of_work_that_is_many_calls_is_told_by_call() -> None:
    found = measure(Row('row', lambda: sides(10.0, 20.0), kind='adds', calls=5, clock=REPORTED, seconds=0))
    assert found.ours.median == 2.0 and found.compared is not None and found.compared.median == -2.0 and found.met is None


def test_sides_that_compute_something_else_are_not_timed() -> None:
    times = []

    def row(value: float) -> Row:
        return Row('row', lambda: (Side('ours', lambda: times.append(1) or np.float32(1)),
                                   Side('theirs', lambda: [value][0])), series=1, seconds=0)
    with pytest.raises(DifferentValuesError, match=r'row: ours gives .*1\.0.*, theirs 1\.01'):
        measure(row(1.01))
    assert len(times) == 1
    assert measure(row(1.0)).series >= 7
    assert equal([np.ones(2), (1, None)], [np.ones(2), (1, None)]) and not equal([1], [1, 2]) and not equal(None, 1)
    assert equal(np.float32(np.nan), np.float32(np.nan)) and not equal(np.ones(2), np.array([1, 1.001]))


def test_the_command_measures_writes_and_compares(tmp_path: Path) -> None:
    name = 'call with 64 floats, a breakpoint elsewhere'

    def run(*words: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != 'COLUMNS'}
        command = [sys.executable, '-m', 'tests.benchmarks', 'bench_breakpoints', name, *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    picture = ['--svg', str(tmp_path / 'curves.svg')] if importlib.util.find_spec('matplotlib') else []
    text = run('--json', str(tmp_path / 'one.json'), 'no such row', *picture)
    assert "no row has 'no such row' in its name" in text and not (tmp_path / 'curves.svg').exists()
    assert ('curves.svg is not written' in text) is bool(picture)
    content = json.loads((tmp_path / 'one.json').read_text())
    (row,) = content['rows']['bench_breakpoints']
    assert list(content['rows']) == ['bench_breakpoints'] and row['against'] == 'without' and row['ours']['median'] > 0
    assert f'{name}, per call' in ' '.join(text.split())
    row['compared'] = {'median': 9e9, 'low': 8e9, 'high': 9.5e9}
    (tmp_path / 'one.json').write_text(json.dumps(content))
    assert '+9e+09 µs' in run('--against', str(tmp_path / 'one.json'))
    assert read_json(tmp_path / 'one.json')[name].compared == Figure(9e9, 8e9, 9.5e9)


def test_what_cannot_be_done_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / 'bad.json').write_text('[1]')
    for words, code, said in ((['--against', tmp_path / 'bad.json'], 1, 'no figures of an earlier run (TypeError'),
                              (['--json', tmp_path / 'none' / 'a.json'], 2, 'a.json: cannot be written there'),
                              (['--json', '/proc/a.json'], 2, '--json /proc/a.json: cannot be written there'),
                              (['--svg', tmp_path], 2, f'--svg {tmp_path}: cannot be written there')):
        done = _refused(*words)
        assert (done.returncode, done.stdout) == (code, '') and said in done.stderr, words


def test_words_that_no_row_has_are_an_error() -> None:
    done = _refused('bench_breakpoints', 'no such row')
    assert done.returncode == 1 and "nothing measured: no row has 'no such row' in its name; scripts: " in done.stderr


def _refused(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'tests.benchmarks', *map(str, words)], cwd=ROOT, capture_output=True,
                          text=True, timeout=60)
