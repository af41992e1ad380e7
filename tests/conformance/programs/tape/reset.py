import tensorflow as tf, numpy as np
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
    t.reset()
    t.watch(x)
    z = x * 3.
print(t.gradient(z, x))
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
    t.reset()
print(t.gradient(y, x))
