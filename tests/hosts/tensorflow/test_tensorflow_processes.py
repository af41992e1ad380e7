"""Several processes of real TensorFlow in one trace: two workers of a `MultiWorkerMirroredStrategy` on this machine."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg

pytestmark = pytest.mark.tensorflow
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
WORKERS = '''
import json, os, socket, subprocess, sys
if len(sys.argv) == 1:
    places = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            places.append('%s:%d' % free.getsockname())
    children = [subprocess.Popen([sys.executable, __file__, str(index)], env={**os.environ, 'TF_CONFIG': json.dumps(
        {'cluster': {'worker': places}, 'task': {'type': 'worker', 'index': index}})}) for index in range(2)]
    sys.exit(max(child.wait() for child in children))
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
number = tf.constant(float(sys.argv[1]))
def doubled(x):
    return x * 2
@tf.function
def step():
    def replica():
        y = tf.ensure_shape(tf.py_function(doubled, [number + 1.0], tf.float32), [])
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, y)
    return strategy.run(replica)
for _ in range(3):
    print(sys.argv[1], float(step()))
'''


def test_workers_of_a_strategy_record_into_one_trace_under_their_names(tmp_path: Path) -> None:
    (tmp_path / 'prog.py').write_text(WORKERS)
    env = dict(os.environ, PYTHONPATH=str(HERE), TF_CPP_MIN_LOG_LEVEL='3')
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', 'prog.py'], cwd=tmp_path, env=env, text=True,
                          capture_output=True, timeout=250)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ['0 6.0'] * 3 + ['1 6.0'] * 3      # 2 of one worker, 4 of the other
    with pyfuncdbg.load(tmp_path / 'prog.pfd') as trace:
        main, *started = trace.info().tree
        workers = sorted(started, key=lambda process: process.label)        # the second may list itself first
        assert [(worker.label, worker.parent, worker.error, worker.ended is None) for worker in workers] == [
            ('worker:0', main.pid, '', False), ('worker:1', main.pid, '', False)]
        for index, worker in enumerate(workers):
            calls = trace.calls(processes=(worker.log,))
            assert [(call.inputs[0].to_numpy().tolist(), call.outputs[0].to_numpy().tolist()) for call in calls] == [
                (index + 1.0, 2 * (index + 1.0))] * 3
    shown = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'prog.pfd', 'calls', '--process', 'worker:1'],
                           cwd=tmp_path, env=env, text=True, capture_output=True, timeout=60).stdout
    assert shown.startswith('3 calls') and 'filter: process worker:1' in shown
