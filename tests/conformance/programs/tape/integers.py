import tensorflow as tf, numpy as np
x, n = tf.constant(2.), tf.constant(3)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * tf.cast(n, tf.float32)
    i = tf.cast(x, tf.int32)
    j = tf.cast(i, tf.float32)
print(t.gradient(y, [x, n]))
print(t.gradient(i, x), t.gradient(j, x))
b = tf.constant(True)
print(t.gradient(y, b))
