import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    a = v1.placeholder(tf.float32, [2], name='a')
    b = a + 1.
    c = 2. * b - a
    d = -c / 3. + a ** 2.
    e = tf.maximum(d, 0.) // 1.5
    f = tf.abs(e) % 2.
message = g.as_graph_def()
message.ClearField('versions')
print(message)
