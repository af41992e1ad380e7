import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2, 2], name='x')
    for f in (tf.exp, tf.sqrt, tf.square, tf.sin, tf.cos, tf.tanh, tf.sigmoid, tf.floor, tf.sign, tf.negative, tf.abs):
        f(x)
    tf.math.log(x)
    tf.math.rsqrt(x)
    tf.math.is_nan(x)
    tf.round(x)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
