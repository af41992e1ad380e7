import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


with v1.Graph().as_default() as g:
    with tf.device('/job:a/cpu:0'):
        x = tf.constant(1., name='x')
    with v1.colocate_with(x):
        y = tf.constant(2., name='y')
    z = tf.add(x, y, name='z')
message = g.as_graph_def()
with v1.Graph().as_default() as other:
    with tf.device('/task:3'):
        tf.import_graph_def(message)
    with v1.device(lambda op: '/job:f'):
        tf.import_graph_def(message, name='f')
    for op in other.get_operations():
        print(op.name, repr(op.device), op.colocation_groups())
