import tensorflow as tf, numpy as np
x = tf.constant(2.)
with tf.GradientTape() as t:
    y = x * x
    t.watch(x)
    z = x * 3.
print(t.gradient(z, x))
with tf.GradientTape() as t:
    y = x * x
    t.watch(y)
    z = y * 3.
print(t.gradient(z, [x, y]))
