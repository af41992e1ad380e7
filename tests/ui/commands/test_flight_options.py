"""`run --keep-on`: what is left in the folder, and what is said, is what the condition asked for."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
from pyfuncdbg.observers.record.records import UNCAUGHT
from pyfuncdbg.observers.record.trace import Trace

ENVIRONMENT = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[3]), COLUMNS='120')
PROGRAM = '''
import sys
import numpy as np
from pyfuncdbg import tf

def f(x):
    if x[0] == 31: raise ValueError('thirty-one')
    return np.where(x == 20, np.nan, x).astype(np.float32)

for number in range(int(sys.argv[1])):
    tf.numpy_function(f, [np.full(2, number, np.float32)], tf.float32)
print('done')
'''


def flown(folder: Path, *options: str, calls: int = 30) -> subprocess.CompletedProcess[str]:
    (folder / 'prog.py').write_text(PROGRAM)
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', *options, 'prog.py', str(calls)], cwd=folder,
                          capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)


def ordinals(path: Path) -> list[int]:
    with Trace.open(path) as trace:
        return [call.ordinal for call in trace.calls()]


def test_the_calls_around_a_nan_are_kept(tmp_path: Path) -> None:
    done = flown(tmp_path, '--keep-on', 'has_nan(out)', '--before', '4', '--after', '2')
    assert (done.returncode, done.stdout) == (0, 'done\n')
    kept, last = done.stderr.splitlines()
    assert kept.startswith('pyfuncdbg: kept has_nan(out) at call #21 (PyFunc[20]): 4 calls before, 2 calls after, in ')
    assert last == 'pyfuncdbg: has_nan(out): 1 trace; 23 calls not written'
    assert ordinals(tmp_path / 'prog.pfd') == [16, 17, 18, 19, 20, 21, 22]
    shown = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'info'], cwd=tmp_path, text=True,
                           capture_output=True, env=ENVIRONMENT, check=True).stdout
    assert 'for has_nan(out) at #21 PyFunc[20], with 4 calls before it' in shown and 'not kept: calls 16' in shown


def test_nothing_is_left_where_the_condition_never_holds(tmp_path: Path) -> None:
    done = flown(tmp_path, '--keep-on', 'error')
    assert done.stderr == 'pyfuncdbg: error: no trace; 30 calls not written\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ['prog.py']


def test_an_error_that_ends_the_program_is_kept(tmp_path: Path) -> None:
    done = flown(tmp_path, '--keep-on', 'error', '--before', '2', '--record', 'night.pfd', calls=40)
    assert done.returncode == 1 and done.stdout == ''
    assert ordinals(tmp_path / 'night.pfd') == [29, 30, 31]
    with Trace.open(tmp_path / 'night.pfd') as trace:
        assert [note.data['error'] for note in trace.notes(UNCAUGHT)] and trace.info().complete


def test_several_conditions(tmp_path: Path) -> None:
    done = flown(tmp_path, '--keep-on', 'has_nan(out)', '--keep-on', 'x[0] == 3', '--before', '1', '--after', '0')
    first, second, last = done.stderr.splitlines()
    assert 'kept x[0] == 3 at call #4 ' in first and 'kept has_nan(out) at call #21 ' in second
    assert last == 'pyfuncdbg: has_nan(out), x[0] == 3: 2 traces; 26 calls not written'
    assert [ordinals(tmp_path / name) for name in ('prog.pfd', 'prog-2.pfd')] == [[2, 3], [19, 20]]


def test_a_mistake_in_the_condition_starts_nothing(tmp_path: Path) -> None:
    done = flown(tmp_path, '--keep-on', 'has_nan(')
    assert done.returncode == 2 and 'bad condition' in done.stderr and done.stdout == ''


def test_levels_and_a_sample_of_the_command_line(tmp_path: Path) -> None:
    done = flown(tmp_path, '--level', 'float64=none,Py*=full', '--every', '7')
    assert done.returncode == 0 and 'not kept: unsampled calls 25' in done.stderr
    with Trace.open(tmp_path / 'prog.pfd') as trace:
        assert [call.ordinal for call in trace.calls()] == [0, 7, 14, 21, 28]
        assert {call.inputs[0].level for call in trace.calls()} == {'full'}


def test_a_signal_switches_the_recording_of_a_program(tmp_path: Path) -> None:
    (tmp_path / 'prog.py').write_text(PROGRAM.replace('for number', """
import os, signal, time
from pyfuncdbg.observers.record.recording_switch import recordings

def switched(off):
    os.kill(os.getpid(), signal.SIGUSR1)
    while recordings()[0].is_paused is not off: time.sleep(0.01)

for number""", 1).replace('    tf.numpy', '    if number in (10, 20): switched(number == 10)\n    tf.numpy'))
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--signal', 'prog.py', '30'], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (0, 'done\n')
    assert 'recording is off, by SIGUSR1' in done.stderr and 'recording was off from' in done.stderr
    with Trace.open(tmp_path / 'prog.pfd') as trace:
        assert [call.inputs[0].to_numpy()[0] for call in trace.calls()] == [*range(10), *range(20, 30)]


def test_the_same_in_a_program(tmp_path: Path) -> None:
    recorder = pyfuncdbg.record(tmp_path / 'x.pfd', keep_on='has_nan(out)', before=3, after=1, keep_most=2)
    assert isinstance(recorder, FlightRecorder)
    from pyfuncdbg import tf
    with recorder:
        for number in range(10):
            tf.numpy_function(lambda x: np.float64('nan') if x > 5 else x, [np.float64(number)], tf.float64)
    (path,) = recorder.traces
    with Trace.open(path) as trace:
        assert [call.inputs[0].to_numpy() for call in trace.calls()] == [3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize('keep_on', ['x >', 3])
def test_a_condition_that_is_none_is_refused(keep_on: object) -> None:
    with pytest.raises(pyfuncdbg.errors.CommandError):
        pyfuncdbg.record(keep_on=keep_on)
