import tensorflow as tf, numpy as np
p = tf.constant([[1., 2.], [3., 4.], [5., 6.]])
with tf.GradientTape(persistent=True) as t:
    t.watch(p)
    y = tf.gather(p, [2, 0]) * 2.
    z = tf.reduce_sum(tf.gather(p, [1])) + tf.reduce_sum(y)
    w = tf.reduce_sum(p) + tf.reduce_sum(y)
    n = tf.gather(tf.square(p), [0])
print(t.gradient(y, p))
print(t.gradient(z, p))
print(t.gradient(w, p))
print(t.gradient(n, p))
print(t.gradient(y, p, unconnected_gradients='zero'))
