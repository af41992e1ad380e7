"""Traces of several machines as one: nothing is lost or changed but the numbers of processes, and the times fit together.

A machine is simulated by a `sitecustomize` that gives each process there another clock. Both have the same name, as
containers may.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.merged_trace import merge_traces
from pyfuncdbg.observers.record.transfer.trace_copy import copy_trace

HERE = Path(__file__).resolve().parents[4]
MACHINE = """
import time
own_time = time.time
time.time = lambda: own_time() + {clock}
"""
PROGRAM = """
import multiprocessing, os, sys
import numpy as np
from pyfuncdbg import tf
np.__version__ = '{numpy}'

def loss(x):
    return np.float32(x * {factor})

def work(number):
    with tf.compat.v1.Session() as session:
        for step in range(number):
            session.run(tf.numpy_function(loss, [np.float32(step)], tf.float32))

if __name__ == '__main__':
    work(3)
    child = multiprocessing.get_context('spawn').Process(target=work, args=(2,))
    child.start()
    child.join()
    print('done')
"""


def recorded(folder: Path, name: str, clock: float, rank: int, factor: int, numpy: str = '2.0.90') -> Path:
    machine = folder / f'machine {name}'
    machine.mkdir()
    (machine / 'sitecustomize.py').write_text(MACHINE.format(clock=clock))
    (machine / 'train.py').write_text(PROGRAM.format(factor=factor, numpy=numpy))
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--record', str(folder / f'{name}.pfd'), 'train.py'],
                          cwd=machine, capture_output=True, text=True, timeout=100, check=False, env={
                              **os.environ, 'PYTHONPATH': f'{machine}{os.pathsep}{HERE}', 'RANK': str(rank)})
    assert done.stdout == 'done\n' and done.returncode == 0, done.stderr
    return folder / f'{name}.pfd'


@pytest.fixture(scope='module')
def machines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two traces of two processes each; the clock of the second machine is an hour late, and its NumPy another one."""
    folder = tmp_path_factory.mktemp('machines')
    return recorded(folder, 'a', 0, 0, 2), recorded(folder, 'b', -3600, 1, 5, '2.0.91')


def content(call: CallRecord) -> tuple[Any, ...]:
    values = [[value.to_numpy().tolist() for value in some] for some in (call.inputs, call.outputs)]
    return (call.number.rpartition('.')[2], call.site.name, call.ordinal, call.duration, *values,
            [(frame.filename, frame.line) for frame in call.site.stack])


def by_process(path: Path) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    with Trace.open(path) as trace:
        for call in trace.calls():
            found.setdefault(call.process, []).append(content(call))
    return found


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', *words], cwd=cwd, capture_output=True, text=True, timeout=100,
                          check=False, env={**os.environ, 'PYTHONPATH': str(HERE), 'COLUMNS': '140'})


def test_a_merged_trace_has_each_call_as_it_was(machines: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = machines
    merge_traces([one, other], tmp_path / 'all.pfd', {other: 3600.0})
    first, second = by_process(one), by_process(other)
    assert [len(calls) for calls in (*first.values(), *second.values())] == [3, 2, 3, 2]
    assert by_process(tmp_path / 'all.pfd') == {1: first[1], 2: first[2], 3: second[1], 4: second[2]}
    assert [call[5] for call in second[1]] == [[0.0], [5.0], [10.0]]
    with Trace.open(tmp_path / 'all.pfd') as merged, Trace.open(one) as a, Trace.open(other) as b:
        started = {call.process: call.started for call in merged.calls()}
        assert 0 < min(started.values()) < max(started.values()) < 120         # an hour less, as the clock was late
        apart = b.info().started + 3600 - a.info().started
        own = {call.process: call.started for call in b.calls()}
        assert started[3] == pytest.approx(own[1] + apart, abs=1e-5)
        tree = merged.info().tree
        assert [(process.label, process.log, process.is_forked) for process in tree if process.log] == [
            ('rank:0', 1, False), ('rank:0', 2, False), ('rank:1', 3, False), ('rank:1', 4, False)]
        assert all(process.ended is not None and not process.error for process in tree if process.log)
        assert {call.process for call in merged.calls(process=3)} == {3}
        assert merged.info().complete and merged.info().budget == a.info().budget + b.info().budget


def test_the_command_says_what_the_clocks_mean(machines: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = machines
    done = command('merge', str(one), str(other), '-o', 'all.pfd', cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith('all.pfd  10 calls of 4 processes, '), done.stderr
    assert f'{other} had ended 3,5' in done.stderr and f'add --clock {one}=SECONDS' in done.stderr
    with Trace.open(one) as a, Trace.open(other) as b:
        apart = a.info().started - b.info().started
    done = command('merge', str(one), str(other), '-o', 'right.pfd', '--clock', f'{other}={apart}', cwd=tmp_path)
    unlike = 'NumPy 2.0.90 in processes #1, #2, 2.0.91 in processes #3, #4'
    assert done.returncode == 0 and done.stderr == f'pyfuncdbg: different versions: {unlike}\n', done.stderr
    shown = command('show', 'right.pfd', 'info', cwd=tmp_path).stdout
    assert 'merged of  a.pfd  processes #1 to #2\n' in shown and f'unlike     {unlike}\n' in shown, shown
    assert 'unlike' not in command('show', str(one), 'info', cwd=tmp_path).stdout
    assert f'b.pfd  processes #3 to #4, {apart:+,.3f} s added to its clock\n' in shown and apart > 3000
    assert 'Times are by the clock of each machine, corrected as said above.' in shown and 'is not known' not in shown
    shown = command('show', 'all.pfd', 'info', cwd=tmp_path).stdout
    assert 'Times are by the clock of each machine: how far these differ is not known.' in shown
    listed = command('show', 'right.pfd', 'calls', '--rank', '1', cwd=tmp_path).stdout
    assert listed.count('#3.') == 3 and listed.count('#4.') == 2 and '#2.' not in listed, listed


def test_traces_of_a_merged_trace_keep_their_clocks(machines: tuple[Path, Path], tmp_path: Path) -> None:
    """In a copy, and where it is merged once more."""
    one, other = machines
    merge_traces([one, other], tmp_path / 'all.pfd', {other: 3600.0})
    copy_trace(tmp_path / 'all.pfd', tmp_path / 'copy.pfd')
    third = tmp_path / 'third.pfd'
    shutil.copytree(one, third)
    manifest = json.loads((third / 'manifest.json').read_text())
    (third / 'manifest.json').write_text(json.dumps({**manifest, 'id': 'another'}))
    merge_traces([third, tmp_path / 'copy.pfd'], tmp_path / 'more.pfd', {tmp_path / 'copy.pfd': 1.0})
    with Trace.open(tmp_path / 'all.pfd') as merged, Trace.open(tmp_path / 'copy.pfd') as copy, Trace.open(
            tmp_path / 'more.pfd') as more:
        assert [(part.name, part.first, part.last, part.clock) for part in more.info().parts] == [
            ('third.pfd', 1, 2, 0.0), ('copy.pfd/a.pfd', 3, 4, 1.0), ('copy.pfd/b.pfd', 5, 6, 3601.0)]
        times = [(call.process, call.started) for call in merged.calls()]
        assert [(call.process, call.started) for call in copy.calls()] == times
        later = [(call.process - 2, call.started - 1) for call in more.calls() if call.process > 2]
        assert [number for number, _ in later] == [number for number, _ in times]
        assert [at for _, at in later] == pytest.approx([at for _, at in times], abs=1e-5)


def test_what_cannot_be_merged_is_said_and_nothing_is_left(machines: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = machines
    target = tmp_path / 'all.pfd'
    with pytest.raises(TraceError, match='is the same trace as'):
        merge_traces([one, other, one], target, {})
    with pytest.raises(TraceError, match='no such file or folder'):
        merge_traces([one, tmp_path / 'none.pfd'], target, {})
    with pytest.raises(TraceError, match='is in the folder of a trace'):
        merge_traces([one, other], one / 'all.pfd', {})
    secret = tmp_path / 'secret'
    secret.write_text('private')
    hostile = tmp_path / 'hostile.pfd'
    shutil.copytree(other, hostile)
    log = next(hostile.glob('*-0001.log'))
    log.unlink()
    log.symlink_to(secret)
    with pytest.raises(TraceError):
        merge_traces([one, hostile], target, {})
    assert not target.exists()
    for words, said in ((['a.pfd'], 'alone is one trace already'),
                        (['a.pfd', 'b.pfd', '--clock', 'c.pfd=1'], 'names no trace'),
                        (['a.pfd', 'b.pfd', '--clock', 'b.pfd=nan'], "'nan' is not a number of seconds")):
        done = command('merge', *words, '-o', str(target), cwd=one.parent)
        assert done.returncode == 2 and said in done.stderr and not target.exists(), done.stderr
    target.mkdir()
    with pytest.raises(TraceError, match='exists already'):
        merge_traces([one, other], target, {})


@pytest.mark.parametrize('parts', [[['x', 1]], 'text', [[1, 2, 3, 'a']], [['x', 1, 2, float('nan')]], 7])
def test_hostile_parts_of_a_manifest(machines: tuple[Path, Path], tmp_path: Path, parts: Any) -> None:
    shutil.copytree(machines[0], tmp_path / 'it.pfd')
    manifest = json.loads((tmp_path / 'it.pfd' / 'manifest.json').read_text())
    (tmp_path / 'it.pfd' / 'manifest.json').write_text(json.dumps({**manifest, 'parts': parts}))
    with pytest.raises(TraceError, match='damaged'):
        Trace.open(tmp_path / 'it.pfd').info()
