import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
with tf.device('/CPU:0'):
    x = tf.constant(2.)
    y = tf.square(x, name='y')
g, = tf.gradients(y, x)
c, = v1.gradients(y, x, colocate_gradients_with_ops=True)
print(repr(g.device), repr(c.device), c.op.colocation_groups())
with tf.device('/CPU:0'): d, = tf.gradients(y, x)
print(repr(d.device))
