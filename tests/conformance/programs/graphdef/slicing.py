import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [4, 5], name='x')
    x[0]
    x[1:3, ::2]
    x[..., tf.newaxis]
    x[:, -1]
    tf.slice(x, [0, 1], [2, 2])
    tf.gather(x, [0, 2])
    tf.gather_nd(x, [[0, 1], [1, 2]])
    a, b = tf.split(x[:, :4], 2, axis=1)
    p, q, r, s = tf.unstack(x)
    tf.pad(x, [[1, 1], [0, 0]])
message = g.as_graph_def()
message.ClearField('versions')
print(message)
