import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [None, 6], name='x')
    tf.reshape(x, [-1, 2, 3])
    tf.shape(x)
    tf.size(x)
    tf.rank(x)
    tf.expand_dims(x, 1)
    tf.squeeze(tf.ones([1, 3, 1]), [0])
    tf.concat([x, x], 0)
    tf.stack([x, x], axis=1)
    tf.tile(x, [2, 1])
    tf.fill([2, 2], 9)
    tf.zeros([3])
    tf.ones_like(x)
    tf.zeros_like(x)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
