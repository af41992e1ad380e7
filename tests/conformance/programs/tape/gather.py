import tensorflow as tf, numpy as np
p = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])
with tf.GradientTape() as t:
    y = tf.reduce_sum(tf.gather(p, [2, 0, 2]) * 2.)
g = t.gradient(y, p)
print(type(g).__name__)
print(g)
print(repr(g))
print(g.values, g.indices, g.dense_shape)
print(g.dtype, g.shape)
print(tf.convert_to_tensor(g))
print(-g)
p.assign_sub(tf.convert_to_tensor(g))
print(p.numpy())
