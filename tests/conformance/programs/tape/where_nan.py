import tensorflow as tf, numpy as np
x = tf.constant([0., 4.])
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = tf.where(x > 0., tf.sqrt(x), 0.)
    z = tf.math.divide_no_nan(x, x)
print(t.gradient(y, x), t.gradient(z, x))
