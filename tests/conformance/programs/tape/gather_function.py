import tensorflow as tf, numpy as np
v = tf.Variable([[1., 2.], [3., 4.]])
@tf.function
def f(i): return tf.reduce_sum(tf.gather(v, i) ** 2)
with tf.GradientTape() as t:
    y = f(tf.constant([1, 1]))
g = t.gradient(y, v)
print(type(g).__name__)
print(tf.convert_to_tensor(g))
@tf.function
def inside(i):
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.gather(v, i) ** 2)
    g = t.gradient(y, v)
    return tf.convert_to_tensor(g), g.values, g.indices
print(inside(tf.constant([0, 0])))
