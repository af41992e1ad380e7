import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.int32, [4], name='x')
    y, idx = tf.unique(x)
    values, indices = tf.nn.top_k(x, 2)
    z = y + tf.reduce_sum(idx) + indices[0]
    parts = tf.split(x, [1, 3])
    t = tf.add_n(tf.split(x, 4))
message = g.as_graph_def()
message.ClearField('versions')
print(message)
