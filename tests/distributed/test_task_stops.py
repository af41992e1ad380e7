"""Stops on the workers of a Dask cluster that the program has started: in tasks of a session, and in the user's own."""
from __future__ import annotations

import os
import re
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

def scaled(x):
    return 1.0 / x

def work(value):
    return float(tf.numpy_function(scaled, [tf.constant(value)], tf.float64))

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
        with pyfuncdbg.distributed.attach(client, 'job.pfd'):
            print('tasks', client.gather(client.map(work, [1.0, 2.0, 4.0])))

if __name__ == '__main__':
    main()
'''


def test_functions_on_workers_stop_and_the_first_process_asks(tmp_path: Path) -> None:
    (tmp_path / 'tasks.py').write_text(PROGRAM)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), os.environ.get('PYTHONPATH', '')]),
                   'PYFUNCDBG_UI': 'prompt'}
    ended = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--quiet', '--break', 'doubled', '--break',
                            'scaled if x == 4', 'tasks.py'], cwd=tmp_path, env=environment, text=True,
                           input='p x * 10\nprocesses\ninject x 7.0\ncont\np x * 100\nprocesses\nx = x / 2\ncont\n',
                           capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    said = ended.stdout + ended.stderr
    assert "STOPPED entering doubled at tasks.py:6, call 1 of node 'twice'" in said
    assert '> 6 def doubled(x):' in said                    # the file is the same on this machine
    assert 'float32 40.0' in said and 'result 14.5' in said
    assert 'worker:1 (pfd) p x * 10\n' in said             # Dask's name of the worker
    assert re.search(r'worker:[01] \(pfd\) p x \* 100\nfloat32 400\.0', said) and 'tasks [1.0, 0.5, 0.5]' in said
    assert len(re.findall(r'^> \d+ +\d+  worker:[01] +prompt', said, re.MULTILINE)) == 2
    with pyfuncdbg.load(tmp_path / 'job.pfd') as trace:
        assert {process.label for process in trace.info().tree} == {'worker:0', 'worker:1'} and trace.info().calls == 3


BODY = '''
from distributed import Client, LocalCluster
import pyfuncdbg.distributed
from pyfuncdbg import tf

v1 = tf.compat.v1

def plus(z):
    return z + 1

if __name__ == '__main__':
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=':0') as cluster, Client(cluster) as client:
        target = tf.distribute.Server({'worker': ['0', '1']}, 'worker', 0, protocol='dask').target
        with tf.Graph().as_default(), v1.Session(target) as sess:
            with tf.device('/job:worker/task:1'):
                w = v1.get_variable('w', initializer=1., use_resource=True)
            def body(i, y):
                before = tf.identity(y, name='before')
                with tf.control_dependencies([before]):
                    add = w.assign_add(1., read_value=False, name='count')
                with tf.control_dependencies([add]), tf.device('/job:worker/task:0'):
                    y = tf.ensure_shape(tf.numpy_function(plus, [y], tf.float32, serialize=True, name='plus'), [])
                return i + 1, y * w
            loop = tf.while_loop(lambda i, _: i < 2, body, [0, 1.])[1]
            sess.run(w.initializer)
            print('result', sess.run(loop))
'''


def test_nodes_of_a_body_on_another_task(tmp_path: Path) -> None:
    """They are steps, over which a run goes back only if they have written to no variable."""
    (tmp_path / 'body.py').write_text(BODY)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), os.environ.get('PYTHONPATH', '')]),
                   'PYFUNCDBG_UI': 'prompt'}
    ended = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--quiet', '--break', 'plus', 'body.py'], cwd=tmp_path,
                           env=environment, text=True, capture_output=True, timeout=120,
                           input='rewind before\n' + 'node\n' * 7 + 'cont\ncont\n')
    assert ended.returncode == 0, ended.stderr
    said = ended.stdout + ended.stderr
    assert "cannot rewind over 'count': it has written to variables of another task" in said
    stop = said.partition("STOPPED before node 'count'  node\n")[2].splitlines()
    assert '  TaskStep  ' in stop[0] and any('<handle on task 1 of the session>' in line for line in stop[:6])
    assert 'result 15.0' in said
