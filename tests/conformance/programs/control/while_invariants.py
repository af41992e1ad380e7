import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2], name='x')
i, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
print(y.shape)
g, = tf.gradients(y, x)
s = v1.Session()
print(s.run(y, {x: [1., 2.]}))
print(g.shape, s.run(g, {x: [1., 2.]}))
z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a[None]), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])[1]
print(z.shape, s.run(z, {x: [1., 2.]}).shape)
u = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2.), [0, x], shape_invariants=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)])[1]
print(u.shape)
