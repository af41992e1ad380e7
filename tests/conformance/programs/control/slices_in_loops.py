import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [None, 3]); n = v1.placeholder(tf.int32, [None]); k = v1.placeholder(tf.int32, [])
print(x[0, :k].shape, x[0, k:].shape, x[0, ::k].shape, x[k].shape, x[:, k].shape, x[..., k:].shape)
y = tf.map_fn(lambda e: tf.reduce_sum(e[0][:e[1]] ** 2), (x, n), dtype=tf.float32)
g = tf.gradients(y, x)
s = v1.Session()
print(s.run([y, g], {x: [[1., 2., 3.], [4., 5., 6.]], n: [1, 2]}))
z = tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a + x[i, 0] * x[0, i]), [0, 0.])[1]
h = tf.gradients(z, x)
t = v1.Session()
print(t.run([z, h], {x: [[1., 2., 3.], [4., 5., 6.]], k: 2}))
