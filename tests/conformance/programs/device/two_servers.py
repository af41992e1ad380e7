import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

import socket


def port():
    with socket.socket() as s:
        s.bind(('', 0))
        return s.getsockname()[1]


v1 = tf.compat.v1
cluster = tf.train.ClusterSpec({'worker': ['localhost:%d' % port()], 'ps': ['localhost:%d' % port()]})
worker = tf.distribute.Server(cluster, 'worker', 0)
ps = tf.distribute.Server(cluster, job_name='ps', task_index=0)
ran = []


def called(name, value):
    ran.append(name)
    return np.float32(value)


with v1.Graph().as_default():
    with tf.device('/job:worker/task:0'):
        a = v1.py_func(lambda: called('a', 1), [], tf.float32)
    with tf.device('/job:ps/task:0'):
        b = v1.py_func(lambda x: called('b', x + 1), [a], tf.float32)
        c = tf.py_function(lambda x: called('c', x * 10), [b], tf.float32)
    with tf.device('/job:worker/task:0/device:CPU:0'):
        d = c + 1
    for server in (worker, ps):
        with v1.Session(server.target) as s:
            print(s.run([a, b, c, d]), ran, s.sess_str == server.target.encode())
            print(sorted(x.name for x in s.list_devices()))
            ran.clear()
    bad = {}
    for name in ('/job:ps/task:5', '/job:other', '/job:worker/task:0/gpu:0', '/job:localhost'):
        with tf.device(name):
            bad[name] = v1.py_func(lambda: np.float32(1), [], tf.float32)
    with v1.Session(worker.target) as s:
        for name, fetch in bad.items():
            try:
                print(name, s.run(fetch))
            except Exception as error:
                print(name, type(error).__name__, [line for line in str(error).splitlines() if 'assign' in line][:1])
        T('the whole graph is placed', lambda: s.run(d))
with v1.Graph().as_default():
    with tf.device('/job:ps/task:0'):
        z = v1.py_func(lambda: 1 / 0, [], tf.float32, name='z')
    with v1.Session(worker.target) as s:
        T('remote error', lambda: s.run(z))
        T('reusable', lambda: s.run(tf.constant(1.)))
