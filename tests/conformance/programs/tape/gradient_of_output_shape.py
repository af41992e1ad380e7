import tensorflow as tf, numpy as np
x = tf.constant([[1., 2.], [3., 4.]])
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    a = x + tf.constant([1., 2.])
    b = tf.constant([[5.], [6.]])
    t.watch(b)
    c = x * b
print(t.gradient(a, x), t.gradient(c, [x, b]))
