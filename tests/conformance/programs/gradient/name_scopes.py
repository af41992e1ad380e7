import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
with tf.name_scope('outer'):
    x = tf.constant(2., name='x')
    y = tf.square(x, name='y')
    g1, = tf.gradients(y, x)
    g2, = tf.gradients(y, x, name='mine')
    g3, = tf.gradients(y, x)
print(g1.name, g2.name, g3.name)
print(tf.gradients(y, x)[0].name)
print(tf.gradients(y, x, name='')[0].name)
