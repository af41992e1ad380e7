import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    a = tf.constant(1., name='a')
    with tf.control_dependencies([a]):
        b = tf.constant(2., name='b')
        c = a + b
        n = tf.no_op(name='n')
    with tf.control_dependencies([n, c]):
        d = tf.identity(b, name='d')
        with tf.control_dependencies(None):
            e = tf.identity(b, name='e')
    tf.group(c, d, name='all')
message = g.as_graph_def()
message.ClearField('versions')
print(message)
