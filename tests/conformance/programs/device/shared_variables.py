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
ps = tf.distribute.Server(cluster, 'ps', 0)
with v1.Graph().as_default() as g:
    with tf.device('/job:ps/task:0'):
        v = v1.get_variable('v', initializer=1., use_resource=True)
    with tf.device('/job:worker/task:0'):
        w = v1.get_variable('w', initializer=10., use_resource=True)
    add = v.assign_add(5.)
    init = v1.global_variables_initializer()
    one = v1.Session(worker.target)
    one.run(init)
    one.run(add)
    two = v1.Session(ps.target)
    print(one.run([v, w]), two.run([v, w]))
    two.run(add)
    print(one.run(v))
    one.close()
    print(two.run(v))
    two.close()
    three = v1.Session(worker.target)
    print(three.run([v, w]))
with v1.Graph().as_default():
    u = v1.get_variable('v', initializer=3., use_resource=True)
    with v1.Session(ps.target) as s:
        T('other graph, same name', lambda: s.run(u))
    with v1.Session() as s:
        T('local session', lambda: s.run(u))
