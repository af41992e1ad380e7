import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with tf.device('/job:ps/task:1'):
        a = tf.constant(1., name='a')
        with tf.device('/cpu:0'):
            b = a + 1.
    with v1.colocate_with(a):
        c = tf.constant(3., name='c')
    with v1.device(lambda op: '/gpu:0' if op.type == 'Mul' else ''):
        d = b * 2.
message = g.as_graph_def()
message.ClearField('versions')
print(message)
