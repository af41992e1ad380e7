"""Servers of one process: their tasks, what is pinned to them, their variables, and that nothing about them hangs."""
from __future__ import annotations

import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices, device_for, placement

v1 = tf.compat.v1


def port() -> int:
    with socket.socket() as free:
        free.bind(('', 0))
        return int(free.getsockname()[1])


@pytest.fixture
def cluster() -> Any:
    spec = tf.train.ClusterSpec({'worker': [f'localhost:{port()}'], 'ps': [f'localhost:{port()}']})
    return tf.distribute.Server(spec, 'worker', 0), tf.distribute.Server(spec, 'ps', 0)


def test_python_functions_pinned_to_two_servers(cluster: Any) -> None:
    worker, ps = cluster
    ran: list[tuple[str, float]] = []

    def noted(name: str, result: Any) -> Any:
        ran.append((name, float(result)))
        return result
    with v1.Graph().as_default():
        with tf.device('/job:worker/task:0'):
            a = v1.py_func(lambda: noted('worker', np.float32(1)), [], tf.float32)
        with tf.device('/job:ps/task:0'):
            b = tf.py_function(lambda x: noted('ps', x + 1), [a], tf.float32)
        with tf.device('/job:ps/task:5'):
            v1.py_func(lambda: np.float32(1), [], tf.float32, name='elsewhere')
        for server in (worker, ps):
            with v1.Session(server.target) as session, pytest.raises(tf.errors.InvalidArgumentError) as failure:
                session.run(b)
            assert ("Cannot assign a device for operation elsewhere: {{node elsewhere}} was explicitly assigned to "
                    '/job:ps/task:5 but available devices are [ /job:ps/replica:0/task:0/device:CPU:0, '
                    '/job:worker/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers to a valid '
                    'device.') in str(failure.value)
            assert failure.value.op.name == 'elsewhere'
    assert ran == []
    with v1.Graph().as_default():
        with tf.device('/job:worker/task:0'):
            a = v1.py_func(lambda: noted('worker', np.float32(1)), [], tf.float32)
        with tf.device('/job:ps'):
            b = tf.py_function(lambda x: noted('ps', x + 1), [a], tf.float32)
        for server in (worker, ps):
            with v1.Session(server.target) as session:
                assert session.run(b) == 2.
    assert ran == [('worker', 1.), ('ps', 2.)] * 2


def test_a_task_without_a_server_here_is_no_device() -> None:
    spec = {'worker': [f'localhost:{port()}'], 'ps': [f'localhost:{port()}']}
    worker = tf.distribute.Server(spec, 'worker', 0)
    with v1.Graph().as_default(), v1.Session(worker.target) as session:
        assert [d.name for d in session.list_devices()] == ['/job:worker/replica:0/task:0/device:CPU:0']
        with tf.device('/job:ps'):
            x = tf.constant(1.) + 1.
        with pytest.raises(tf.errors.InvalidArgumentError, match=r'was explicitly assigned to /job:ps but available'):
            session.run(x)
        ps = tf.distribute.Server(spec, 'ps', 0)
    with v1.Session(worker.target, graph=x.graph) as session:
        assert session.run(x) == 2. and ps.target != worker.target


def test_variables_live_on_their_task(cluster: Any) -> None:
    worker, ps = cluster
    with v1.Graph().as_default() as graph:
        with tf.device('/job:ps'):
            v = v1.get_variable('v', initializer=1., use_resource=True)
        w = v1.get_variable('w', initializer=100., use_resource=True)       # on the task of the session
        add, init = v.assign_add(1.), v1.global_variables_initializer()
    one, two = v1.Session(worker.target, graph=graph), v1.Session(ps.target, graph=graph)
    one.run(init)
    one.run(add)
    two.run(add)
    assert one.run([v, w]) == [3., 100.] and two.run(v) == 3.
    with pytest.raises(tf.errors.FailedPreconditionError):
        two.run(w)
    one.close()
    assert two.run(v) == 3.
    v1.Session.reset(ps.target)
    with pytest.raises(tf.errors.FailedPreconditionError):
        two.run(v)
    with v1.Session(graph=graph) as local, pytest.raises(tf.errors.InvalidArgumentError, match='assign a device'):
        local.run(v)


def test_threads_add_to_a_variable_of_a_server() -> None:
    server = v1.train.Server.create_local_server()
    with v1.Graph().as_default() as graph:
        v = v1.get_variable('v', initializer=0., use_resource=True)
        up = v1.py_func(lambda: np.float32(1), [], tf.float32)
        read, init = v.read_value(), v1.global_variables_initializer()
    v1.Session(server.target, graph=graph).run(init)
    seen: list[float] = []

    def work() -> None:
        with v1.Session(server.target, graph=graph) as session:
            seen.extend(session.run(up) + session.run(read) for _ in range(50))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == [1.] * 200


# ---------------------------------------------------------------- what is refused
def test_a_port_that_is_taken() -> None:
    server = v1.train.Server.create_local_server()
    address = server.target.removeprefix('grpc://')
    with pytest.raises(tf.errors.UnknownError, match='Could not start gRPC server'):
        v1.train.Server({'a': [address]})
    with v1.Graph().as_default(), v1.Session(server.target) as session:
        assert session.run(tf.constant(1.)) == 1.


@pytest.mark.parametrize('address', ['nonsense', 'localhost:', 'localhost:x', 'localhost:99999', ''])
def test_no_address(address: str) -> None:
    with pytest.raises(tf.errors.OpError, match='Could not parse port'):
        v1.train.Server({'a': [address]})


def test_a_server_that_is_not_of_this_process() -> None:
    target = f'grpc://localhost:{port()}'
    with v1.Graph().as_default():
        x = tf.constant(1.)
        session = v1.Session(target)
        for ask in (lambda: session.run(x), session.list_devices, lambda: v1.Session.reset(target)):
            with pytest.raises(tf.errors.UnavailableError, match=f'no server of this process is at {target}'):
                ask()
        session.close()


def test_a_server_that_was_not_started() -> None:
    server = v1.train.Server.create_local_server(start=False)
    with v1.Graph().as_default():
        x = tf.constant(1.)
        with pytest.raises(tf.errors.UnavailableError):
            v1.Session(server.target).run(x)
        server.start()
        server.start()
        assert v1.Session(server.target).run(x) == 1.


def test_join_is_interrupted() -> None:
    code = textwrap.dedent('''
        import pyfuncdbg.tf as tf
        server = tf.compat.v1.train.Server.create_local_server()
        print('joining', flush=True)
        try:
            server.join()
        except KeyboardInterrupt:
            print('interrupted', flush=True)
    ''')
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == 'joining\n'
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == 'interrupted\n' and child.returncode == 0


# ---------------------------------------------------------------- placement
HERE = Devices((DeviceSpecV2('ps', 0, 0, 'CPU', 0), DeviceSpecV2('ps', 0, 1, 'CPU', 0), DeviceSpecV2('w', 0, 0, 'CPU', 0)),
               DeviceSpecV2('w', 0, 0, 'CPU', 0))


@pytest.mark.parametrize(('name', 'soft', 'found'), [
    ('', False, '/job:w/replica:0/task:0/device:CPU:0'), ('/job:ps', False, '/job:ps/replica:0/task:0/device:CPU:0'),
    ('/task:1', False, '/job:ps/replica:0/task:1/device:CPU:0'), ('/job:ps/gpu:3', False, None),
    ('/job:ps/task:1/gpu:3', True, '/job:ps/replica:0/task:1/device:CPU:0'), ('/job:none', True, None),
    ('/cpu:1', False, None), ('/replica:1', True, None),
])
def test_which_device_a_name_means(name: str, soft: bool, found: str | None) -> None:
    device = device_for(name, HERE, soft)
    assert found == (None if device is None else device.to_string())


def test_placement_is_data() -> None:
    with v1.Graph().as_default() as graph:
        with tf.device('/job:ps/task:1'):
            a = tf.constant(1., name='a')
        b = tf.identity(a, name='b')
    placed = placement(graph.get_operations(), HERE, False)
    assert {op.name: (device.job, device.task) for op, device in placed.items()} == {'a': ('ps', 1), 'b': ('w', 0)}
    assert b.device == ''


def test_placement_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with v1.Graph().as_default():
        a = tf.constant(1., name='a')
        b = tf.identity(a, name='b')
        with v1.Session(config=v1.ConfigProto(log_device_placement=True)) as session:
            session.run(b)
            assert capsys.readouterr().out == ('b: (Identity): /job:localhost/replica:0/task:0/device:CPU:0\n'
                                               'a: (Const): /job:localhost/replica:0/task:0/device:CPU:0\n')
            session.run(b)
            tf.identity(b, name='c')
            session.run(a)
            assert capsys.readouterr().out == 'c: (Identity): /job:localhost/replica:0/task:0/device:CPU:0\n'
