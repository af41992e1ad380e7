import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with tf.name_scope('outer'):
        a = tf.constant(1., name='a')
        with tf.name_scope('inner'):
            b = a + 1.
        with tf.name_scope('inner'):
            c = a + 2.
    tf.constant(1., name='A')
    tf.constant(1., name='a')
    tf.constant(1., name='a')
    with tf.name_scope('outer/'):
        tf.constant(1., name='d')
message = g.as_graph_def()
message.ClearField('versions')
print(message)
