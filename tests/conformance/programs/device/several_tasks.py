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
spec = {'ps': ['localhost:%d' % port() for _ in range(2)], 'worker': ['localhost:%d' % port() for _ in range(2)]}
servers = {(job, i): tf.distribute.Server(spec, job, i) for job in spec for i in range(2)}
with v1.Graph().as_default():
    parts = []
    for i in range(2):
        with tf.device('/job:ps/task:%d' % i):
            parts.append(v1.get_variable('p%d' % i, initializer=float(i + 1), use_resource=True))
    totals = []
    for i in range(2):
        with tf.device('/job:worker/task:%d' % i):
            totals.append(v1.py_func(lambda a, b, i=i: np.float32(a + b + i), parts, tf.float32, name='total%d' % i))
    step = v1.group(*[p.assign_add(10.) for p in parts])
    init = v1.global_variables_initializer()
    with v1.Session(servers['worker', 1].target) as s:
        s.run(init)
        print(s.run(totals))
        s.run(step)
    with v1.Session(servers['ps', 0].target) as s:
        print(s.run(totals), sorted(d.name for d in s.list_devices()))
    with tf.device('/job:worker'):
        some = tf.constant(1.) + 1.
    with tf.device('/task:1'):
        other = tf.constant(1.) + 2.
    with v1.Session(servers['worker', 0].target) as s:
        print(s.run([some, other]))
