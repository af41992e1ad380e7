import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    a = v1.placeholder(tf.int32, [3], name='a')
    b = (a > 1) & (a <= 5) | ~(a < 0)
    c = tf.equal(a, 2)
    d = tf.not_equal(a, [1, 2, 3])
    e = tf.where(b, a, -a)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
