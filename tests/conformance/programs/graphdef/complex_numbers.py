import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2], name='x')
    c = tf.complex(x, x)
    r = tf.math.real(c) + tf.math.imag(c)
    k = tf.math.conj(c) * (1 + 2j)
    a = tf.abs(c)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
