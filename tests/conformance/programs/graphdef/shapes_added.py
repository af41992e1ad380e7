import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [None, 2], name='x')
    y = tf.matmul(x, tf.ones([2, 3])) + 1.
    u = v1.placeholder(tf.float32, name='u')
    tf.no_op()
message = g.as_graph_def()
message.ClearField('versions')
print(message)
message = g.as_graph_def(add_shapes=True)
message.ClearField('versions')
print(message)
