import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2, 3], name='x')
    tf.reduce_sum(x)
    tf.reduce_mean(x, 1)
    tf.reduce_max(x, [0, 1], keepdims=True)
    tf.reduce_prod(x, axis=-1, name='p')
    tf.argmax(x, 1)
    tf.reduce_all(x > 0.)
    tf.cumsum(x, 1)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
