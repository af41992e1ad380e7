"""Recording of the workers of real Dask clusters: of processes that are killed, join later, or lack this package.

Each program is one as a user writes it, with clusters of its own, and prints what it has seen.
"""
from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import pyfuncdbg
from pyfuncdbg.errors import AttachError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.views.reports.info import info_view

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
WORK = '''
import asyncio, glob, json, os, shutil, signal, sys, tempfile, time
from distributed import Client, LocalCluster
import pyfuncdbg
from pyfuncdbg import tf

SMALL = {'threads_per_worker': 1, 'dashboard_address': ':0'}

def scaled(x):
    print('scaled', x)
    return 1.0 / x

def work(value):
    return float(tf.numpy_function(scaled, [tf.constant(value)], tf.float64))

def refused(x):
    raise ValueError(f'no {x}')

def fail(value):
    return tf.numpy_function(refused, [tf.constant(value)], tf.float64)

def outcomes(client, workers):
    """What a program has of its tasks: results bit for bit, an exception."""
    futures = [client.submit(work, float(number), workers=[workers[number % 2]], pure=False) for number in range(1, 6)]
    error = client.submit(fail, 3.0, workers=[workers[1]], pure=False).exception()
    return [value.hex() for value in client.gather(futures)], type(error).__name__, str(error)

def left_behind():
    return glob.glob(os.path.join(os.environ['TMPDIR'], 'pyfuncdbg-*'))

def written(name, text):
    with open(name, 'w') as file:
        file.write(text)
    return name

def lose_log(dask_worker):
    """What a machine that is gone takes along."""
    from pyfuncdbg.distributed import worker_recording
    (recording,) = worker_recording._recordings.values()
    shutil.rmtree(recording._recorder.path)
    os.kill(os.getpid(), signal.SIGKILL)
'''
PROCESSES = WORK + '''
if __name__ == '__main__':
    # As if the workers were on another machine: its clock is an hour late, and its temporary files are elsewhere.
    late = written('late.py', 'import time\\nfrom pyfuncdbg.distributed import worker_recording\\n'
                              'worker_recording.clock = lambda: time.time() - 3600\\n')
    with LocalCluster(n_workers=2, preload=[late], **SMALL) as cluster, Client(cluster) as client:
        tempfile.tempdir = os.getcwd()
        def by_name():
            return {info['name']: (address, info['host'], client.run(os.getpid, workers=[address])[address])
                    for address, info in client.scheduler_info(n_workers=-1)['workers'].items()}
        workers = [by_name()[number][0] for number in (0, 1)]
        plain = outcomes(client, workers)
        with pyfuncdbg.distributed.attach(client, 'job.pfd', budget=4 << 20) as recording:
            watched = outcomes(client, workers)
            cluster.scale(3)
            client.wait_for_workers(3, timeout=60)
            known = by_name()
            client.submit(work, 16.0, workers=[known[2][0]], pure=False).result()
            time.sleep(0.5)
            client.run(lose_log, workers=[known[2][0]], on_error='ignore')
            client.submit(work, 32.0, workers=[known[1][0]], pure=False).result()
            time.sleep(0.5)
            client.run(os.kill, known[1][2], signal.SIGKILL, workers=[known[1][0]], on_error='ignore')
        plugins = client.run(lambda dask_worker: list(dask_worker.plugins), on_error='ignore')
        print(json.dumps({'plain': plain, 'watched': watched, 'missing': recording.missing, 'left': left_behind(),
                          'pids': {name: one[2] for name, one in known.items()},
                          'plugins': [name for names in plugins.values() for name in names if len(name) == 32]}))
'''
FOLLOWED = WORK + '''
if __name__ == '__main__':
    with LocalCluster(n_workers=1, **SMALL) as cluster, Client(cluster) as client:
        print(json.dumps(client.gather(client.map(work, [2.0, 4.0]))))
'''
OTHERS = WORK + '''
def refusal(client, **options):
    try:
        with pyfuncdbg.distributed.attach(client, **options):
            return 'begun'
    except Exception as error:
        return f'{type(error).__name__}: {error}'

async def in_coroutine():
    async with Client(processes=False, n_workers=1, asynchronous=True, **SMALL) as client:
        text = refusal(client, path='coroutine.pfd')
        async with pyfuncdbg.distributed.attach(client, 'coroutine.pfd') as recording:
            await client.submit(work, 4.0)
        return text, recording.missing

if __name__ == '__main__':
    said = {}
    with LocalCluster(n_workers=2, processes=False, **SMALL) as cluster, Client(cluster) as client:
        with pyfuncdbg.distributed.attach(client, 'threads.pfd') as recording:
            client.gather(client.map(work, [1.0, 2.0, 4.0]))
        work(5.0)
        said['threads'] = recording.missing
        said['taken'] = refusal(client, path='threads.pfd')
        said['nowhere'] = refusal(client, path='no/such/folder.pfd')
        said['budget'] = refusal(client, path='x.pfd', budget=3)
        said['exist'] = refusal(client, path='x.pfd', exist='replace')
        said['patience'] = refusal(client, path='x.pfd', patience=0)
        recording = pyfuncdbg.distributed.attach(client, 'closed.pfd')
        with recording:
            work(6.0)
            client.close()
            cluster.close()
        said['closed'] = recording.missing
    said['coroutine'] = asyncio.run(in_coroutine())
    without = written('without.py', 'import sys\\nsys.modules["pyfuncdbg"] = None\\n')
    with LocalCluster(n_workers=0, preload=[without], **SMALL) as cluster, Client(cluster) as client:
        recording = pyfuncdbg.distributed.attach(client, 'without.pfd')
        with recording:
            cluster.scale(1)
            client.wait_for_workers(1, timeout=60)
            said['works on'] = client.submit(sum, (1, 2)).result()
        said['without'] = recording.missing
        said['at once'] = refusal(client, path='without.pfd')
    said['left'] = left_behind() + [name for name in os.listdir() if name.startswith('.')]
    print(json.dumps(said))
'''


def ran(folder: Path, source: str, *words: str) -> tuple[dict[str, Any], str]:
    """What a program printed at last, and its stderr."""
    temporary = folder / 'tmp'
    temporary.mkdir()
    (folder / 'job.py').write_text(source)
    done = subprocess.run([sys.executable, *words, 'job.py'], cwd=folder, capture_output=True, text=True, timeout=110,
                          check=False, env={**os.environ, 'PYTHONPATH': str(HERE), 'TMPDIR': str(temporary)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def numbers_by_label(path: Path) -> dict[str, list[float]]:
    """The inputs of the calls in a trace, sorted, by the label of their process."""
    found: dict[str, list[float]] = {}
    with Trace.open(path) as trace:
        labels = {process.log: process.label for process in trace.info().tree}
        for call in trace.calls():
            found.setdefault(labels[call.process], []).append(float(call.inputs[0].to_numpy()))
    return {label: sorted(values) for label, values in found.items()}


def test_workers_that_are_killed_or_join_later_are_in_one_trace(tmp_path: Path) -> None:
    said, errors = ran(tmp_path, PROCESSES)
    assert said['watched'] == said['plain'] and said['plain'][0][1] == 0.5.hex()
    assert said['left'] == said['plugins'] == []
    pids = said['pids']

    assert numbers_by_label(tmp_path / 'job.pfd') == {'worker:0': [2.0, 4.0], 'worker:1': [1.0, 3.0, 3.0, 5.0, 32.0]}
    killed = [line for line in said['missing'] if line.startswith(f'worker:1: process {pids["1"]} did not close its log')]
    lost = [line for line in said['missing'] if line.startswith(f'worker:2 (process {pids["2"]} of ')]
    assert len(killed) == len(lost) == 1 and 'could not be fetched' in lost[0]
    assert all(f'pyfuncdbg: job.pfd: {line}\n' in errors for line in said['missing'])

    with Trace.open(tmp_path / 'job.pfd') as trace:
        info = trace.info()
        tree = {process.pid: process for process in info.tree}
        assert [tree[pids[name]].label for name in '012'] == ['worker:0', 'worker:1', 'worker:2']
        assert tree[pids['0']].ended is not None and tree[pids['1']].ended is None and tree[pids['2']].log == 0
        assert 'could not be fetched' in tree[pids['2']].unrecorded
        assert info.parts[0].name == 'worker:0' and all(abs(part.clock - 3600) < 60 for part in info.parts)
        assert all(part.uncertainty is not None and part.uncertainty < 30 for part in info.parts)
        console = Console(file=io.StringIO(), width=150)
        console.print(info_view(info))
        assert 'times of two of these differ by ' in console.file.getvalue()  # type: ignore[attr-defined]
        (failed,) = [call for call in trace.calls() if call.error is not None]
        assert failed.error.type == 'ValueError' and tree[pids['1']].log == failed.process
        first = next(call for call in trace.calls(process=tree[pids['0']].log))
        assert ''.join(one.text for one in first.output) == 'scaled 2.0\n'
    shown = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'job.pfd', 'calls', '--rank', '0', '--json'],
                           cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
                           env={**os.environ, 'PYTHONPATH': str(HERE)}).stdout
    assert len(json.loads(shown)['calls']) == 2


def test_threads_coroutines_and_clusters_that_cannot_record(tmp_path: Path) -> None:
    said, errors = ran(tmp_path, OTHERS)
    assert said['threads'] == [] and numbers_by_label(tmp_path / 'threads.pfd') == {'': [1.0, 2.0, 4.0]}
    assert 'already holds a trace' in said['taken'] and 'cannot record there' in said['nowhere']
    assert 'budget of 3 bytes' in said['budget'] and "exist='replace'" in said['exist'] and 'patience=0' in said['patience']
    assert not (tmp_path / 'x.pfd').exists()
    # The trace of a cluster that was closed in the block is taken from this machine.
    assert len(said['closed']) == 1 and 'the cluster cannot be asked' in said['closed'][0]
    assert numbers_by_label(tmp_path / 'closed.pfd') == {'': [6.0]}
    text, missing = said['coroutine']
    assert 'async with' in text and missing == [] and numbers_by_label(tmp_path / 'coroutine.pfd') == {'worker:0': [4.0]}

    assert said['works on'] == 3
    assert any('worker:0' in line and 'ModuleNotFoundError' in line for line in said['without'])
    assert any('no worker has recorded anything' in line for line in said['without'])
    assert said['at once'].startswith('AttachError: 1 of 1 workers cannot record: tcp://') and 'pyfuncdbg' in said['at once']
    assert said['left'] == []
    assert not (tmp_path / 'without.pfd').exists()
    assert 'Traceback' not in errors


def test_a_program_that_is_followed_has_its_workers_by_their_names(tmp_path: Path) -> None:
    values, errors = ran(tmp_path, FOLLOWED, '-m', 'pyfuncdbg', 'run', '-q', '--record', 'run.pfd')
    assert values == [0.5, 0.25] and not errors
    assert numbers_by_label(tmp_path / 'run.pfd') == {'worker:0': [2.0, 4.0]}


def test_what_is_no_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttachError, match=r'attach takes a client .* this is a builtins\.str'):
        pyfuncdbg.distributed.attach('tcp://127.0.0.1:8786')
    monkeypatch.setitem(sys.modules, 'distributed', None)
    with pytest.raises(AttachError, match=r"pip install 'pyfuncdbg\[distributed\]'"):
        pyfuncdbg.distributed.attach('tcp://127.0.0.1:8786')
