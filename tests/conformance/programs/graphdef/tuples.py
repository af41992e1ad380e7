import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    a = tf.constant([1., 2.], name='a')
    b = a * 2.
    i, j = tf.identity_n([a, b])
    p, q = tf.tuple([a, b])
    g0 = tf.group(a, b)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
