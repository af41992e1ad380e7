import tensorflow as tf, numpy as np
x = tf.constant(3.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = tf.stop_gradient(x * x) * x
    z = tf.stop_gradient(x)
print(t.gradient(y, x), t.gradient(z, x))
