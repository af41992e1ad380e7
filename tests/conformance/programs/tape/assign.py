import tensorflow as tf, numpy as np
v = tf.Variable(2.)
with tf.GradientTape() as t:
    y = v * v
    v.assign(10.)
    z = y + v
print(t.gradient(z, v))
with tf.GradientTape() as t:
    w = v.assign_add(1.)
    y = w * 2.
print(t.gradient(y, v))
