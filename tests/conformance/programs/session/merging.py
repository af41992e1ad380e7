import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    p = v1.placeholder(tf.float32, [], name='p')
    calls = []

    def once(x):
        calls.append(float(x))
        return x

    v1.py_func(once, [p], tf.float32, stateful=False, name='f')
    definition = g.as_graph_def()
    with tf.Graph().as_default(), v1.Session() as sess:
        p2 = v1.placeholder(tf.float32, [])
        a, = tf.import_graph_def(definition, {'p:0': p2}, ['f:0'])
        b, = tf.import_graph_def(definition, {'p:0': p2}, ['f:0'])
        print(sess.run([a, b, a + b], {p2: 2.}), len(calls))
        p3 = v1.placeholder(tf.float32, [])
        c, = tf.import_graph_def(definition, {'p:0': p3}, ['f:0'])
        print(sess.run([a, c], {p2: 2., p3: 3.}), len(calls))
