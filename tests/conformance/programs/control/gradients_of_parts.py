import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, []); s = v1.Session()
a, b, c = tf.while_loop(lambda i, a, b: i < 3., lambda i, a, b: (i + 1., a * x, b + a), [0., x, 1.])
for y in (a, b, c, b * c): print(s.run([y, tf.gradients(y, x)[0]] if tf.gradients(y, x)[0] is not None else [y], {x: 2.}))
print(tf.gradients(a, x), s.run(tf.gradients(b, x, grad_ys=tf.constant(10.)), {x: 2.}))
print(tf.gradients(b, x, stop_gradients=[x]) is not None)
i, t = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.stop_gradient(t) * x), [0, x])
print(s.run([t, tf.gradients(t, x)], {x: 2.}))
k, u = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.cast(tf.cast(t, tf.int32), tf.float32) + x), [0, x])
print(s.run([u, tf.gradients(u, x)], {x: 2.}))
