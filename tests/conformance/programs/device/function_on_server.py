import tensorflow as tf, numpy as np

v1 = tf.compat.v1


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


cluster = {'worker': ['localhost:%d' % port()], 'ps': ['localhost:%d' % port()]}
worker = tf.distribute.Server(cluster, 'worker', 0)
ps = tf.distribute.Server(cluster, 'ps', 0)
ran = []


def noted(x):
    ran.append(float(x))
    return x


@tf.function
def f(x):
    return tf.numpy_function(noted, [x], tf.float32) * 2.


with v1.Graph().as_default():
    with tf.device('/job:worker/task:0'):
        a = f(tf.constant(3.))
    with tf.device('/job:ps/task:0'):
        b = tf.cond(tf.constant(2.) > 1., lambda: v1.py_func(noted, [tf.constant(7.)], tf.float32), lambda: tf.constant(0.))
    with v1.Session(ps.target) as s:
        print(s.run(b), ran)
    print(repr(a.op.device), repr(b.op.device))
