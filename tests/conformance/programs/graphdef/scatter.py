import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [3], name='x')
    tf.scatter_nd([[0], [2]], [1., 2.], [4])
    tf.identity(x)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
