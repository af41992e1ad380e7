import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2], name='x')
    c = tf.debugging.check_numerics(x, 'bad')
    e = tf.ensure_shape(x, [None])
message = g.as_graph_def()
message.ClearField('versions')
print(message)
