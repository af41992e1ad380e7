import tensorflow as tf, numpy as np

v1 = tf.compat.v1
calls = []


def f(x):
    calls.append(x)
    return x + 1


def graph(stateful):
    with v1.Graph().as_default() as g:
        p = v1.placeholder(tf.float32, name='p')
        v1.py_func(f, [p], tf.float32, stateful=stateful, name='y')
    return g.as_graph_def()


for stateful in (True, False):
    calls.clear()
    message = graph(stateful)
    with v1.Graph().as_default():
        q = v1.placeholder(tf.float32)
        a, = tf.import_graph_def(message, {'p:0': q}, ['y:0'], name='a')
        b, = tf.import_graph_def(message, {'p:0': q}, ['y:0'], name='b')
        with v1.Session() as s:
            print(s.run([a, b, a + b], {q: 1.}))
        print(a.op.type, a.op.get_attr('token') == b.op.get_attr('token'), a.shape)


def gone():
    def local(x):
        return x
    with v1.Graph().as_default() as g:
        v1.py_func(local, [1.], tf.float32, name='y')
    return g.as_graph_def()


import gc
message = gone()
gc.collect()
with v1.Graph().as_default():
    y, = tf.import_graph_def(message, return_elements=['y:0'])
    with v1.Session() as s:
        try:
            s.run(y)
        except tf.errors.InvalidArgumentError as error:
            print([line for line in str(error).splitlines() if 'callback' in line][:1])
