"""Stops in the tasks of a session, each of which is a process that the program has started: the first process asks."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAM = '''
from distributed import Client, LocalCluster
import pyfuncdbg.distributed
from pyfuncdbg import tf

def doubled(x):
    return 2 * x

def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=':0') as workers, Client(workers) as client:
        server = tf.distribute.Server({'worker': ['0', '1']}, 'worker', 0, protocol='dask')
        with tf.Graph().as_default():
            with tf.device('/job:worker/task:0'):
                x = tf.constant(3.0) + 1.0
            with tf.device('/job:worker/task:1'):
                y = tf.numpy_function(doubled, [x], tf.float32, name='twice', serialize=True)
            with tf.compat.v1.Session(server.target) as sess:
                print('result', sess.run(y + 0.5))

if __name__ == '__main__':
    main()
'''


def test_a_function_on_a_task_stops_and_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / 'tasks.py').write_text(PROGRAM)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), os.environ.get('PYTHONPATH', '')]),
                   'PYFUNCDBG_UI': 'prompt'}
    ended = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--quiet', '--break', 'doubled', 'tasks.py'],
                           input='p x * 10\nprocesses\ninject x 7.0\ncont\n', cwd=tmp_path, env=environment, text=True,
                           capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    said = ended.stdout + ended.stderr
    assert "STOPPED entering doubled" in said and "call 1 of node 'twice'" in said
    assert 'created at tasks.py:16  y = tf.numpy_function(doubled' in said
    assert 'float32 40.0' in said and 'result 14.5' in said
