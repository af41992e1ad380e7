import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.int32, [2], name='x')
    y = tf.cast(x, tf.float32)
    z = tf.cast(y, tf.bool, name='flags')
    tf.one_hot(x, 3)
    tf.range(5)
    tf.range(1., 4., 0.5)
    tf.identity(y, name='same')
    tf.stop_gradient(y)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
